import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../common/clock.js';
import { ToolError } from '../../common/errors.js';
import type { FetchedResponse } from '../tool.js';
import { excerptOf } from './content.js';
import { describeRequest } from './request.js';

/** Returns true if a task expects a status, with numbers or with ranges such as `2xx` and `200-299`. */
function isExpected(status: number, expected: readonly (string | number)[]): boolean {
  return expected.some((entry) => {
    const [first = '', last = first] = String(entry).split('-');
    return status >= Number(first.replace('xx', '00')) && status <= Number(last.replace('xx', '99'));
  });
}

/**
 * Checks that the status of a response is one of those that are expected. The message of the error has the status, the
 * method, the URL without its query, and the beginning of the body.
 *
 * @throws ToolError (D62): retryable when the server may answer otherwise later
 */
export function assertStatus(
  response: FetchedResponse,
  method: string,
  expected: readonly (string | number)[],
  clock: Clock,
): void {
  const { status, url, proxy } = response;
  if (isExpected(status, expected)) return;
  const what = describeRequest({ url: new URL(url), method });
  const excerpt = excerptOf(response);
  const reason = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  const by = proxy === undefined ? '' : ` by the proxy ${proxy} (NO_PROXY names hosts that need none)`;
  throw createStatusError(
    response,
    `${what} answered ${reason}${by}${excerpt === '' ? '' : `: ${excerpt}`}`,
    clock,
  );
}

/** Statuses besides 5xx after which the same request may succeed later. */
const TEMPORARY = new Set([408, 425, 429]);

/** Statuses whose header `retry-after` says when. */
const WITH_TIME = new Set([429, 503]);

function createStatusError(response: FetchedResponse, message: string, clock: Clock): ToolError {
  const { status, headers } = response;
  if (status < 500 && !TEMPORARY.has(status)) return ToolError.nonRetryable(message);
  const retryAfterMs = WITH_TIME.has(status) ? readRetryAfter(headers['retry-after'], clock) : undefined;
  return new ToolError(message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** Reads the header: seconds, or a date. In milliseconds from now; undefined when it says neither. */
function readRetryAfter(header: string | undefined, clock: Clock): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // A date begins with the name of its day; others would be read as a year.
  const time = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - clock.now());
}
