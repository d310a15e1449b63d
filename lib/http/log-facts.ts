/** Headers that say who somebody is, by their names in lower case. */
const SECRETS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie']);
const REDACTED = '[redacted]';

/** Deeper facts are not told. */
const DEEPEST = 6;

/** An error as the log tells it: what it says and where it was, and nothing else that may hang on it. */
export interface ToldError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

/** The facts of a line without the secrets among them, at whatever depth, and with errors put into words. */
export function withoutSecrets(facts: object): Record<string, unknown> {
  return told(facts, 0) as Record<string, unknown>;
}

function told(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return '[deeper]';
  if (value instanceof Error) return toldError(value, depth);
  if (Array.isArray(value)) return value.map((entry) => told(entry, depth + 1));
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  const own: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    own[name] = SECRETS.has(name.toLowerCase()) ? REDACTED : told(entry, depth + 1);
  }
  return own;
}

function toldError(error: Error, depth: number): ToldError {
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    type: name,
    message,
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && { cause: told(cause, depth + 1) }),
  };
}
