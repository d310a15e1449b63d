import type { Context } from 'koa';
import { UNKNOWN_TENANT } from '../../common/scheduling/event-loop-scheduler.js';
import { fairYield } from '../../common/scheduling/run-in-slices.js';
import type { TObject, TSchema } from 'typebox';
import { WavetrainError } from '../../common/errors.js';
import {
  type CompileOptions,
  compileSchema,
  type Validator as SchemaValidator,
} from '../../common/json-schema/ajv.js';
import { describeErrors, type Nouns } from '../../common/json-schema/violation.js';
import { isObject } from '../../common/json/json.js';
import { addressOf, beginAudit } from '../logging/audit/request-audit.js';
import { countHeaders } from '../security/browser-guard.js';
import {
  ANONYMOUS,
  type Caller,
  missingScopeMessage,
  resolveTenant,
  unauthorizedMessage,
} from '../auth/authenticate.js';
import { keyRevoked } from '../auth/revocation.js';
import { isShortJson } from '../../common/json/json-writer.js';
import type { ResponseSender } from '../responses/response-sender.js';
import type { HttpServices } from '../services.js';
import { type Body, type BodyReader, NO_BODY } from './body.js';
import { BodyMemory, TenantPayer } from './body-memory.js';
import type { BodyProof, Route, RouteRequest, RouteResult } from './route.js';
import { UnauthenticatedBody } from './unauthenticated-bodies.js';

/** Returns what is wrong with a value, in sentences; undefined when it is valid. */
type Validator = (value: unknown) => string | undefined;

const JSON_TYPE = 'application/json';
const NO_QUERY: TSchema = { type: 'object', additionalProperties: false };

/** Serves one route: authenticates the caller, validates the request, calls the handler, sends the response. */
export class Endpoint {
  readonly #route: Route;
  readonly #services: HttpServices;
  readonly #readBody: BodyReader;
  readonly #sender: ResponseSender;
  readonly #validateParams: Validator | undefined;
  readonly #validateQuery: Validator | undefined;
  /** Parameters of the query that may be repeated. */
  readonly #listParameters: readonly string[];
  readonly #validateHeaders: Validator | undefined;
  readonly #validateBody: Validator | undefined;
  /** Fields of the body for which null means that they are left out (D53). */
  readonly #nullableFields: readonly string[];
  /** Undefined when responses are not checked. */
  readonly #responseValidators: ReadonlyMap<number, Validator> | undefined;
  /** The first is sent to callers that accept any. */
  readonly #mediaTypes: readonly string[];
  readonly #headerNames: readonly string[];
  readonly #defaultStatus: number;

  constructor(route: Route, services: HttpServices, readBody: BodyReader, sender: ResponseSender) {
    this.#route = route;
    this.#services = services;
    this.#readBody = readBody;
    this.#sender = sender;
    this.#validateParams =
      route.params && compileValidator(route.params, { one: 'path parameter', all: 'the path parameters' });
    this.#validateQuery = route.isProbe
      ? undefined
      : compileValidator(
          route.query ?? NO_QUERY,
          { one: 'query parameter', all: 'the query parameters' },
          TEXT_VALUES,
        );
    this.#listParameters = listRepeatable(route.query);
    this.#validateHeaders =
      route.headers && compileValidator(route.headers, { one: 'header', all: 'the headers' }, TEXT_VALUES);
    this.#validateBody = route.body && compileValidator(route.body.schema, { one: 'field', all: 'the body' });
    this.#nullableFields = listNullableFields(route.body?.schema);
    this.#responseValidators = services.checkResponses ? compileResponseValidators(route) : undefined;
    this.#mediaTypes = listMediaTypes(route);
    this.#headerNames = Object.keys(route.headers?.properties ?? {});
    this.#defaultStatus = Number(Object.keys(route.responses)[0] ?? 200);
  }

  /** Handles one request. Rejects with a WavetrainError to refuse it. */
  async handle(ctx: Context, params: Record<string, string>): Promise<void> {
    if (!this.#route.isProbe) this.#services.readiness.assertRestored();
    const caller = this.#authenticate(ctx);
    // The sender of a request that needs no key is not known before the request is admitted.
    const tenantId = this.#route.admit === undefined ? resolveTenant(caller) : UNKNOWN_TENANT;
    ctx.state['tenantId'] = tenantId;
    const isUnknown = this.#route.access === 'open';
    if (!this.#route.isProbe) await fairYield(isUnknown ? UNKNOWN_TENANT : tenantId);
    const { restoration } = this.#services.queries;
    if (this.#route.listsRuns === 'known') await restoration?.whenListable(caller.tenants);
    if (this.#route.listsRuns === 'all') await restoration?.whenComplete(caller.tenants);
    const runId = this.#route.opensRun === true ? undefined : params['run_id'];
    const openSignal = (): AbortSignal => abortOnDisconnect(ctx, caller);
    const release =
      runId === undefined ? undefined : await this.#services.queries.open(runId, caller.tenants, openSignal);
    try {
      await this.#respond(ctx, caller, tenantId, params);
    } finally {
      release?.();
    }
  }

  /** Validates the request, calls the handler, and sends the response. The run of the request is in memory meanwhile. */
  async #respond(
    ctx: Context,
    caller: Caller,
    tenantId: string,
    params: Record<string, string>,
  ): Promise<void> {
    const mediaType = this.#negotiateMediaType(ctx);
    assertValid(this.#validateParams?.(params));
    const query = ctx.querystring === '' ? {} : this.#readQuery(ctx.query);
    assertValid(this.#validateQuery?.(query));
    const headers = this.#pickHeaders(ctx);
    assertValid(this.#validateHeaders?.(headers));
    const head = { params, query, headers, caller, mediaType };
    const { admit } = this.#route;
    const payer = admit === undefined ? tenantId : await admit({ ...head, address: addressOf(ctx) });
    const memory = this.#openMemory(payer);
    const result = await this.#handle(ctx, head, memory);
    if (result.runId !== undefined) ctx.state['runId'] = result.runId;
    if (result.code !== undefined) ctx.state['code'] = result.code;
    const { status = this.#defaultStatus, type = mediaType } = result;
    this.#assertDocumented(status, result.body);
    if (result.chunks !== undefined || result.file !== undefined) destroyWhenRevoked(ctx, caller);
    await this.#sender.send(ctx, status, type, result, memory.tenantId);
  }

  /** A parameter that may be repeated is a list, also when it is there once. */
  #readQuery(query: Context['query']): Record<string, unknown> {
    const read: Record<string, unknown> = { ...query };
    for (const name of this.#listParameters) {
      const value = read[name];
      if (typeof value === 'string') read[name] = [value];
    }
    return read;
  }

  #openMemory(payer: string | BodyProof): BodyMemory {
    const { memory, unauthenticatedBodies } = this.#services;
    return typeof payer === 'string'
      ? new BodyMemory(new TenantPayer(memory, payer))
      : new UnauthenticatedBody(unauthenticatedBodies, payer);
  }

  /** Receives the body, whose memory counts until the handler has returned. */
  async #handle(ctx: Context, head: RequestHead, memory: BodyMemory): Promise<RouteResult> {
    try {
      const { json, yaml } = await this.#receiveBody(ctx, memory);
      ctx.state['tenantId'] = memory.tenantId;
      const request = new EndpointRequest(ctx, head, json, yaml, memory);
      const audited = beginAudit({ ...head, ctx, body: json, tenantId: memory.tenantId }, this.#services);
      const result = await this.#route.handle(request);
      if (audited !== undefined) await audited(result);
      request.assertNotRevoked();
      return result;
    } finally {
      memory.release();
    }
  }

  #authenticate(ctx: Context): Caller {
    const { access } = this.#route;
    if (access === 'open') return ANONYMOUS;
    const caller = this.#services.authenticate(ctx.req);
    if (caller === undefined) throw new WavetrainError('unauthorized', unauthorizedMessage(ctx.req.headers));
    ctx.state['caller'] = caller.name;
    ctx.state['tenantId'] = resolveTenant(caller);
    if (access !== 'any' && !caller.scopes.includes(access)) {
      throw new WavetrainError('forbidden', missingScopeMessage(caller, access));
    }
    return caller;
  }

  #negotiateMediaType(ctx: Context): string {
    const [first = JSON_TYPE] = this.#mediaTypes;
    const { accept = '*/*' } = ctx.req.headers;
    if (this.#route.isProbe || accept === '*/*' || first === '*/*') return first;
    const accepted = ctx.accepts([...this.#mediaTypes]);
    if (typeof accepted === 'string') return accepted;
    throw new WavetrainError(
      'not_acceptable',
      `this response is available only as ${this.#mediaTypes.join(' or ')}`,
    );
  }

  #pickHeaders({ req }: Context): Record<string, unknown> {
    const picked: Record<string, unknown> = {};
    for (const name of this.#headerNames) {
      const value = req.headers[name];
      if (value === undefined) continue;
      if (value.includes(',') && !LIST_HEADERS.has(name) && countHeaders(req.rawHeaders, name) > 1) {
        throw new WavetrainError('invalid_request', `the request has more than one header "${name}"`);
      }
      picked[name] = value;
    }
    return picked;
  }

  async #receiveBody(ctx: Context, memory: BodyMemory): Promise<Body> {
    const { body } = this.#route;
    if (body === undefined) return NO_BODY;
    const received = await this.#readBody(ctx, body.yaml !== undefined, memory);
    if (received.yaml !== undefined) return received;
    if (received.json === undefined) {
      if (body.required === false) return NO_BODY;
      throw new WavetrainError('invalid_request', 'the body is missing');
    }
    assertValid(describeMisplacedField(received.json, body.misplacedFields));
    assertValid(this.#validateBody?.(received.json));
    this.#dropNulls(received.json as Record<string, unknown>);
    return received;
  }

  #dropNulls(body: Record<string, unknown>): void {
    for (const field of this.#nullableFields) if (body[field] === null) delete body[field];
  }

  /**
   * Clients rely on the OpenAPI document, so a response that differs from its schema is a bug, which specs find this
   * way. Long responses are not compared: that would take as long as sending them, in one go.
   */
  #assertDocumented(status: number, body: unknown): void {
    const validate = body === undefined ? undefined : this.#responseValidators?.get(status);
    const violations = validate === undefined || !isShortJson(body) ? undefined : validate(body);
    if (violations === undefined) return;
    const { method, path } = this.#route;
    throw new Error(`the ${status} response of ${method} ${path} violates its schema: ${violations}`);
  }
}

/** The parts of a request that were checked before its body was received. */
type RequestHead = Pick<EndpointRequest, 'params' | 'query' | 'headers' | 'caller' | 'mediaType'>;

/** A request as handlers receive it. A class, because most handlers use none of its functions. */
class EndpointRequest implements RouteRequest<TObject, TObject, TObject, TSchema> {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly mediaType: string;
  readonly body: unknown;
  readonly yaml: string | undefined;
  readonly #ctx: Context;
  readonly #memory: BodyMemory;
  #waits = false;

  constructor(ctx: Context, head: RequestHead, body: unknown, yaml: string | undefined, memory: BodyMemory) {
    this.params = head.params;
    this.query = head.query;
    this.headers = head.headers;
    this.caller = head.caller;
    this.mediaType = head.mediaType;
    this.body = body;
    this.yaml = yaml;
    this.#ctx = ctx;
    this.#memory = memory;
  }

  disconnected(): AbortSignal {
    this.#waits = true;
    return abortOnDisconnect(this.#ctx, this.caller);
  }

  /** @throws WavetrainError `unauthorized` when the key was revoked while the handler waited for something */
  assertNotRevoked(): void {
    if (this.#waits && this.caller.revocation?.isRevoked) throw keyRevoked();
  }

  releaseBody(): void {
    this.#memory.release();
  }

  endTurn(): void {
    this.#memory.endTurn();
  }

  get address(): string {
    return addressOf(this.#ctx);
  }
}

/** Headers that may be sent several times. */
const LIST_HEADERS = new Set(['if-none-match']);

/** Query parameters and headers arrive as text. */
const TEXT_VALUES = { coerceText: true, useDefaults: true };

/** Compiles one of our own schemas. `nouns` name a value and one entry of it in messages. */
function compileValidator(
  schema: TSchema,
  nouns: Nouns,
  options: Omit<CompileOptions, 'isTrusted'> = {},
): Validator {
  const validate = compileOnce(schema, options);
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  const namedNouns = { ...nouns, known: Object.keys(properties) };
  return (value) => {
    if (validate(value)) return options.coerceText ? describeInfinity(value, nouns) : undefined;
    return describeErrors(validate, value, namedNouns).join('; ');
  };
}

/** Of schemas of values as they are, and of schemas of texts. */
const compiled = {
  values: new WeakMap<TSchema, SchemaValidator>(),
  texts: new WeakMap<TSchema, SchemaValidator>(),
};

/** Compiles a schema once for all servers of the process: most of the time that a server takes to start goes into it. */
function compileOnce(schema: TSchema, options: Omit<CompileOptions, 'isTrusted'>): SchemaValidator {
  const known = options.coerceText ? compiled.texts : compiled.values;
  let validate = known.get(schema);
  if (validate === undefined) {
    validate = compileSchema(schema, { ...options, isTrusted: true });
    known.set(schema, validate);
  }
  return validate;
}

/** Ajv coerces the text `Infinity` to a number, and does not compare it with the bounds. */
function describeInfinity(value: unknown, { one }: Nouns): string | undefined {
  const found = Object.entries(value ?? {}).find(([, part]) => part === Infinity || part === -Infinity);
  return found && `${one} "${found[0]}" must be a number, not Infinity`;
}

function listNullableFields(body: TSchema = {}): string[] {
  const { properties = {} } = body as { readonly properties?: Readonly<Record<string, { type?: unknown }>> };
  return Object.keys(properties).filter((field) => [properties[field]?.type].flat().includes('null'));
}

function compileResponseValidators({ responses }: Route): Map<number, Validator> {
  const validators = new Map<number, Validator>();
  for (const [status, { schema }] of Object.entries(responses)) {
    if (schema === undefined) continue;
    validators.set(Number(status), compileValidator(schema, { one: 'field', all: 'the response' }));
  }
  return validators;
}

function listRepeatable(schema: TObject | undefined): string[] {
  const properties: Readonly<Record<string, { readonly type?: unknown }>> = schema?.properties ?? {};
  return Object.keys(properties).filter((name) => properties[name]?.type === 'array');
}

function listMediaTypes({ responses, defaultMediaType }: Route): string[] {
  const types = Object.values(responses).flatMap(({ schema, media = {} }) => [
    ...(schema === undefined ? [] : [JSON_TYPE]),
    ...Object.keys(media),
  ]);
  if (defaultMediaType !== undefined) types.unshift(defaultMediaType);
  return types.length === 0 ? [JSON_TYPE] : [...new Set(types)];
}

/** @throws WavetrainError `invalid_request` when a validator has found something wrong */
function assertValid(violations: string | undefined): void {
  if (violations !== undefined) throw new WavetrainError('invalid_request', violations);
}

/** Advises what to do with the first field that belongs to another route. */
function describeMisplacedField(
  body: unknown,
  misplacedFields: Readonly<Record<string, string>> = {},
): string | undefined {
  const field = Object.keys(misplacedFields).find((name) => isObject(body) && Object.hasOwn(body, name));
  return field && `there is no field "${field}" here: ${misplacedFields[field]}`;
}

/** Created once: a thousand clients that disconnect together would each cost a stack trace. */
const DISCONNECTED = new DOMException('The client has disconnected', 'AbortError');

/** Breaks a download off: nothing else can be said in the middle of it. */
function destroyWhenRevoked({ res }: Context, { revocation }: Caller): void {
  revocation?.whileOpen(res, () => res.destroy());
}

/** Aborts when the client disconnects, or its key is revoked. Watches the response, because the request emits no `close` once its body was read. */
function abortOnDisconnect(ctx: Context, { revocation }: Caller): AbortSignal {
  const controller = new AbortController();
  // The client may have disconnected while its request waited for its turn.
  if (ctx.res.destroyed) controller.abort(DISCONNECTED);
  else revocation?.whileOpen(ctx.res, () => controller.abort(keyRevoked()));
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) controller.abort(DISCONNECTED);
  });
  return controller.signal;
}
