import { ToolError } from '../../../common/errors.js';
import type { Json, JsonObject } from '../../../common/json/json.js';
import { FETCH_LIMITS, MAX_EXPECTED_STATUSES } from '../../../common/limits.js';
import { isShortJson, writeJsonInSteps } from '../../../common/json/json-writer.js';
import { readContent } from '../../fetching/content.js';
import {
  assertShortUrl,
  CLIENT_CERTIFICATE_INPUT,
  readClientCertificate,
  readRequestHeaders,
  toRequestText,
} from '../../fetching/request.js';
import { assertStatus } from '../../fetching/status.js';
import { runLongWork } from '../../../common/scheduling/run-in-slices.js';
import { defineTool, type ToolContext, type FetchOptions } from '../../tool.js';
import { exactObject, INTEGER_SCHEMA, TEXT_SCHEMA } from '../../schemas/output.js';

const SCHEMA = exactObject({
  status: INTEGER_SCHEMA,
  url: TEXT_SCHEMA,
  headers: { type: 'object', additionalProperties: TEXT_SCHEMA },
  body: {},
});

/** Bytes become a file of the run. */
const BYTES_SCHEMA = {
  ...SCHEMA,
  properties: {
    ...SCHEMA.properties,
    body: exactObject({ path: TEXT_SCHEMA, media_type: TEXT_SCHEMA, size: INTEGER_SCHEMA }),
  },
};

/** Sends one HTTP request and reads the answer (D62), inside the guard of {@link ToolContext.fetch} (D51). */
export const httpRequest = defineTool({
  name: 'http_request',
  description: 'Sends an HTTP request and returns the answer',
  inputs: {
    url: { type: 'string', minLength: 1, required: true, description: 'where to, with http or https' },
    method: {
      type: 'string',
      enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      default: 'GET',
      description: 'the method',
    },
    headers: { type: 'object', description: 'headers by name; null leaves one out' },
    query: {
      type: 'object',
      description: 'values by name that are added to the URL; a list repeats the name, null leaves it out',
    },
    json: { description: 'a value to send as JSON' },
    text: { type: 'string', description: 'a text to send, instead of json' },
    expect: {
      type: 'list',
      maxItems: MAX_EXPECTED_STATUSES,
      items: {
        type: ['integer', 'string'],
        minimum: 100,
        maximum: 599,
        pattern: '^[1-5]([0-9]{2}(-[1-5][0-9]{2})?|xx)$',
      },
      default: ['2xx'],
      description: 'the statuses that succeed: numbers, and ranges such as "2xx" or "200-299"',
    },
    parse: {
      type: 'string',
      enum: ['auto', 'json', 'text', 'bytes'],
      default: 'auto',
      description: 'how to read the body; auto: by its type; bytes: as a file',
    },
    client_certificate: CLIENT_CERTIFICATE_INPUT,
    timeout: {
      type: 'number',
      minimum: 0.001,
      maximum: 3600,
      default: FETCH_LIMITS.timeoutMs / 1000,
      description: 'time limit of the request with its redirects, in seconds',
    },
    max_bytes: {
      type: 'integer',
      minimum: 1,
      maximum: FETCH_LIMITS.largestResponseBytes,
      default: FETCH_LIMITS.responseBytes,
      description: 'size limit of the answer, unpacked',
    },
  },
  output: {
    name: 'response',
    description: 'status, url (after redirects), headers, and body: parsed JSON, a text, or a file',
    type: 'object',
    schema: SCHEMA,
  },
  deriveOutput: ({ parse }) => (parse === 'bytes' ? BYTES_SCHEMA : undefined),
  async run(
    { url, method, headers, query, json, text, expect, parse, client_certificate, timeout, max_bytes },
    context,
  ) {
    const content = readRequestBody(json, text, context);
    const response = await context.fetch(withQuery(url, query ?? {}), {
      method,
      headers: { ...content.headers, ...readRequestHeaders(headers ?? {}) },
      body: content.body,
      timeoutMs: timeout * 1000,
      maxBytes: max_bytes,
      clientCertificate: readClientCertificate(client_certificate),
    });
    assertStatus(response, method, expect, context.clock);
    const { status } = response;
    const body = await readContent(response, context, parse);
    return { status, url: response.url, headers: response.headers, body };
  },
});

function readRequestBody(
  json: Json | undefined,
  text: string | undefined,
  context: ToolContext,
): Partial<Pick<FetchOptions, 'headers' | 'body'>> {
  if (json !== undefined && text !== undefined)
    throw ToolError.nonRetryable('"json" and "text" are both given: a request has one body');
  if (text !== undefined)
    return { headers: { 'content-type': 'text/plain;charset=utf-8' }, body: () => text };
  if (json === undefined) return {};
  // Many requests of a fan-out may be sent at once: a long value is written while no other attempt has long work.
  const body = (): string | Promise<string> =>
    isShortJson(json) ? JSON.stringify(json) : runLongWork(context, () => writeJsonInSteps(json));
  return { headers: { 'content-type': 'application/json' }, body };
}

/** Adds the values to the query of a URL. A URL that is none is left as it is, and refused when it is fetched. */
function withQuery(text: string, query: JsonObject): string {
  assertShortUrl(text.length);
  const names = Object.keys(query);
  if (names.length === 0 || !URL.canParse(text)) return text;
  const url = new URL(text);
  // The `searchParams` of a URL would write the whole query anew with each value.
  const params = new URLSearchParams(url.search);
  let count = 0;
  let isChanged = false;
  let length = text.length;
  for (const name of names) {
    const value = query[name] ?? null;
    const values = Array.isArray(value) ? value : [value];
    count += values.length;
    if (count > FETCH_LIMITS.queryValues)
      throw ToolError.nonRetryable(
        `the query has more than ${FETCH_LIMITS.queryValues} values: no more are sent; send more as a body`,
      );
    for (const one of values) {
      if (one === null) continue;
      const written = toRequestText(one, `the query's "${name.slice(0, MAX_SHOWN_NAME)}"`);
      length += name.length + written.length;
      assertShortUrl(length);
      params.append(name, written);
      isChanged = true;
    }
  }
  if (isChanged) url.search = params.toString();
  return url.href;
}

const MAX_SHOWN_NAME = 100;
