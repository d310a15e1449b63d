import { ToolError } from '../../../common/errors.js';
import { delay } from '../../../common/clock.js';
import { ellipsize } from '../../../common/text.js';
import type { ObjectStoreConnection } from '../../connections/connection.js';
import type { FetchedResponse, ToolContext } from '../../tool.js';
import { TRANSFER_LIMITS } from '../transfer-limits.js';
import { formatObjectUrl, type ObjectName } from './object-url.js';
import { readStoreError } from './store-answers.js';

/** The attempt for which objects are read and written. */
export type StoreContext = Pick<ToolContext, 'fetch' | 'clock' | 'signal' | 'tenant_id'>;

/** One request to a store. */
export interface ObjectRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly object: ObjectName;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array<ArrayBuffer> | undefined;
  readonly maxBytes?: number | undefined;
  /** False for a request that has another result when it is repeated. Default: true. */
  readonly isRepeatable?: boolean | undefined;
  /** Sends the request once, also when the attempt is over. */
  readonly outlivesAttempt?: boolean | undefined;
  /** Statuses that the caller handles, beside those of success. */
  readonly expects?: readonly number[] | undefined;
}

/** Statuses after which the same request may succeed. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504]);

/** Signs requests and sends them to one store, through the guarded network of the tool (D51). */
export class StoreClient {
  readonly #connection: ObjectStoreConnection;
  readonly #context: StoreContext;

  constructor(connection: ObjectStoreConnection, context: StoreContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /** Sends a request, again when the store refuses it for now. Rejects with a ToolError that names the object. */
  async send(request: ObjectRequest): Promise<FetchedResponse> {
    const { retries, retryMs } = TRANSFER_LIMITS;
    for (let repeats = 0; ; repeats++) {
      const failure = await this.#sendOnce(request);
      if (!(failure instanceof ToolError)) return failure;
      const isOnce = request.isRepeatable === false || request.outlivesAttempt === true;
      if (isOnce || repeats === retries || !failure.retryable || this.#context.signal.aborted) throw failure;
      await delay(retryMs * 2 ** repeats, this.#context);
    }
  }

  async #sendOnce(request: ObjectRequest): Promise<FetchedResponse | ToolError> {
    let response: FetchedResponse;
    try {
      response = await this.#fetch(request);
    } catch (error) {
      if (error instanceof ToolError) return error;
      throw error;
    }
    const { status } = response;
    if ((status >= 200 && status < 300) || request.expects?.includes(status)) return response;
    return this.#describeRefusal(request, response);
  }

  async #fetch({
    method,
    object,
    query,
    headers,
    body,
    ...options
  }: ObjectRequest): Promise<FetchedResponse> {
    const signed = await this.#sign(method, this.#urlOf(object, query), headers ?? {}, body);
    return await this.#context.fetch(signed.url, {
      method,
      headers: signed.headers,
      ...(body !== undefined && { body }),
      maxBytes: options.maxBytes ?? TRANSFER_LIMITS.answerBytes,
      timeoutMs: TRANSFER_LIMITS.requestMs,
      // A signature is for one host: where a store sends its clients is for its operator to write down.
      isTransfer: true,
      outlivesAttempt: options.outlivesAttempt,
    });
  }

  async #sign(
    method: string,
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<{ readonly url: string; readonly headers: Record<string, string> }> {
    const { AwsV4Signer } = await import('aws4fetch');
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#connection;
    // Hashed by another thread: a part takes some 20 ms.
    const digest = await crypto.subtle.digest('SHA-256', body ?? new Uint8Array());
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': Buffer.from(digest).toString('hex') },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region,
      datetime: new Date(this.#context.clock.now()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    });
    const signed = await signer.sign();
    return {
      url: signed.url.href,
      headers: { ...Object.fromEntries(signed.headers), 'accept-encoding': 'identity' },
    };
  }

  #urlOf({ bucket, key }: ObjectName, query: Readonly<Record<string, string>> = {}): URL {
    const { endpoint, pathStyle } = this.#connection;
    const url = new URL(endpoint);
    const isInPath = pathStyle || bucket.includes('.') || isAddress(url.hostname);
    if (!isInPath) url.hostname = `${bucket}.${url.hostname}`;
    const base = url.pathname.replace(/\/+$/, '');
    const path = [...(isInPath ? [bucket] : []), ...(key === '' ? [] : key.split('/').map(encodePart))];
    url.pathname = `${base}/${path.join('/')}`;
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
      .join('&');
    return url;
  }

  #describeRefusal({ method, object }: ObjectRequest, response: FetchedResponse): ToolError {
    const { status } = response;
    const { code, message } = readStoreError(response);
    const reason = EXPLANATIONS.get(code) ?? (status >= 300 && status < 400 ? MOVED : message);
    const shown = [`${status}${code === '' ? '' : ` ${code}`}`, ...(reason === '' ? [] : [reason])].join(
      ': ',
    );
    return new ToolError(
      `the object store refused ${method} ${ellipsize(formatObjectUrl(object), MAX_SHOWN)}: ${shown}`,
      { retryable: TEMPORARY.has(status) },
    );
  }
}

const MAX_SHOWN = 200;

const MOVED = 'the bucket is at another address: check endpoint, region and path_style of the connection';

/** By the codes of stores. */
const EXPLANATIONS: ReadonlyMap<string, string> = new Map([
  ['NoSuchBucket', 'there is no such bucket'],
  ['NoSuchKey', 'there is no such object'],
  ['AccessDenied', 'the keys of the connection do not allow it'],
  ['InvalidAccessKeyId', 'the store does not know the access_key_id of the connection'],
  ['SignatureDoesNotMatch', 'the secret_access_key of the connection is wrong'],
  ['RequestTimeTooSkewed', 'the clock of this machine is wrong'],
  ['AuthorizationHeaderMalformed', 'check the region of the connection'],
  ['PermanentRedirect', MOVED],
]);

/** Encodes as signatures do: what `encodeURIComponent` leaves as it is, too. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns true for a host that can have no bucket in front: an address, or this machine. */
function isAddress(hostname: string): boolean {
  return hostname === 'localhost' || hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
}
