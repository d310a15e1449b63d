import type { ErrorCode } from '../../common/errors.js';
import {
  type HttpErrorCode,
  MEANING_OF_CODE,
  RETRY_AFTER,
  STATUS_OF_CODE,
} from '../errors/error-response.js';
import type { Route } from '../routing/route.js';
import { ErrorBodySchema } from '../schemas/error.js';
import type { Components } from './components.js';

type Schema = Record<string, unknown>;

const RETRY_AFTER_HEADER = {
  description: 'Seconds after which it is worth to ask again.',
  schema: { type: 'integer' },
};

/** Every error code that a route can answer with. */
export function errorsOf({ access, body, errors = [] }: Route): ErrorCode[] {
  const asksFor = access === 'open' ? [] : (['unauthorized', 'forbidden'] as const);
  const ofBody =
    body === undefined ? [] : (['request_timeout', 'body_too_large', 'unsupported_media_type'] as const);
  const always = ['invalid_request', 'foreign_host', 'foreign_origin', 'not_acceptable', 'internal'] as const;
  return [...new Set([...errors, ...asksFor, ...ofBody, ...always])];
}

/** What the documents say of errors: by status, every code with its meaning. */
export function errorResponses(codes: readonly ErrorCode[], components: Components): Schema {
  const statuses = [...new Set(codes.map((code) => STATUS_OF_CODE[code]))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      responseOf(
        codes.filter((code) => STATUS_OF_CODE[code] === status),
        components,
      ),
    ]),
  );
}

function responseOf(codes: readonly ErrorCode[], components: Components): Schema {
  return {
    description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join('\n\n'),
    ...(codes.some((code) => RETRY_AFTER[code] !== undefined) && {
      headers: { 'Retry-After': RETRY_AFTER_HEADER },
    }),
    content: {
      'application/json': {
        schema: components.of(ErrorBodySchema),
        examples: Object.fromEntries(codes.map((code) => [code, components.example(code, exampleOf(code))])),
      },
    },
  };
}

function meaningOf(code: ErrorCode): string {
  return MEANING_OF_CODE[code as HttpErrorCode];
}

/** Sentences of the server say more; these show where they stand. */
function exampleOf(code: ErrorCode): unknown {
  return { detail: { code, message: meaningOf(code).replaceAll('`', ''), ...MORE_OF[code] } };
}

const MORE_OF: Partial<Record<ErrorCode, object>> = {
  task_failed: {
    task_id: 'greet',
    error: 'the tool said no',
    failures: [{ task_id: 'greet', error: 'the tool said no', attempts: 1 }],
    run_id: '01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6071',
  },
  internal: { id: '6f1c1b0e-2a38-4f7b-9a55-0d3f0c2f7d11' },
};
