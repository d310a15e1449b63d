import type {
  CheckOptions,
  GivenDefinition,
  PlanCheckOptions,
  RequestOptions,
  Submission,
  SubmitOptions,
} from './requests.js';
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
export function starting(path: string, request: Submission<object>, options: RequestOptions): Call {
  if (typeof request !== 'string') return asking(path, request, options);
  return { method: 'POST', path, yaml: request, ...signalIn(options) };
}

/** The same, which may be sent again when it has a key (D36). */
export function submitting(path: string, request: Submission<object>, options: SubmitOptions): Call {
  const { idempotencyKey: key } = options;
  return {
    ...starting(path, request, options),
    ...(key !== undefined && { headers: { 'idempotency-key': key }, isRepeatable: true }),
  };
}

/** What is sent to have a definition looked at. */
export function definitionBody(definition: GivenDefinition, options: CheckOptions): object {
  const given = typeof definition === 'string' ? { yaml: definition } : { pipeline: definition };
  return { ...given, ...valuesIn(options) };
}

/** The same for a plan. */
export function planBody(plan: GivenDefinition, options: PlanCheckOptions): object {
  const given = typeof plan === 'string' ? { yaml: plan } : { plan };
  const { pipelines } = options;
  return { ...given, ...(pipelines && { pipelines }), ...valuesIn(options) };
}

function valuesIn({ inputs, session }: CheckOptions): object {
  return { ...(inputs && { inputs }), ...(session && { session }) };
}

function signalIn({ signal }: RequestOptions): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
