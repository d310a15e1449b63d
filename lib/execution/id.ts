import { randomUUID } from 'node:crypto';

/** A UUIDv7 in lower case: ids sort by the time they were made (D27). */
export function newRunId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // Everything from the digit after the version on is random, and carries the variant already.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
