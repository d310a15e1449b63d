import { createHash } from 'node:crypto';

/** The ETag of a record of this version. */
export function etagOf(version: string): string {
  return `"${version}"`;
}

/** The ETag of a text. */
export function etagOfText(text: string): string {
  return etagOf(createHash('sha256').update(text).digest('base64url'));
}

/** Is there an If-None-Match that names it? */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && isAmong(etag, ifNoneMatch);
}

/** Does an If-None-Match name it? That is a list of ETags, some of them weak, or `*` for any. */
function isAmong(etag: string, known: string): boolean {
  return known.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
