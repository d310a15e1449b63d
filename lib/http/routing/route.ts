import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Static, TObject, TSchema } from 'typebox';
import type { Caller, KeyScope } from '../auth/authenticate.js';
import type { HttpErrorCode } from '../errors/error-statuses.js';

/** A request as its handler receives it: every part has passed the schema of the route. */
export interface RouteRequest<P extends TObject, Q extends TObject, H extends TObject, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  /** The headers that the route declares, by their lower-case names. */
  readonly headers: Static<H>;
  /** Undefined when the body was YAML, or an optional body was omitted. */
  readonly body: Static<B> | undefined;
  /** The text of a YAML body. */
  readonly yaml: string | undefined;
  readonly caller: Caller;
  /** The media type of the response that the caller prefers. */
  readonly mediaType: string;
  /** Creates a signal that aborts when the client disconnects, or its key is revoked, before the response was sent. */
  disconnected(): AbortSignal;
  /** The IP address that the request came from. */
  readonly address: string;
  /** To be called once the body is part of a run, which counts its memory from then on. */
  releaseBody(): void;
  /** To be called before the handler waits for others, such as a language model, so that other large bodies do not. */
  endTurn(): void;
}

/** The parts of a request that are known before its body was received. */
export type RequestStart<P extends TObject, Q extends TObject, H extends TObject> = Pick<
  RouteRequest<P, Q, H, TSchema>,
  'params' | 'query' | 'headers' | 'address'
>;

/** How the body of a request proves who pays for it, when nothing else of the request does. */
export interface BodyProof {
  /**
   * Returns the tenant that pays for the body from now on.
   *
   * @throws WavetrainError the error to answer, when the text proves nothing
   */
  check(text: string): string;
  /** Called when the body has proved nothing, or has not arrived; with the bytes that have. */
  fail(bytes: number): void;
}

/** A text that is made while it is sent: each chunk when the connection has accepted the one before. */
export interface TextChunks {
  /** The next chunk, of about 64 KiB; empty after the last one. */
  next(): string;
  /** Called at the end, also when the client has left. */
  close(): void;
}

/** The response that a handler returns. */
export interface RouteResult {
  /** Default: the first status that the route documents. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; undefined sends no body. */
  readonly body?: unknown;
  /** The body is known to be longer than what is sent in one piece: looking at very many keys again takes long. */
  readonly isLong?: boolean;
  /** The body is part of the run `runId`, whose memory counts until the response was sent. */
  readonly isRunData?: boolean;
  /** Sent unchanged instead of `body`, in the media type of `type` or else the negotiated one. */
  readonly text?: string;
  /** Like `text`, for the content of a file, which all responses share. */
  readonly bytes?: Buffer;
  readonly type?: string;
  /** Like `bytes`, for a file that is read while it is sent, and closed then. */
  readonly file?: FileHandle;
  /** Like `text`, for one that is made while it is sent. Not called for HEAD. Rejects with an error to answer. */
  readonly chunks?: () => Promise<TextChunks>;
  /** Takes over the connection after the head was written. */
  readonly stream?: (response: ServerResponse) => void;
  /** The run that the request was about, for the log. */
  readonly runId?: string;
  /** The code of the error that is returned, for the log and the metrics. */
  readonly code?: string;
  /** Called when the whole response was sent; never called when the client disconnected before. */
  readonly onSent?: () => void;
}

export interface ResponseDocument {
  readonly description: string;
  /** Schema of a JSON body. */
  readonly schema?: TSchema;
  /** Other media types of the body, each with an example. */
  readonly media?: Readonly<Record<string, string>>;
  /** Descriptions of headers, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BodyDocument<B extends TSchema> {
  readonly schema: B;
  /** An example of a definition sent as YAML. The route accepts YAML only if there is one. */
  readonly yaml?: string;
  /** Fields that belong to another route, by name, with the advice for the caller. */
  readonly misplacedFields?: Readonly<Record<string, string>>;
  /** Default true. */
  readonly required?: boolean;
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface RouteDeclaration<
  P extends TObject,
  Q extends TObject,
  H extends TObject,
  B extends TSchema,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With parameters written as `{name}`. */
  readonly path: string;
  /** Words that its first parameter cannot be, because other routes have them there. */
  readonly reserved?: Iterable<string>;
  /** The operation id, after which generated clients name their method. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Made for browsers, and therefore omitted from the OpenAPI document. */
  readonly isPage?: boolean;
  /** Accepts any query and any Accept header, because health probes send both. */
  readonly isProbe?: boolean;
  /** Monitors send it all the time: the log has only the requests that have failed. */
  readonly isPolled?: boolean;
  /**
   * Waits until the runs of the caller's tenants are taken over from the store (D68): `all`, or `known`, those that have not
   * settled, since settled ones are in its archive but for those of an earlier version.
   */
  readonly listsRuns?: 'known' | 'all';
  /** The handler opens the run that the path names, or a part of it, and checks that the caller may see it. */
  readonly opensRun?: boolean;
  /** The scope that a key needs; `any` accepts every key, `open` needs none. */
  readonly access: KeyScope | 'open' | 'any';
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: BodyDocument<B>;
  /**
   * Resolves with the tenant that pays for the body, or with how the body will prove which one does. Rejects with the
   * error to answer. A route that needs no key and has a body must have it.
   */
  readonly admit?: (request: RequestStart<P, Q, H>) => Promise<string | BodyProof>;
  /** Media type of the response for callers that accept any; default JSON. */
  readonly defaultMediaType?: string;
  /** By status; the first is the default. */
  readonly responses: Readonly<Record<number, ResponseDocument>>;
  /** The error codes of this route alone; those of authentication, bodies and internal errors are added. */
  readonly errors?: readonly HttpErrorCode[];
  readonly handle: (request: RouteRequest<P, Q, H, B>) => RouteResult | Promise<RouteResult>;
}

/** A route as the router and the OpenAPI document read it. */
export type Route = RouteDeclaration<TObject, TObject, TObject, TSchema>;

/** Declares a route. Requests are validated before `handle` is called, and its results before they are sent. */
export function defineRoute<P extends TObject, Q extends TObject, H extends TObject, B extends TSchema>(
  declaration: RouteDeclaration<P, Q, H, B>,
): Route {
  return declaration;
}
