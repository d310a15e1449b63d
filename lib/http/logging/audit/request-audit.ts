import type { Context } from 'koa';
import type { AuditEntry } from '../../../audit/audit-entry.js';
import { toUnsuccessfulResult } from '../../../audit/audit-entry.js';
import type { AuditEvent } from '../../../audit/audit-store.js';
import type { AuditTrail } from '../../../audit/audit-trail.js';
import { isObject } from '../../../common/json/json.js';
import { UNKNOWN_TENANT } from '../../../common/scheduling/event-loop-scheduler.js';
import { type ErrorCode, WavetrainError } from '../../../common/errors.js';
import type { RunQueries } from '../../../runs/views/run-queries.js';
import { type Caller, canUseTenant, toStartedBy } from '../../auth/authenticate.js';
import { errorStatus } from '../../errors/error-statuses.js';
import type { RouteResult } from '../../routing/route.js';
import type { HttpServices } from '../../services.js';
import type { AuditedRoute } from './audited-routes.js';

/** The facts of a request in `ctx.state`, as far as the audit needs them. */
interface AuditedState {
  readonly audited?: AuditedRoute;
  readonly route?: string;
  readonly caller?: string | null;
  readonly tenantId?: string;
}

/** A request of an audited route that has passed its checks. */
interface AuditedRequest {
  readonly ctx: Context;
  readonly caller: Caller;
  readonly params: PathParams;
  /** Of the body. */
  readonly body: unknown;
  /** The tenant of what belongs to no other one. */
  readonly tenantId: string;
}

type PathParams = Readonly<Record<string, unknown>>;

/** Adds the entry of a request that was handled. Resolves when it is kept, so that a caller who gets the response finds the entry in the audit. */
type RecordDone = (result: RouteResult) => Promise<void>;

type Services = Pick<HttpServices, 'audit' | 'queries'>;

/** Returns what makes the entry of a request. Call before it is handled: the tenant of a run that it deletes is unknown after. */
export function beginAudit(request: AuditedRequest, { audit, queries }: Services): RecordDone | undefined {
  const { ctx, caller, params } = request;
  const { audited } = ctx.state as AuditedState;
  if (audited === undefined || audited.startsRun) return undefined;
  const { action, object } = audited;
  const tenantId = object === 'store' ? UNKNOWN_TENANT : ownerOf(request, queries);
  return async ({ body }) => {
    const done = describeDone(object, body, ctx);
    if (done === undefined) return;
    const from = { tenantId, address: addressOf(ctx) };
    audit.record({
      who: toStartedBy(caller),
      action,
      object: { kind: object, id: idOf(params) },
      ...from,
      result: 'ok',
      ...done,
    });
    await audit.kept();
  };
}

/** Describes the completed action; undefined if nothing changed. */
function describeDone(
  object: AuditedRoute['object'],
  body: unknown,
  ctx: Context,
): Pick<AuditEvent, 'count' | 'details'> | undefined {
  const fields = isObject(body) ? body : {};
  if (object === 'runs') {
    const count = Number(fields['deleted']);
    return count === 0 ? undefined : { count, details: describeFilters(ctx) };
  }
  if (object === 'store') return { details: { file: [String(fields['file'])] } };
  if (object === 'run' || object === 'configuration') return {};
  // The client has left before its file was saved.
  return body === undefined ? undefined : { details: { version: [String(fields['version'])] } };
}

/** The tenant of the run, or the one that the request names, if the caller may use it. */
function ownerOf({ ctx, caller, params, body, tenantId }: AuditedRequest, queries: RunQueries): string {
  const { run_id: runId } = params;
  const named = typeof runId === 'string' ? findTenant(queries, runId) : namedTenant(ctx, body);
  return named !== undefined && canUseTenant(caller, named) ? named : tenantId;
}

function findTenant(queries: RunQueries, runId: string): string | undefined {
  try {
    return queries.tenantId(runId);
  } catch (error) {
    if (error instanceof WavetrainError) return undefined;
    throw error;
  }
}

const NO_RIGHT = [401, 403];

/**
 * Adds the entry of a failed request, with the code of its error: of an audited route any error, of the other routes 401 and 403.
 */
export function auditRefusal(ctx: Context, code: ErrorCode, audit: AuditTrail): void {
  const { audited, route, caller, tenantId = UNKNOWN_TENANT } = ctx.state as AuditedState;
  const { status } = errorStatus(code);
  if (audited === undefined && !NO_RIGHT.includes(status)) return;
  const params = (ctx['params'] ?? {}) as PathParams;
  audit.record({
    who: whoOf(caller, route, params),
    action: audited?.action ?? 'access',
    object: audited ? { kind: audited.object, id: idOf(params) } : { kind: 'path', id: route ?? null },
    tenantId,
    address: addressOf(ctx),
    result: toUnsuccessfulResult(status >= 500),
    status,
    code,
  });
}

/** A request to a webhook has no key: its definition is what is known of it. */
function whoOf(
  caller: string | null | undefined,
  route: string | undefined,
  params: PathParams,
): AuditEntry['who'] {
  if (caller !== undefined && caller !== null) return { kind: 'key', name: caller };
  if (route?.endsWith('/webhook')) return { kind: 'webhook', name: idOf(params) };
  return { kind: 'anonymous', name: null };
}

function idOf({ run_id, id }: PathParams): string | null {
  const named = run_id ?? id;
  return typeof named === 'string' ? named : null;
}

function namedTenant({ query }: Context, body: unknown): string | undefined {
  const named = (isObject(body) ? body['tenant_id'] : undefined) ?? query['tenant_id'];
  return typeof named === 'string' ? named : undefined;
}

/** Lists the filters of a bulk deletion, without the values of free texts. */
function describeFilters({ query }: Context): AuditEntry['details'] {
  const filters = Object.entries(query).flatMap(([name, value]) => {
    if (name === 'cursor' || value === undefined) return [];
    return name === 'text' || name === 'label' ? name : `${name}=${String(value)}`;
  });
  return { filters };
}

/** Returns the IP address that a request came from; an empty text when its connection is closed. */
export function addressOf({ req }: Context): string {
  return req.socket.remoteAddress ?? '';
}
