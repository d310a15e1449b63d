import type { Context } from 'koa';
import { WavetrainError } from '../common/errors.js';

export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

/**
 * What the headers say of the body; undefined when there is none.
 *
 * @throws WavetrainError `unsupported_media_type`
 */
export function bodyKind(ctx: Context, takesYaml: boolean): 'json' | 'yaml' | undefined {
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
