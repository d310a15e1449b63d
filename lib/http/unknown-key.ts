import type { IncomingHttpHeaders } from 'node:http';

/** Why a caller is not known: nothing came, or nothing that is on the list (D37). */
export function whyUnknown(headers: IncomingHttpHeaders): string {
  const how = 'Authorization: Bearer KEY, or X-API-Key: KEY';
  const isSent = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  if (!isSent) return `no key was sent: send ${how}`;
  return `the key that was sent is not known, or not sent as ${how}; the file of keys is read when the server starts`;
}
