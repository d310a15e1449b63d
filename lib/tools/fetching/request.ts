import { ToolError } from '../../common/errors.js';
import { ellipsize, formatNumber } from '../../common/text.js';
import { describeKind, type Json, type JsonObject } from '../../common/json/json.js';
import { FETCH_LIMITS } from '../../common/limits.js';
import type { ClientCertificate } from '../../common/requests/outbound.js';
import type { FetchOptions } from '../tool.js';

/** One request as it is sent: the first, or what a redirect makes of it. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | Uint8Array | undefined;
}

/** A request that was checked, whose body is not made yet. */
export interface RequestDraft extends Omit<OutgoingRequest, 'body'> {
  readonly body: FetchOptions['body'];
}

const MAX_SHOWN_URL = 200;

/** Formats `GET https://host/path`. Leaves out the query, which may hold a key. */
export function describeRequest({ url, method }: Pick<OutgoingRequest, 'url' | 'method'>): string {
  const { origin, pathname } = url;
  return `${method} ${origin}${ellipsize(pathname, MAX_SHOWN_URL)}`;
}

const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** @throws ToolError, not retryable, for what cannot be sent */
export function createRequest(url: string, options: FetchOptions): RequestDraft {
  const method = readMethod(options.method ?? 'GET');
  const headers = readHeaders(options.headers ?? {});
  if (options.accept !== undefined) headers.set('accept', readHeaderValue('accept', options.accept));
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', ACCEPTED_ENCODINGS);
  if (!headers.has('user-agent')) headers.set('user-agent', 'wavetrain');
  const body = options.body;
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw ToolError.nonRetryable(`a ${method} request has no body: use POST, or leave out the body`);
  return { url: parseUrl(url), method, headers, body };
}

/**
 * Reads the headers that a pipeline gives: texts, numbers and booleans by name; null leaves one out. Names are in lower
 * case, so that an own header takes the place of a default one.
 *
 * @throws ToolError, not retryable
 */
export function readRequestHeaders(headers: JsonObject): Record<string, string> {
  assertFewHeaders(headers);
  const present = Object.entries(headers).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.map(([name, value]) => [name.toLowerCase(), toRequestText(value, `the header "${name}"`)]),
  );
}

/** The input with the certificate of a client, whose texts a pipeline takes from secrets. */
export const CLIENT_CERTIFICATE_INPUT = {
  type: 'object',
  properties: { cert: { type: 'string' }, key: { type: 'string' } },
  description: 'cert and key, PEM from secrets, that are shown to the server of the url',
} as const;

/** Characters of a client certificate, and of its key: as of a secret. Signing with a longer key would take long. */
const MAX_PEM_LENGTH = 8192;

/** Reads that input. @throws ToolError, not retryable, that repeats no value */
export function readClientCertificate(input: JsonObject | undefined): ClientCertificate | undefined {
  if (input === undefined) return undefined;
  const { cert, key, ...others } = input;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw ToolError.nonRetryable(
      `"client_certificate" has the key "${unknown.slice(0, 40)}": it takes cert and key`,
    );
  if (typeof cert !== 'string' || typeof key !== 'string') throw ToolError.nonRetryable(CERTIFICATE_ADVICE);
  if (Math.max(cert.length, key.length) > MAX_PEM_LENGTH)
    throw ToolError.nonRetryable(
      `"client_certificate" has a text with more than ${formatNumber(MAX_PEM_LENGTH)} characters`,
    );
  // Whoever encrypts a key says how long it takes to decrypt it, in one turn of the event loop: minutes, if they like.
  if (key.includes('ENCRYPTED'))
    throw ToolError.nonRetryable(
      'the key of "client_certificate" has a passphrase: decrypt it with "openssl pkey -in key.pem", and put the result into the secret',
    );
  return { cert, key };
}

const CERTIFICATE_ADVICE =
  '"client_certificate" needs texts: {cert: "{{secrets.CLIENT_CERT}}", key: "{{secrets.CLIENT_KEY}}"}, each with PEM';

/** Writes a value of a header or a query as a text. @throws ToolError, not retryable, for a list, an object or null */
export function toRequestText(value: Json, label: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw ToolError.nonRetryable(`${label} must be a text, a number or a boolean, not ${describeKind(value)}`);
}

function assertFewHeaders(headers: object): void {
  const entries = Object.entries(headers);
  if (entries.length > FETCH_LIMITS.headers)
    throw ToolError.nonRetryable(
      `the request has ${entries.length} headers: at most ${FETCH_LIMITS.headers} are sent`,
    );
  let length = 0;
  for (const [name, value] of entries) length += name.length + (typeof value === 'string' ? value.length : 0);
  if (length <= FETCH_LIMITS.headersLength) return;
  throw ToolError.nonRetryable(
    `the headers have ${length} characters: at most ${FETCH_LIMITS.headersLength} are sent; send more as a body`,
  );
}

/** Fails before a URL is read, which takes long when it is. @throws ToolError, not retryable */
export function assertShortUrl(length: number): void {
  if (length <= FETCH_LIMITS.urlLength) return;
  throw ToolError.nonRetryable(
    `the URL has ${length} characters with its query: at most ${FETCH_LIMITS.urlLength} are sent; send more as a body`,
  );
}

const MAX_METHOD_LENGTH = 32;

const METHOD = /^[!#$%&'*+.^_`|~0-9A-Z-]{1,32}$/;

/** These methods would make a tunnel, or show the headers of proxies. */
const REFUSED_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);

function readMethod(text: string): string {
  const method = text.slice(0, MAX_METHOD_LENGTH + 1).toUpperCase();
  if (METHOD.test(method) && !REFUSED_METHODS.has(method)) return method;
  throw ToolError.nonRetryable(
    `"${text.slice(0, 40)}" is no method of a request: use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS`,
  );
}

/** The headers of the connection: whoever sets them sends a second request behind the first, or to another host. */
const CONNECTION_HEADERS = new Set(
  `connection content-length expect host http2-settings keep-alive proxy-authorization proxy-connection
  te trailer transfer-encoding upgrade`.split(/\s+/),
);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;

/** Tabs, and all visible characters of Latin-1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function readHeaders(headers: Readonly<Record<string, string>>): Map<string, string> {
  const read = new Map<string, string>();
  assertFewHeaders(headers);
  for (const [written, value] of Object.entries(headers)) {
    const name = written.toLowerCase();
    const shown = written.slice(0, 40);
    if (!HEADER_NAME.test(name)) throw ToolError.nonRetryable(`"${shown}" is no name of a header`);
    if (CONNECTION_HEADERS.has(name))
      throw ToolError.nonRetryable(`the header "${shown}" belongs to the connection: leave it out`);
    read.set(name, readHeaderValue(shown, value));
  }
  return read;
}

function readHeaderValue(name: string, value: string): string {
  if (HEADER_VALUE.test(value)) return value;
  throw ToolError.nonRetryable(
    `the header "${name}" has a line break or a character that headers cannot hold: encode it first`,
  );
}

/** Ports of other protocols, which browsers refuse as well: a request there could speak to a mail server. */
const REFUSED_PORTS = new Set(
  (
    '1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 ' +
    '135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 ' +
    '995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211'
  ).split(' '),
);

/** @throws ToolError, not retryable */
function parseUrl(text: string, base?: URL): URL {
  assertShortUrl(text.length);
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  const shown = text.slice(0, MAX_SHOWN_URL);
  if (url === undefined) {
    throw ToolError.nonRetryable(`"${shown}" is no URL: write one such as https://example.com/data.json`);
  }
  const { protocol, username, password, port, hostname } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw ToolError.nonRetryable(`"${protocol}" cannot be fetched: use a URL with http or https`);
  if (username !== '' || password !== '')
    throw ToolError.nonRetryable(
      `the URL of ${hostname} has a user or a password: send the header "authorization" instead`,
    );
  if (REFUSED_PORTS.has(port))
    throw ToolError.nonRetryable(`port ${port} of ${hostname} is not for HTTP, and may not be reached`);
  url.hash = '';
  return url;
}

/** The status codes that lead elsewhere. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that another origin may see: any other may hold a key. */
const HARMLESS_HEADERS = new Set('accept accept-encoding accept-language content-type user-agent'.split(' '));

/**
 * Returns the request that a redirect leads to; undefined when the response is none. A 303, and a 301 or 302 after
 * POST, is fetched with GET; another origin sees neither keys nor cookies.
 *
 * @throws ToolError, not retryable, when tools may not go there
 */
export function redirectRequest(
  request: OutgoingRequest,
  status: number,
  location: string | undefined,
): OutgoingRequest | undefined {
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const url = parseUrl(location, request.url);
  const isSameOrigin = url.origin === request.url.origin;
  const becomesGet =
    (status === 303 && request.method !== 'GET' && request.method !== 'HEAD') ||
    ((status === 301 || status === 302) && request.method === 'POST');
  const headers = [...request.headers].filter(
    ([name]) => (isSameOrigin || HARMLESS_HEADERS.has(name)) && !(becomesGet && name.startsWith('content-')),
  );
  return {
    url,
    method: becomesGet ? 'GET' : request.method,
    headers: new Map(headers),
    body: becomesGet ? undefined : request.body,
  };
}
