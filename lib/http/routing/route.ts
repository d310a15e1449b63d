import type { ServerResponse } from 'node:http';
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../../common/errors.js';
import type { Caller, Scope } from '../auth/caller.js';

/** What a handler is given: everything in it has passed its schema. */
export interface Request<P extends TObject, Q extends TObject, H extends TObject, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  /** The headers that the route declares, by their names in lower case. */
  readonly headers: Static<H>;
  /** Undefined when the body was YAML, or left out where it may be. */
  readonly body: Static<B> | undefined;
  /** The body as it came, when it was YAML. */
  readonly yaml: string | undefined;
  readonly caller: Caller;
  /** The media type that the caller wants, of those the route answers with. */
  readonly accepts: string;
  /** Fires when the caller has gone before the answer was sent. */
  readonly gone: () => AbortSignal;
}

/** What a handler answers. `status` is the first that the route documents, unless given. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; undefined is no body. */
  readonly body?: unknown;
  /** Sent as it is, in the media type the route documents or the one given. */
  readonly text?: string;
  /** As `text`, of what is none. */
  readonly bytes?: Buffer;
  readonly type?: string;
  /** Takes over the connection after status and headers were set. */
  readonly stream?: (response: ServerResponse) => void;
  /** Of the run that the request was about, for the log. */
  readonly runId?: string;
  /** Called once the answer has left this process whole; not when the caller was gone before. */
  readonly onSent?: () => void;
}

export interface AnswerDocument {
  readonly description: string;
  /** Of a JSON body. */
  readonly schema?: TSchema;
  /** Other media types that the body may have, each with an example. */
  readonly media?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface BodyDocument<B extends TSchema> {
  readonly schema: B;
  /** An example of the definition alone, where that may be sent as YAML. */
  readonly yaml?: string;
  /** Fields that belong into other requests, with what the caller is told. */
  readonly misplaced?: Readonly<Record<string, string>>;
  /** Default true. */
  readonly required?: boolean;
  readonly examples?: Readonly<Record<string, unknown>>;
}

interface Declaration<P extends TObject, Q extends TObject, H extends TObject, B extends TSchema> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With parameters as `{name}`. */
  readonly path: string;
  /** Names the operation in clients that are made from the document. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Made for browsers: served like the rest, and left out of the OpenAPI document. */
  readonly isPage?: boolean;
  /** Takes any query and any Accept header: probes send what they like. */
  readonly isProbe?: boolean;
  /** What a key must be good for; `open` needs none, `any` only has to be a key. */
  readonly access: Scope | 'open' | 'any';
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: BodyDocument<B>;
  /** The media type for callers who take any; JSON unless given. */
  readonly prefers?: string;
  /** By status; the first is the usual one. */
  readonly answers: Readonly<Record<number, AnswerDocument>>;
  /** The errors that only this route has; those of access, bodies and bugs are added. */
  readonly errors?: readonly ErrorCode[];
  readonly handle: (request: Request<P, Q, H, B>) => Answer | Promise<Answer>;
}

/** A route as the router and the documents see it. */
export type Route = Declaration<TObject, TObject, TObject, TSchema>;

/** Declares a route: what it takes is checked before its handler sees it, what it answers before it leaves. */
export function route<P extends TObject, Q extends TObject, H extends TObject, B extends TSchema>(
  declaration: Declaration<P, Q, H, B>,
): Route {
  return declaration;
}
