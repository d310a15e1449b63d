import { messageOf } from '../common/errors.js';
import { RequestError } from './request-error.js';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  EPIPE: 'the connection was lost',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it took too long to answer; for long runs use submit and settled',
  UND_ERR_BODY_TIMEOUT: 'it took too long to answer',
};

/** What `fetch` rejected with, in words: its own say no more than that it failed. */
export function connectionError(thrown: unknown, url: string): RequestError {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  const code =
    typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined;
  const reason = REASONS[code ?? ''] ?? messageOf(cause);
  return new RequestError('server_unreachable', `cannot reach a server at ${url}: ${reason}`, {
    cause: thrown,
  });
}
