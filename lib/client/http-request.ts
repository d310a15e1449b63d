import { type ErrorCode, WavetrainError } from '../common/errors.js';
import type { DefinitionOrText, RequestOptions, SubmitOptions, ValidatePlanOptions } from './requests.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to the URL of the server, with the query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly yaml?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** May be retried: it changes nothing, or the server recognizes it by its idempotency key. */
  readonly isRepeatable?: boolean;
}

export function getRequest(path: string, { signal }: RequestOptions): HttpRequest {
  return { method: 'GET', path, isRepeatable: true, signal };
}

export function postRequest(path: string, body: object, { signal }: RequestOptions): HttpRequest {
  return { method: 'POST', path, body, signal };
}

/** Starts a run. Text alone is sent as YAML. Repeatable with an idempotency key (D36). */
export function runRequest(path: string, run: string | object, options: SubmitOptions): HttpRequest {
  const { idempotencyKey: key, signal } = options;
  const request: HttpRequest =
    typeof run === 'string'
      ? { method: 'POST', path, yaml: run, signal }
      : postRequest(path, runBody(run), options);
  if (key === undefined) return request;
  return { ...request, headers: { 'idempotency-key': key }, isRepeatable: true };
}

/** The body of a request that starts a run: a definition as text is in another field than one as an object (D33). */
function runBody(run: { readonly pipeline?: unknown; readonly plan?: unknown }): object {
  const { pipeline, plan, ...values } = run;
  if (typeof pipeline === 'string') return { yaml: pipeline, ...values };
  return typeof plan === 'string' ? { yaml: plan, ...values } : run;
}

/** Creates the body of a request that validates a definition, or draws it. */
export function definitionBody(
  kind: 'pipeline' | 'plan',
  definition: DefinitionOrText,
  { pipelines, beside, inputs, session }: ValidatePlanOptions,
): object {
  const field = typeof definition === 'string' ? 'yaml' : kind;
  return { [field]: definition, pipelines, beside, inputs, session };
}

/**
 * Returns the URL of a server without a final slash. It may have a path, where a proxy serves it.
 *
 * @throws WavetrainError `bad_usage`
 */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const refuse = (problem: string): WavetrainError => new WavetrainError('bad_usage', problem);
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw refuse(`"${text}" is not the address of a server, such as http://127.0.0.1:8000`);
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('the address of a server must not contain a user name or password: use an API key');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** @throws WavetrainError `bad_usage` for a key that no header can carry; the message does not contain the key */
export function authorizationHeaders(key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (/^[\x21-\x7e]+$/.test(key)) return { authorization: `Bearer ${key}` };
  throw new WavetrainError('bad_usage', 'invalid API key: it contains whitespace or an illegal character');
}

/** @throws WavetrainError `run_not_found` for an id that cannot be part of a path */
export function runPath(runId: string): string {
  return `/pipelines/runs/${pathPart(runId, 'run_not_found', 'there is no run')}`;
}

/** @throws WavetrainError `pipeline_not_found` for an id that cannot be part of a path */
export function namedPath(id: string): string {
  return `/pipelines/${pathPart(id, 'pipeline_not_found', 'the server has no pipeline')}`;
}

/** @throws WavetrainError `run_not_found` or `task_not_found` for an id that cannot be part of a path */
export function taskPath(runId: string, taskId: string): string {
  return `${runPath(runId)}/tasks/${pathPart(taskId, 'task_not_found', 'the run has no task')}`;
}

/** @throws WavetrainError `run_not_found` or `artifact_not_found` for a name that cannot be part of a path */
export function artifactPath(runId: string, name: string): string {
  return `${runPath(runId)}/artifacts/${pathPart(name, 'artifact_not_found', 'the run has no file')}`;
}

function pathPart(name: string, code: ErrorCode, problem: string): string {
  // A URL resolves "." and ".." to another path, even when they are encoded.
  if (['', '.', '..'].includes(name)) throw new WavetrainError(code, `${problem} "${name}"`);
  return encodeURIComponent(name);
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** A list is a parameter that is repeated. */
export function formatQuery(fields: Readonly<Record<string, QueryValue>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) query.append(name, String(one));
    }
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}
