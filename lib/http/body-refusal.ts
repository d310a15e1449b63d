import { faultOf } from '../definition/text/json-syntax-error.js';
import { messageOf, WavetrainError } from '../common/errors.js';

/** What the parser throws. */
interface ParserError extends Error {
  readonly status?: number;
  /** Of an error while reading. */
  readonly type?: string;
  /** Of an error while parsing: the text. */
  readonly body?: unknown;
}

/** What a caller is told about a body that could not be read. The body itself is not told again. */
export function refusalOf(error: ParserError, limitBytes: number): WavetrainError {
  if (error.status === 413) return bodyTooLarge(limitBytes);
  if (error.type?.startsWith('request.')) return invalidBody('the body broke off');
  return invalidBody(typeof error.body === 'string' ? faultIn(error.body) : messageOf(error));
}

export function bodyTooLarge(limitBytes: number): WavetrainError {
  const size =
    limitBytes < 2 ** 20
      ? `${limitBytes} bytes`
      : `${(limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 2 })} MiB`;
  return new WavetrainError('body_too_large', `the body is larger than ${size}`);
}

export function invalidBody(message: string): WavetrainError {
  return new WavetrainError('invalid_request', message);
}

function faultIn(text: string): string {
  const fault = faultOf(text);
  if (fault === undefined) return 'the body has a key "__proto__", which no object can have';
  const before = text.slice(0, fault.offset).split('\n');
  const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
  return `the body is not JSON: line ${line}, column ${column} must be ${fault.expected}`;
}
