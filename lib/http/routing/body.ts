import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { messageOf, WavetrainError } from '../../common/errors.js';
import { faultOf } from '../../definition/text/json-syntax-error.js';

/** What came with a request. */
export interface Body {
  /** The parsed JSON; undefined when there was none. */
  readonly json: unknown;
  /** The text, when it was YAML. */
  readonly yaml: string | undefined;
}

/** Reads the body of a request, if it has one. */
export type BodyReader = (ctx: Context, takesYaml: boolean) => Promise<Body>;

const NO_BODY: Body = { json: undefined, yaml: undefined };

/**
 * Reads bodies of at most `limitBytes`: JSON, and YAML where a route takes it (D33, D38). What is wrong with one is
 * told before anything is made of it.
 */
export function bodyReader(limitBytes: number): BodyReader {
  const parse = parser(limitBytes);
  return async (ctx, takesYaml) => {
    const kind = bodyKind(ctx, takesYaml);
    if (kind === undefined) return NO_BODY;
    if (Number(ctx.req.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
    askForIt(ctx);
    const { value, text } = await parse(ctx);
    if (text === '') return NO_BODY;
    if (kind === 'yaml') return { json: undefined, yaml: text };
    if (isDeeperThan(text, DEEPEST_BODY)) {
      throw invalidBody(`the body is nested deeper than ${DEEPEST_BODY} levels`);
    }
    return { json: value, yaml: undefined };
  };
}

interface Parsed {
  readonly value: unknown;
  readonly text: string;
}

function parser(limitBytes: number): (ctx: Context) => Promise<Parsed> {
  const parse = bodyParser({
    enableTypes: ['json', 'text'],
    extendTypes: { json: ['application/json'], text: YAML_TYPES },
    jsonLimit: `${limitBytes}b`,
    textLimit: `${limitBytes}b`,
    strict: false,
    onerror: (error) => {
      throw refusalOf(error, limitBytes);
    },
  });
  return async (ctx) => {
    const bytes = new BytesOf(ctx.req);
    try {
      await parse(ctx, () => Promise.resolve());
      const { body, rawBody = '' } = ctx.request as { body?: unknown; rawBody?: string };
      if (!bytes.spell(rawBody)) throw invalidBody('the body is not UTF-8');
      return { value: body, text: rawBody };
    } finally {
      bytes.forget();
    }
  };
}

/** Who waits for leave to send a body gets it here, when nothing speaks against the request any more. */
function askForIt({ req, res }: Context): void {
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
}

/** What stands in a text for each byte that is no UTF-8. */
const REPLACEMENT = '\ufffd';

/** The bytes of a body while it arrives: the parser replaces what is no UTF-8 without a word. */
class BytesOf {
  readonly #request: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  readonly #keep = (chunk: Buffer): void => void this.#chunks.push(chunk);

  constructor(request: IncomingMessage) {
    this.#request = request;
    request.on('data', this.#keep);
  }

  /** Is `text` what they say? */
  spell(text: string): boolean {
    return !text.includes(REPLACEMENT) || isUtf8(Buffer.concat(this.#chunks));
  }

  forget(): void {
    this.#request.off('data', this.#keep);
  }
}

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/**
 * What the headers say of the body; undefined when there is none.
 *
 * @throws WavetrainError `unsupported_media_type`
 */
function bodyKind(ctx: Context, takesYaml: boolean): 'json' | 'yaml' | undefined {
  const { headers } = ctx.req;
  const { 'transfer-encoding': coding, 'content-length': length, 'content-type': type } = headers;
  if (coding === undefined && Number(length ?? 0) === 0) return undefined;
  if (!isPlain(coding, 'chunked') || !isPlain(headers['content-encoding'], 'identity')) {
    throw unsupported('a body must not be compressed');
  }
  // What nearly everybody sends.
  if (type === 'application/json') return 'json';
  const kind = kindOf(ctx, takesYaml);
  if (!claimsUtf8(type ?? '')) throw unsupported('a body must be UTF-8');
  return kind;
}

function kindOf(ctx: Context, takesYaml: boolean): 'json' | 'yaml' {
  if (ctx.is('application/json') !== false) return 'json';
  if (takesYaml && ctx.is(YAML_TYPES) !== false) return 'yaml';
  const wanted = takesYaml ? 'application/json or application/yaml' : 'application/json';
  throw unsupported(`send the body with Content-Type: ${wanted}`);
}

function isPlain(given: string | undefined, plain: string): boolean {
  return given === undefined || given.trim().toLowerCase() === plain;
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/gi;

/** Said twice, it says nothing: who reads the first and who the last would read another text. */
function claimsUtf8(contentType: string): boolean {
  const charsets = [...contentType.matchAll(CHARSET)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  return charsets.length < 2 && charsets.every((charset) => /^utf-?8$/i.test(charset));
}

function unsupported(message: string): WavetrainError {
  return new WavetrainError('unsupported_media_type', message);
}

/** Nothing that is sent is meant to be nested deeper; everything that walks a body can walk this far. */
const DEEPEST_BODY = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, OPEN_OBJECT] = [0x5b, 0x7b];
const [CLOSED_LIST, CLOSED_OBJECT] = [0x5d, 0x7d];

/** Is JSON nested deeper than `most` levels? Asked of the text, for whatever walks the value may not come back. */
export function isDeeperThan(json: string, most: number): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i);
    if (inText) {
      if (character === BACKSLASH) i++;
      else if (character === QUOTE) inText = false;
    } else if (character === QUOTE) inText = true;
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      if (++depth > most) return true;
    } else if (character === CLOSED_LIST || character === CLOSED_OBJECT) depth--;
  }
  return false;
}

/** What the parser throws. */
interface ParserError extends Error {
  readonly status?: number;
  /** Of an error while reading. */
  readonly type?: string;
  /** Of an error while parsing: the text. */
  readonly body?: unknown;
}

/** What a caller is told about a body that could not be read. The body itself is not told again. */
export function refusalOf(error: ParserError, limitBytes: number): WavetrainError {
  if (error.status === 413) return bodyTooLarge(limitBytes);
  if (error.type?.startsWith('request.')) return invalidBody('the body broke off');
  return invalidBody(typeof error.body === 'string' ? faultIn(error.body) : messageOf(error));
}

function bodyTooLarge(limitBytes: number): WavetrainError {
  const size =
    limitBytes < 2 ** 20
      ? `${limitBytes} bytes`
      : `${(limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 2 })} MiB`;
  return new WavetrainError('body_too_large', `the body is larger than ${size}`);
}

function invalidBody(message: string): WavetrainError {
  return new WavetrainError('invalid_request', message);
}

function faultIn(text: string): string {
  const fault = faultOf(text);
  if (fault === undefined) return 'the body has a key "__proto__", which no object can have';
  const before = text.slice(0, fault.offset).split('\n');
  const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
  return `the body is not JSON: line ${line}, column ${column} must be ${fault.expected}`;
}
