import type { Dispatcher } from 'undici';
import type { Meter } from './meter.js';
import type { Outbound } from './outbound.js';
import { createConnector, patientOptions, withProxies } from './outbound-agent.js';

/** Why a request is given up that was answered. */
export type RefusedResponse = 'redirected' | 'too_large';

export interface BoundedFetchOptions {
  /** Time for connecting, in milliseconds. */
  readonly connectMs: number;
  /** Creates what measures the body of a response, while it arrives. */
  readonly createMeter: (headers: Headers) => Meter;
  /** Time for which an idle connection is kept, in milliseconds. Default: that of undici, 4 s. */
  readonly keepAliveMs?: number;
  /** The proxies, and the certificates that are trusted. Default: none, and the built-in ones. */
  readonly outbound?: Outbound | undefined;
  /** Creates the error with which `fetch` rejects, or with which the body ends. */
  readonly createError: (refused: RefusedResponse, message: string) => Error;
}

/**
 * Creates the `fetch` for servers that the operator has configured: the guard of tools does not hold for them, and the
 * time limits are those of the caller, since that of Node.js would end every slow answer after 5 minutes. An answer
 * is bounded before anybody parses it. No redirect is followed: it would send the keys of the operator, which stand in
 * headers of many names, to an address that nobody has configured.
 */
export function createBoundedFetch(options: BoundedFetchOptions): typeof globalThis.fetch {
  let loaded: Promise<typeof globalThis.fetch> | undefined;
  return async (input, init) => {
    loaded ??= load(options);
    const send = await loaded;
    const response = await send(input, { ...init, redirect: 'manual' });
    const { status, headers } = response;
    const location = REDIRECTS.has(status) ? headers.get('location') : null;
    if (location === null) return limitBody(response, options);
    await response.body?.cancel();
    const from = input instanceof Request ? input.url : String(input);
    throw options.createError('redirected', describeRedirect(location, from));
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function load(options: BoundedFetchOptions): Promise<typeof globalThis.fetch> {
  const { fetch } = await import('undici');
  const dispatcher = await createPatientAgent(options);
  const send = (input: unknown, init: object = {}): Promise<unknown> =>
    fetch(input as Parameters<typeof fetch>[0], { ...init, dispatcher });
  return send as typeof globalThis.fetch;
}

/** Creates the connections to such servers: only connecting has a time limit, since the callers have theirs. */
export async function createPatientAgent({
  outbound,
  ...options
}: Pick<BoundedFetchOptions, 'connectMs' | 'keepAliveMs' | 'outbound'>): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  const direct = new Agent(patientOptions(await createConnector(outbound, options), options));
  return outbound === undefined ? direct : await withProxies(direct, outbound, options);
}

/** Without the user, the password and the query of the address, which may be secret. */
export function describeRedirect(location: string, from: string): string {
  if (!URL.canParse(location, from)) return 'the address redirects to one that cannot be read';
  const { origin, pathname } = new URL(location, from);
  return `the address redirects to ${origin}${pathname.slice(0, MAX_PATH_LENGTH)}: configure an address there`;
}

const MAX_PATH_LENGTH = 200;

function limitBody(response: Response, { createMeter, createError }: BoundedFetchOptions): Response {
  if (response.body === null) return response;
  const meter = createMeter(response.headers);
  const measuring: TransformStream<Uint8Array, Uint8Array> = new TransformStream({
    transform(chunk, controller) {
      const exceeded = meter.add(chunk);
      if (exceeded === undefined) controller.enqueue(chunk);
      else controller.error(createError('too_large', `the answer has more than ${exceeded}`));
    },
  });
  const { status, statusText, headers, body } = response;
  return new Response(body.pipeThrough(measuring), {
    status,
    statusText,
    headers: Object.fromEntries(headers),
  });
}
