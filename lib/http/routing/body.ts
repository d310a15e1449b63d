import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import type { Limit } from '../../common/memory/shared-limit.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import { ellipsize, formatNumber } from '../../common/text.js';
import type { Steps } from '../../common/scheduling/steps.js';
import {
  findLossyJsonInSteps,
  type LossyJson,
  measureJsonInSteps,
} from '../../definition/text/lossy-json.js';
import { findJsonSyntaxErrorInSteps, type JsonSyntaxError } from '../../definition/text/json-syntax-error.js';
import { parseJsonInSteps } from '../../common/json/parse-json.js';
import { assertAllChunks } from '../security/chunk-limits.js';
import type { BodyMemory } from './body-memory.js';
import { ReceivedBytes, receiveWith } from './received-bytes.js';

export interface Body {
  /** The parsed JSON; undefined for YAML or no body. */
  readonly json: unknown;
  /** The text of a YAML body. */
  readonly yaml: string | undefined;
}

export const NO_BODY: Body = { json: undefined, yaml: undefined };

/**
 * Reads the body of a request. Rejects with `invalid_request`, `body_too_large` or `unsupported_media_type`, and as the memory
 * does that receives it.
 */
export type BodyReader = (ctx: Context, acceptsYaml: boolean, memory: BodyMemory) => Promise<Body>;

/** Deeper JSON is refused; recursive code can walk this far without overflowing the stack. */
const MAX_DEPTH = 1000;

/** A longer body may take much memory, besides that of its values, until it is parsed and its definition was checked. */
const LARGE_BODY_LENGTH = 64 * 1024;

/** Large bodies of all tenants at once, until they are part of a run or answered; and those of each tenant in any case. */
const LARGE_BODIES: Limit = { total: 2, guaranteed: 1 };

/** Creates a reader of bodies of at most `limitBytes`: JSON, and YAML where a route accepts it (D33, D38). */
export function createBodyReader(limitBytes: number): BodyReader {
  const receive = createReceiver(limitBytes);
  const turns = new ConcurrencyLimiter(LARGE_BODIES);
  return async (ctx, acceptsYaml, memory) => {
    const format = detectFormat(ctx, acceptsYaml);
    if (Number(ctx.req.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
    const text = await memory.receive(ctx.req, async () => {
      if (format === undefined) return '';
      // Asks the client for the body only now, after every check that needs none.
      if (ctx.req.headers.expect?.toLowerCase() === '100-continue') ctx.res.writeContinue();
      return receive(ctx);
    });
    if (text === '') return NO_BODY;
    if (format === 'yaml') return { json: undefined, yaml: text };
    // A check that is long takes a turn of checks too. The two cannot lock each other: no check waits for a body.
    if (text.length > LARGE_BODY_LENGTH) await memory.takeTurn(turns);
    return { json: await runInSlices(readJson(text, memory), memory.tenantId, 'bodies'), yaml: undefined };
  };
}

/** @throws WavetrainError `invalid_request`, `memory_full` or `body_too_large` */
function* readJson(text: string, memory: BodyMemory): Steps<unknown> {
  const measure = yield* measureJsonInSteps(text);
  if (measure.depth > MAX_DEPTH) throw invalidBody(`the body is nested deeper than ${MAX_DEPTH} levels`);
  memory.reserveValues(measure);
  let value: unknown;
  try {
    value = yield* parseJsonInSteps(text);
  } catch {
    throw invalidBody(describeSyntaxError(yield* findJsonSyntaxErrorInSteps(text), text));
  }
  const loss = yield* findLossyJsonInSteps(text, value, measure.members);
  if (loss !== undefined) throw invalidBody(describeLoss(loss, text));
  return value;
}

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/**
 * Reads the format of the body from the headers; undefined when there is no body.
 *
 * @throws WavetrainError `unsupported_media_type`
 */
function detectFormat(ctx: Context, acceptsYaml: boolean): 'json' | 'yaml' | undefined {
  const { headers } = ctx.req;
  const { 'transfer-encoding': coding, 'content-length': length, 'content-type': type } = headers;
  if (coding === undefined && Number(length ?? 0) === 0) return undefined;
  if (!isAbsentOr('chunked', coding) || !isAbsentOr('identity', headers['content-encoding'])) {
    throw unsupported('the body must not be compressed');
  }
  // The usual case, without parsing the header.
  if (type === 'application/json') return 'json';
  const format = matchMediaType(ctx, acceptsYaml);
  if (!isDeclaredUtf8(type ?? '')) throw unsupported('the body must be UTF-8');
  return format;
}

function matchMediaType(ctx: Context, acceptsYaml: boolean): 'json' | 'yaml' {
  if (ctx.is('application/json') !== false) return 'json';
  if (acceptsYaml && ctx.is(YAML_TYPES) !== false) return 'yaml';
  const accepted = acceptsYaml ? 'application/json or application/yaml' : 'application/json';
  throw unsupported(`send the body with Content-Type: ${accepted}`);
}

function isAbsentOr(expected: string, header: string | undefined): boolean {
  return header === undefined || header.trim().toLowerCase() === expected;
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/gi;

/** Refuses a second charset: a proxy that uses it would decode a different text. */
function isDeclaredUtf8(contentType: string): boolean {
  const charsets = [...contentType.matchAll(CHARSET)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  return charsets.length < 2 && charsets.every((charset) => /^utf-?8$/i.test(charset));
}

/** The parser decodes each invalid byte to this character. */
const REPLACEMENT = '\ufffd';

/** Creates a function that receives the text of a body. */
function createReceiver(limitBytes: number): (ctx: Context) => Promise<string> {
  const parse = bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json', ...YAML_TYPES] },
    textLimit: `${limitBytes}b`,
    onerror: (error) => {
      throw toBodyError(error, limitBytes);
    },
  });
  return async (ctx) => {
    const received = new ReceivedBytes();
    await receiveWith(
      ctx.req,
      (chunk) => received.add(chunk),
      () => parse(ctx, () => Promise.resolve()),
    );
    assertAllChunks(ctx.req);
    const { rawBody = '' } = ctx.request as { rawBody?: string };
    // The parser replaces invalid UTF-8 without an error.
    if (rawBody.includes(REPLACEMENT) && !isUtf8(received.bytes)) {
      throw invalidBody('the body is not UTF-8');
    }
    return rawBody;
  };
}

/** An error of the parser. */
interface ParserError extends Error {
  readonly status?: number;
  /** Set for an error while receiving the body. */
  readonly type?: string;
}

/** Describes why a body could not be read, without repeating its content. */
function toBodyError(error: ParserError, limitBytes: number): WavetrainError {
  if (error.status === 413) return bodyTooLarge(limitBytes);
  if (error.type?.startsWith('request.')) return invalidBody('the body ended early');
  return invalidBody(errorMessage(error));
}

function describeSyntaxError(error: JsonSyntaxError | undefined, text: string): string {
  if (error === undefined) return 'the body is not JSON';
  return `the body is not JSON: ${describePlace(error.offset, text)} must be ${error.expected}`;
}

/** A longer key or number is cut in messages. */
const MAX_LOST_LENGTH = 100;

/** Describes what the server would drop: a definition in YAML must not have it either (D7, D8). */
function describeLoss({ offset, kind, lost }: LossyJson, text: string): string {
  const place = describePlace(offset, text);
  const shown = ellipsize(lost, MAX_LOST_LENGTH);
  if (kind === 'prototype') return 'the body has the key "__proto__", which is not allowed';
  if (kind === 'key') return `${place} of the body repeats the key "${shown}": keep one of them`;
  if (kind === 'size')
    return `${place} of the body is ${shown}, which is too large for a number: send it as text`;
  const rounded = `it would become ${Number(lost)}`;
  return `${place} of the body is ${shown}, which has more digits than a number can hold; ${rounded}: send it as text`;
}

function describePlace(offset: number, text: string): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

function bodyTooLarge(limitBytes: number): WavetrainError {
  const size = limitBytes < 2 ** 20 ? `${limitBytes} bytes` : `${formatNumber(limitBytes / 2 ** 20, 2)} MiB`;
  return new WavetrainError('body_too_large', `the body is larger than ${size}`);
}

function invalidBody(message: string): WavetrainError {
  return new WavetrainError('invalid_request', message);
}

function unsupported(message: string): WavetrainError {
  return new WavetrainError('unsupported_media_type', message);
}
