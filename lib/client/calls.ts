import type { CheckOptions, GivenDefinition, RequestOptions, RunRequest, Submission } from './requests.js';
import type { Call } from './transport.js';

/** A request that only looks. */
export function reading(path: string, options: RequestOptions): Call {
  return { method: 'GET', path, isRepeatable: true, ...signalIn(options) };
}

/** A request that asks for something to be done. */
export function asking(path: string, body: object, options: RequestOptions): Call {
  return { method: 'POST', path, body, ...signalIn(options) };
}

/** A request for a run: text is sent as the YAML that it is. */
export function starting(path: string, request: Submission<RunRequest>, options: RequestOptions): Call {
  if (typeof request !== 'string') return asking(path, request, options);
  return { method: 'POST', path, yaml: request, ...signalIn(options) };
}

/** What is sent to have a definition looked at. */
export function definitionBody(definition: GivenDefinition, { inputs, session }: CheckOptions): object {
  const given = typeof definition === 'string' ? { yaml: definition } : { pipeline: definition };
  return { ...given, ...(inputs && { inputs }), ...(session && { session }) };
}

function signalIn({ signal }: RequestOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
