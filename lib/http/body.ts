import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { DEEPEST_BODY, isDeeperThan } from './body-depth.js';
import { bodyKind, YAML_TYPES } from './body-kind.js';
import { bodyTooLarge, invalidBody, refusalOf } from './body-refusal.js';

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
