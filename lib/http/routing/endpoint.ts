import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import { WavetrainError } from '../../common/errors.js';
import type { Body, BodyReader } from './body.js';
import { type Caller, ANYONE } from '../auth/caller.js';
import { checkerOf, type Checker } from './validator.js';
import { misplacedIn } from './misplaced-fields.js';
import type { Answer, Route } from './route.js';
import type { HttpServices } from '../services.js';
import { whyUnknown } from '../auth/authenticate.js';

/** Answers the requests of one route: who asks, what was sent, what is answered, each checked in its turn. */
export class Endpoint {
  readonly route: Route;
  readonly #services: HttpServices;
  readonly #readBody: BodyReader;
  readonly #params: Checker | undefined;
  readonly #query: Checker | undefined;
  readonly #headers: Checker | undefined;
  readonly #body: Checker | undefined;
  readonly #answers: ReadonlyMap<number, Checker>;
  readonly #mediaTypes: readonly string[];
  readonly #declared: readonly string[];
  readonly #usualStatus: number;

  constructor(route: Route, services: HttpServices, readBody: BodyReader) {
    this.route = route;
    this.#services = services;
    this.#readBody = readBody;
    this.#params = checker(route.params, 'path parameter');
    this.#query = route.isProbe ? undefined : checker(route.query ?? NO_QUERY, 'query parameter', true);
    this.#headers = checker(route.headers, 'header', true);
    this.#body = checker(route.body?.schema, 'field');
    this.#answers = answerCheckers(route);
    this.#mediaTypes = mediaTypesOf(route);
    this.#declared = Object.keys(route.headers?.properties ?? {});
    this.#usualStatus = usualStatus(route);
  }

  /** Answers one request. Throws a WavetrainError for every refusal. */
  async answer(ctx: Context, params: Record<string, string>): Promise<void> {
    const caller = this.#identify(ctx);
    const accepts = this.#negotiate(ctx);
    refuse(this.#params?.(params));
    const query = ctx.querystring === '' ? {} : { ...ctx.query };
    refuse(this.#query?.(query));
    const headers = this.#declaredHeaders(ctx);
    refuse(this.#headers?.(headers));
    const { json, yaml } = await this.#bodyOf(ctx);
    const request = {
      params,
      query,
      headers,
      body: json,
      yaml,
      caller,
      accepts,
      gone: () => goneSignal(ctx),
    };
    this.#send(ctx, await this.route.handle(request), accepts);
  }

  #identify(ctx: Context): Caller {
    const { access } = this.route;
    if (access === 'open') return ANYONE;
    const caller = this.#services.authenticate(ctx.req.headersDistinct);
    if (caller === undefined) {
      throw new WavetrainError('unauthorized', whyUnknown(ctx.req.headers));
    }
    ctx.state['caller'] = caller.name;
    if (access !== 'any' && !caller.scopes.includes(access)) {
      throw new WavetrainError('forbidden', `this key is not good for "${access}"`);
    }
    return caller;
  }

  #negotiate(ctx: Context): string {
    if (this.route.isProbe) return this.#mediaTypes[0] ?? JSON_TYPE;
    const { accept = '*/*' } = ctx.req.headers;
    const [first] = this.#mediaTypes;
    if (accept === '*/*' && first !== undefined) return first;
    const accepted = ctx.accepts([...this.#mediaTypes]);
    if (typeof accepted === 'string') return accepted;
    throw new WavetrainError('not_acceptable', `this is answered as ${this.#mediaTypes.join(' or ')}`);
  }

  #declaredHeaders(ctx: Context): Record<string, unknown> {
    const sent = this.#declared.filter((name) => ctx.req.headers[name] !== undefined);
    return Object.fromEntries(sent.map((name) => [name, ctx.req.headers[name]]));
  }

  async #bodyOf(ctx: Context): Promise<Body> {
    const { body } = this.route;
    if (body === undefined) return NO_BODY;
    // Definitions come with a body that must be there; to check one takes longer than all else about a request.
    if (body.required !== false) await this.#services.registry.turn();
    const read = await this.#readBody(ctx, body.yaml !== undefined);
    if (read.yaml !== undefined) return read;
    if (read.json === undefined && body.required === false) return NO_BODY;
    if (read.json === undefined) throw new WavetrainError('invalid_request', 'the body is missing');
    refuse(misplacedIn(read.json, body.misplaced));
    refuse(this.#body?.(read.json));
    return read;
  }

  #send(ctx: Context, answer: Answer, accepts: string): void {
    const status = answer.status ?? this.#usualStatus;
    this.#checkAnswer(status, answer);
    if (answer.runId !== undefined) ctx.state['runId'] = answer.runId;
    ctx.status = status;
    ctx.set({ ...answer.headers });
    const raw = answer.text ?? answer.bytes;
    if (answer.stream !== undefined) stream(ctx, answer.stream);
    else if (raw !== undefined) {
      ctx.type = answer.type ?? accepts;
      ctx.body = raw;
    } else if (answer.body === undefined) ctx.body = null;
    else {
      ctx.type = 'application/json';
      // Now, for what cannot be written must be refused like everything else: Koa would answer in its own words.
      ctx.body = JSON.stringify(answer.body);
    }
    ctx.status = status;
    const { onSent } = answer;
    if (onSent) ctx.res.once('finish', onSent);
  }

  /** A client may rely on the documents, so an answer that is not as they say is a bug. */
  #checkAnswer(status: number, { body }: Answer): void {
    const complaint = body === undefined ? undefined : this.#answers.get(status)?.(body);
    if (complaint === undefined) return;
    const { method, path } = this.route;
    throw new Error(`${method} ${path} would answer ${status} with what its schema refuses: ${complaint}`);
  }
}

const JSON_TYPE = 'application/json';
const NO_BODY: Body = { json: undefined, yaml: undefined };
const NO_QUERY: TSchema = { type: 'object', additionalProperties: false };

function checker(schema: TSchema | undefined, noun: string, isText = false): Checker | undefined {
  if (schema === undefined) return undefined;
  return checkerOf(
    schema,
    { one: noun, all: noun === 'field' ? 'the body' : `the ${noun}s` },
    {
      isText,
      useDefaults: isText,
    },
  );
}

function answerCheckers({ answers }: Route): Map<number, Checker> {
  return new Map(
    Object.entries(answers).flatMap(([status, { schema }]) =>
      schema === undefined
        ? []
        : [[Number(status), checkerOf(schema, { one: 'field', all: 'the answer' })] as const],
    ),
  );
}

/** The first is for callers who take any. */
function mediaTypesOf({ answers, prefers }: Route): string[] {
  const types = Object.values(answers).flatMap(({ schema, media = {} }) => [
    ...(schema === undefined ? [] : ['application/json']),
    ...Object.keys(media),
  ]);
  if (prefers !== undefined) types.unshift(prefers);
  return types.length === 0 ? [JSON_TYPE] : [...new Set(types)];
}

function usualStatus({ answers }: Route): number {
  return Number(Object.keys(answers)[0] ?? 200);
}

function refuse(complaint: string | undefined): void {
  if (complaint !== undefined) throw new WavetrainError('invalid_request', complaint);
}

/** Koa would take a stream that the client left for an error; so the response is handed on. */
function stream(ctx: Context, write: NonNullable<Answer['stream']>): void {
  if (ctx.method === 'HEAD') return;
  ctx.respond = false;
  ctx.res.statusCode = ctx.status;
  write(ctx.res);
}

// The request's own `close` never comes once its body was read.
function goneSignal(ctx: Context): AbortSignal {
  const controller = new AbortController();
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) controller.abort();
  });
  return controller.signal;
}
