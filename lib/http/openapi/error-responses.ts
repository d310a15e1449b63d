import { ERROR_STATUSES, type HttpErrorCode } from '../errors/error-statuses.js';
import type { Route } from '../routing/route.js';
import { ErrorBodySchema } from '../schemas/error.js';
import type { Components } from './components.js';

type Schema = Record<string, unknown>;

const RETRY_AFTER_HEADER = {
  description: 'Seconds after which a retry may succeed.',
  schema: { type: 'integer' },
};

/** Lists every error code of a route. */
export function listErrorCodes({ access, body, errors = [], isProbe = false }: Route): HttpErrorCode[] {
  const ofKeys = access === 'open' ? [] : (['unauthorized', 'forbidden', 'memory_full'] as const);
  const ofBody =
    body === undefined ? [] : (['request_timeout', 'body_too_large', 'unsupported_media_type'] as const);
  const ofStore = isProbe ? [] : (['not_ready'] as const);
  const always = ['invalid_request', 'foreign_host', 'foreign_origin', 'not_acceptable', 'internal'] as const;
  return [...new Set([...errors, ...ofKeys, ...ofBody, ...ofStore, ...always])];
}

/** Documents error codes as OpenAPI responses, grouped by status. */
export function documentErrors(codes: readonly HttpErrorCode[], components: Components): Schema {
  const statuses = [...new Set(codes.map((code) => ERROR_STATUSES[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => ERROR_STATUSES[code].status === status);
      return [status, createResponse(own, components)];
    }),
  );
}

function createResponse(codes: readonly HttpErrorCode[], components: Components): Schema {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_STATUSES[code].meaning}`).join('\n\n'),
    ...(codes.some((code) => ERROR_STATUSES[code].retryAfter !== undefined) && {
      headers: { 'Retry-After': RETRY_AFTER_HEADER },
    }),
    content: {
      'application/json': {
        schema: components.addSchema(ErrorBodySchema),
        examples: Object.fromEntries(
          codes.map((code) => [code, components.addExample(code, createExample(code))]),
        ),
      },
    },
  };
}

/** An error body; the messages of the server are more specific. */
function createExample(code: HttpErrorCode): unknown {
  const message = ERROR_STATUSES[code].meaning.replaceAll('`', '');
  return { detail: { code, message, ...EXAMPLE_FIELDS[code] } };
}

const EXAMPLE_FIELDS: Partial<Record<HttpErrorCode, object>> = {
  task_failed: {
    task_id: 'greet',
    error: 'connection refused',
    failures: [{ task_id: 'greet', error: 'connection refused', attempts: 1 }],
    run_id: '01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6071',
  },
  internal: { id: '6f1c1b0e-2a38-4f7b-9a55-0d3f0c2f7d11' },
};
