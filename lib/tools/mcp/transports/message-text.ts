import type { SkippedLine } from '../../../common/requests/line-reader.js';

/** As servers in most languages write a response: `{"jsonrpc": "2.0", "id": 5, "result": …`. */
const ID_FIRST =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"\s*:/;

/** As those of the SDK in TypeScript do: `{"result": …, "jsonrpc": "2.0", "id": 5}`. */
const RESULT_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/;

/** One brace ends the message, so that the number before it is no part of the result, which a stranger may have written. */
const ID_LAST = /,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/;

/**
 * Finds which request a message answers that is too large to be parsed, by its start and its end. Returns undefined when
 * it is no response, or not recognized.
 */
export function findAnsweredRequest({ start, end }: SkippedLine): number | undefined {
  const [, first] = ID_FIRST.exec(start) ?? [];
  const [, last] = RESULT_FIRST.test(start) ? (ID_LAST.exec(end) ?? []) : [];
  const id = first ?? last;
  return id === undefined ? undefined : Number(id);
}

/**
 * A notification that nobody here listens to, by its first bytes, as all servers write it: what is dropped before it is
 * parsed takes a tenth of the time.
 */
const UNHEARD =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"notifications\/(?!progress"|tools\/list_changed"|cancelled"|subscriptions\/)[a-z_/]*"/;

/** True when a message is a notification that nobody listens to, such as a line for a log. */
export function isUnheard(message: string): boolean {
  return UNHEARD.test(message);
}

/** Matches the id of the request that a message may answer. */
const ID = /"id"\s*:\s*(\d{1,15})/g;

/** The requests that a message may answer, by its first characters and its last ones; the message says which one it does. */
export function possibleRequests(shown: string): number[] {
  return [...shown.matchAll(ID)].map(([, id]) => Number(id));
}
