import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { ResponseDocument, RouteResult } from '../routing/route.js';
import { optionalText } from '../schemas/fields.js';

/** Headers of a route that supports conditional requests. */
export const IfNoneMatch = Type.Object({
  'if-none-match': optionalText({
    maxLength: 1000,
    description: 'The `ETag` of the version that the client already has.',
  }),
});

export const NOT_MODIFIED: ResponseDocument = { description: 'The client already has the current version.' };

/** Returns status 304 when If-None-Match names the ETag of `head`; otherwise `head` with its content. */
export function returnIfModified(
  { 'if-none-match': ifNoneMatch }: Static<typeof IfNoneMatch>,
  head: RouteResult & { readonly headers: { readonly ETag: string } },
  getContent: () => Pick<RouteResult, 'body' | 'bytes' | 'type'>,
): RouteResult {
  return matchesEtag(head.headers.ETag, ifNoneMatch)
    ? { ...head, status: 304 }
    : { ...head, ...getContent() };
}

/**
 * Says whether an If-None-Match header names an ETag. The header is a list of ETags, strong or weak, or `*` for any.
 *
 * Koa's `ctx.fresh` ignores the header when the request has `Cache-Control: no-cache`, and needs a response, which a
 * long poll does not have yet.
 */
export function matchesEtag(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((entry) => {
    const candidate = entry.trim();
    return candidate === '*' || candidate.replace(/^W\//, '') === etag;
  });
}

export function formatEtag(version: string): string {
  return `"${version}"`;
}

/** The ETag of a document that has no version, or one that is long or must not be seen. */
export function hashEtag(bytes: Buffer | string): string {
  return formatEtag(createHash('sha256').update(bytes).digest('base64url'));
}
