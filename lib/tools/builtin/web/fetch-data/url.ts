import { ToolError } from '../../../../common/errors.js';
import type { Json } from '../../../../common/json/json.js';
import { URL_CACHE_LIMITS } from '../../../../common/limits.js';
import { decodeBody, readContent, readMediaType } from '../../../fetching/content.js';
import {
  CLIENT_CERTIFICATE_INPUT,
  readClientCertificate,
  readRequestHeaders,
} from '../../../fetching/request.js';
import { assertStatus } from '../../../fetching/status.js';
import type { DataSource, FetchedResponse, ToolContext } from '../../../tool.js';
import { exactObject, TEXT_SCHEMA } from '../../../schemas/output.js';
import { defineSource } from './source.js';

/** A response that the server may call unchanged. */
interface CachedResponse {
  readonly response: FetchedResponse;
  /** The headers that ask whether the response has changed. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly bytes: number;
}

/** Memory of a response besides its bytes. */
const RESPONSE_BYTES = 4096;

/** The responses of servers that say which version they are of, the least recently used first. */
class ResponseCache {
  readonly #responses = new Map<string, CachedResponse>();
  #bytes = 0;

  get(key: string): CachedResponse | undefined {
    const cached = this.#responses.get(key);
    if (cached === undefined) return undefined;
    this.#responses.delete(key);
    this.#responses.set(key, cached);
    return cached;
  }

  set(key: string, response: FetchedResponse): void {
    this.#delete(key);
    const { etag, 'last-modified': lastModified, 'cache-control': control = '' } = response.headers;
    const bytes = RESPONSE_BYTES + key.length + response.bytes.length;
    if (bytes > URL_CACHE_LIMITS.responseBytes || /no-store/i.test(control)) return;
    if (etag === undefined && lastModified === undefined) return;
    const conditions = {
      ...(etag !== undefined && { 'if-none-match': etag }),
      ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
    };
    this.#responses.set(key, { response, conditions, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#responses) {
      if (this.#bytes <= URL_CACHE_LIMITS.totalBytes) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    this.#bytes -= this.#responses.get(key)?.bytes ?? 0;
    this.#responses.delete(key);
  }
}

/**
 * Creates the source `url`. It asks a server that named the version of a response whether there is another one, and
 * uses the earlier response if not: those of one tenant, with the same headers.
 */
export function createUrlSource(): DataSource {
  const cache = new ResponseCache();
  return defineSource({
    name: 'url',
    description: 'A resource on the web, by its URL',
    inputs: {
      url: { type: 'string', minLength: 1, required: true, description: 'where it is, with http or https' },
      method: { type: 'string', enum: ['GET', 'POST'], default: 'GET', description: 'the method' },
      headers: { type: 'object', description: 'headers by name; null leaves one out' },
      client_certificate: CLIENT_CERTIFICATE_INPUT,
      timeout: {
        type: 'number',
        minimum: 0.001,
        maximum: 3600,
        default: 20,
        description: 'time limit of the request with its redirects, in seconds',
      },
    },
    openInputs: true,
    output: {
      name: 'data',
      description: 'status: "success", source, url, content_type, and data: parsed JSON, a text, or a file',
      type: 'object',
      schema: exactObject({
        status: { const: 'success' },
        source: { const: 'url' },
        url: TEXT_SCHEMA,
        content_type: TEXT_SCHEMA,
        data: {},
      }),
    },
    async fetch({ url, method, headers: given, client_certificate, timeout }, context) {
      const headers = readRequestHeaders(given ?? {});
      const clientCertificate = readClientCertificate(client_certificate);
      const key = JSON.stringify([context.tenant_id, url, headers, clientCertificate?.cert]);
      const cached = method === 'GET' ? cache.get(key) : undefined;
      let response = await context.fetch(url, {
        method,
        headers: { ...cached?.conditions, ...headers },
        timeoutMs: timeout * 1000,
        clientCertificate,
      });
      if (cached !== undefined && response.status === 304) {
        response = cached.response;
      } else {
        assertStatus(response, method, ['2xx'], context.clock);
        if (method === 'GET') cache.set(key, response);
      }
      const contentType = response.headers['content-type'] ?? '';
      return {
        status: 'success',
        source: 'url',
        url,
        content_type: contentType,
        data: await readData(response, context),
      };
    },
  });
}

/** JSON that is none is a text: many servers call everything JSON. */
async function readData(response: FetchedResponse, context: ToolContext): Promise<Json | Buffer> {
  try {
    return await readContent(response, context);
  } catch (error) {
    if (error instanceof ToolError && error.retryable && readMediaType(response).includes('json'))
      return decodeBody(response);
    throw error;
  }
}
