import { type ErrorDetail, FailedRunError, RequestError } from './request-error.js';

/** What an answer was, once it is read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The error that an answer tells. */
export function refusalOf(answer: Answer, url: string, retryAfterMs: number | undefined): RequestError {
  const { status } = answer;
  const detail = detailIn(answer);
  if (detail === undefined) return strangeAnswer(answer, url, retryAfterMs);
  if (detail.code === 'task_failed') return new FailedRunError(detail, status);
  return new RequestError(detail.code, detail.message, { status, detail, retryAfterMs });
}

/** The JSON of an answer. Throws `server_unreachable` when it is none: something else has answered. */
export function jsonOf(answer: Answer, url: string): unknown {
  const value = parsed(answer);
  if (value === undefined) throw strangeAnswer(answer, url);
  return value;
}

function detailIn(answer: Answer): ErrorDetail | undefined {
  const body = parsed(answer);
  if (typeof body !== 'object' || body === null || !('detail' in body)) return undefined;
  const { detail } = body as { detail: Partial<ErrorDetail> | null };
  if (typeof detail?.code !== 'string' || typeof detail.message !== 'string') return undefined;
  return detail as ErrorDetail;
}

function parsed({ text }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // told by whoever asks
  }
}

/** A proxy, or a server of another kind. */
export function strangeAnswer(
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  url: string,
  retryAfterMs?: number,
): RequestError {
  const location = headers.get('location');
  const said = headers.get('content-type') ?? 'no content';
  const message =
    status >= 300 && status < 400 && location !== null
      ? `${url} leads elsewhere (${status}): use the address ${location} leads to`
      : `${url} answered ${status} with ${said}, which is no answer of Wavetrain: another server, or a proxy before it?`;
  return new RequestError('server_unreachable', message, { status, retryAfterMs });
}
