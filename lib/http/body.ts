import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { messageOf, WavetrainError } from '../errors.js';

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/** What came with a request. */
export interface Body {
  /** The parsed JSON; undefined when there was none. */
  readonly json: unknown;
  /** The text, when it was YAML. */
  readonly yaml: string | undefined;
}

/** Reads the body of a request, if it has one. */
export type BodyReader = (ctx: Context, takesYaml: boolean) => Promise<Body>;

/**
 * Reads bodies of at most `limitBytes`: JSON, and YAML where a route takes it (D33, D38). What is wrong with one is
 * told before anything is made of it.
 */
export function bodyReader(limitBytes: number): BodyReader {
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
  return async (ctx, takesYaml) => {
    const kind = kindOf(ctx, takesYaml);
    if (kind === undefined) return { json: undefined, yaml: undefined };
    const isUtf8 = watchEncoding(ctx.req);
    await parse(ctx as Parameters<typeof parse>[0], () => Promise.resolve());
    if (!isUtf8()) throw invalid('the body is not UTF-8');
    const { body, rawBody = '' } = ctx.request as { body?: unknown; rawBody?: string };
    return kind === 'yaml' ? { json: undefined, yaml: rawBody } : { json: body, yaml: undefined };
  };
}

/** Undefined when there is no body. */
function kindOf(ctx: Context, takesYaml: boolean): 'json' | 'yaml' | undefined {
  const { headers } = ctx.req;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0)
    return undefined;
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new WavetrainError('unsupported_media_type', 'a body must not be compressed');
  }
  if (ctx.is('application/json') !== false) return 'json';
  if (takesYaml && ctx.is(YAML_TYPES) !== false) return 'yaml';
  const wanted = takesYaml ? 'application/json or application/yaml' : 'application/json';
  throw new WavetrainError('unsupported_media_type', `send the body with Content-Type: ${wanted}`);
}

/** The parser replaces what is no UTF-8 without a word, so somebody else has to look. */
function watchEncoding(request: IncomingMessage): () => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isUtf8 = true;
  const decode = (chunk?: Buffer): void => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      isUtf8 = false;
    }
  };
  request.on('data', decode);
  return () => {
    decode();
    return isUtf8;
  };
}

function refusalOf(error: Error & { status?: number; type?: string }, limitBytes: number): WavetrainError {
  if (error.status === 413) {
    const size = (limitBytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 2 });
    return new WavetrainError('body_too_large', `the body is larger than ${size} MiB`, { cause: error });
  }
  if (error.status === 415)
    return new WavetrainError('unsupported_media_type', messageOf(error), { cause: error });
  if (error.type?.startsWith('request.')) return invalid('the body broke off', error);
  return invalid(`the body is not JSON: ${messageOf(error)}`, error);
}

function invalid(message: string, cause?: unknown): WavetrainError {
  return new WavetrainError('invalid_request', message, cause === undefined ? {} : { cause });
}
