import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../common/clock.js';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { FETCH_LIMITS } from '../../common/limits.js';
import { type Limit, shareLimit } from '../../common/memory/shared-limit.js';
import type { FetchedResponse, FetchOptions } from '../tool.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { NetworkList } from '../../common/requests/network-list.js';
import type { ClientCertificate, Outbound } from '../../common/requests/outbound.js';
import { pauseWhenOver } from '../../common/scheduling/run-in-slices.js';
import type { AddressRules } from './address-guard.js';
import { type ConnectCaller, connectGuarded } from './connect.js';
import {
  createRequest,
  describeRequest,
  type OutgoingRequest,
  redirectRequest,
  type RequestDraft,
} from './request.js';
import { RequestTimer } from '../../common/requests/request-timer.js';
import type { Routes } from './routes.js';
import { TenantRoutes } from './tenant-routes.js';
import { DecodingError, readBody, tooLargeError } from './response-body.js';

/** The attempt for which a request is sent. */
export interface FetchCaller {
  readonly tenantId: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Stops the time limit of the attempt; the returned function lets it go on. */
  readonly pauseTimeout: () => () => void;
  /** Takes memory of the run for what has arrived. Throws a ToolError when there is none left. */
  readonly reserve: (bytes: number) => void;
}

/** Sends the requests of tools (D51). */
export interface NetworkAccess {
  /** As `fetch` of a tool's context does. */
  fetch(url: string, options: FetchOptions, caller: FetchCaller): Promise<FetchedResponse>;
  /** As `connect` of a tool's context does. */
  connect(host: string, port: number, caller: ConnectCaller): Promise<Socket>;
  /** As `authorities` of a tool's context. */
  readonly authorities: readonly string[];
}

export interface NetworkOptions extends AddressRules {
  /**
   * The entries of a tenant, which are allowed beside those of `allowNetworks`. Connections are made anew when it returns
   * another list than before: return the same object for as long as it holds.
   */
  readonly allowNetworksOf?: ((tenantId: string) => readonly string[]) | undefined;
  /** The proxies, and the certificates of servers that are trusted. Default: none, and the built-in ones. */
  readonly outbound?: Outbound | undefined;
  /** Requests in flight at once. Default: 256, of which each tenant is guaranteed a tenth. */
  readonly inFlight?: Limit | undefined;
}

/**
 * Creates the access of tools to the network: to public addresses only, unless the options say otherwise (D51).
 *
 * @throws Error for a wrong entry of `allowNetworks`
 */
export function networkAccess(options: NetworkOptions = {}): NetworkAccess {
  NetworkList.parse(options.allowNetworks ?? []);
  return new GuardedNetwork(options);
}

class GuardedNetwork implements NetworkAccess {
  readonly authorities: readonly string[];
  readonly #routes: TenantRoutes;
  readonly #inFlight: ConcurrencyLimiter;

  constructor({ inFlight, ...rules }: NetworkOptions) {
    this.authorities = rules.outbound?.authorities ?? [];
    this.#routes = new TenantRoutes(rules);
    const limit = inFlight ?? shareLimit(FETCH_LIMITS.inFlight);
    this.#inFlight = new ConcurrencyLimiter(limit, stoppedError);
  }

  async connect(host: string, port: number, caller: ConnectCaller): Promise<Socket> {
    const { guard } = await this.#routes.of(caller.tenantId);
    return await connectGuarded(guard, { hostname: host, port }, caller);
  }

  async fetch(url: string, options: FetchOptions, caller: FetchCaller): Promise<FetchedResponse> {
    const request = createRequest(url, options);
    const { tenantId, pauseTimeout } = caller;
    const routes = await this.#routes.of(tenantId);
    const signal = options.outlivesAttempt === true ? new AbortController().signal : caller.signal;
    if (signal.aborted) throw stoppedError(signal);
    return await this.#inFlight.run({ tenant_id: tenantId, signal, pauseTimeout }, () =>
      new Exchange(routes, options, { ...caller, signal }).run(request),
    );
  }
}

/** The error of a request whose attempt has ended. */
function stoppedError({ reason }: AbortSignal): ToolError {
  return new ToolError('the request was stopped', { retryable: false, cause: reason });
}

/** Time for a request that is sent although its attempt is over. */
const CLEAN_UP_MS = 10_000;

/** One request of a tool, with the redirects that it follows. */
class Exchange {
  readonly #routes: Routes;
  readonly #client: ClientCertificate | undefined;
  readonly #caller: FetchCaller;
  readonly #maxBytes: number;
  readonly #timeoutMs: number;
  readonly #isTransfer: boolean;
  /** Bytes of the current response that have arrived; undefined before its headers have. */
  #arrivedBytes: number | undefined;

  constructor(routes: Routes, options: FetchOptions, caller: FetchCaller) {
    this.#routes = routes;
    this.#client = options.clientCertificate;
    this.#caller = caller;
    this.#maxBytes = options.maxBytes ?? FETCH_LIMITS.responseBytes;
    const timeoutMs = options.timeoutMs ?? FETCH_LIMITS.timeoutMs;
    this.#timeoutMs = options.outlivesAttempt === true ? Math.min(timeoutMs, CLEAN_UP_MS) : timeoutMs;
    this.#isTransfer = options.isTransfer === true;
  }

  async run(draft: RequestDraft): Promise<FetchedResponse> {
    const { clock, signal } = this.#caller;
    const idleMs = this.#isTransfer ? this.#timeoutMs : FETCH_LIMITS.idleMs;
    const timer = new RequestTimer(clock, { totalMs: this.#timeoutMs, idleMs }, signal);
    let request: OutgoingRequest = { ...draft, body: undefined };
    const own = this.#client && this.#routes.withCertificate(this.#client);
    try {
      if (own !== undefined && draft.url.protocol !== 'https:')
        throw ToolError.nonRetryable('a client certificate needs a URL with https');
      request = { ...draft, body: await this.#makeBody(draft) };
      for (let redirects = 0; redirects <= FETCH_LIMITS.redirects; redirects++) {
        // As a key, the certificate is shown to the origin alone that it was given for.
        const routes = request.url.origin === draft.url.origin ? own : undefined;
        const answer = await this.#send(request, routes ?? this.#routes, timer);
        if ('bytes' in answer) return answer;
        request = answer;
      }
      throw ToolError.nonRetryable(`more than ${FETCH_LIMITS.redirects} redirects, the last one to here`);
    } catch (error) {
      if (signal.aborted) throw stoppedError(signal);
      throw this.#describeFailure(request, error);
    } finally {
      timer.stop();
      void own?.close();
    }
  }

  /** Makes the body of a request that is sent now, and takes memory of the run for it. */
  async #makeBody({ body }: RequestDraft): Promise<string | Uint8Array | undefined> {
    const made = typeof body === 'function' ? await body() : body;
    if (made !== undefined) this.#reserve(made.length);
    return made;
  }

  /** Takes memory of the run, unless the tool has done so. */
  readonly #reserve = (bytes: number): void => {
    if (!this.#isTransfer) this.#caller.reserve(bytes);
  };

  /** Returns the response, or the request that follows from a redirect. */
  async #send(
    request: OutgoingRequest,
    routes: Routes,
    timer: RequestTimer,
  ): Promise<FetchedResponse | OutgoingRequest> {
    this.#arrivedBytes = undefined;
    const { url, method, headers, body: sent = null } = request;
    const dispatcher = await routes.to(url);
    const { statusCode, body, ...response } = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: Object.fromEntries(headers),
      body: sent,
      signal: timer.signal,
    });
    timer.touch();
    this.#arrivedBytes = 0;
    const received = joinHeaders(response.headers);
    try {
      const next = this.#isTransfer ? undefined : redirectRequest(request, statusCode, received['location']);
      if (next !== undefined) return next;
      if (method !== 'HEAD' && Number(received['content-length']) > this.#maxBytes)
        throw tooLargeError(this.#maxBytes);
      const bytes = await readBody(body, this.#isTransfer ? undefined : received['content-encoding'], {
        maxBytes: this.#maxBytes,
        onKept: this.#reserve,
        pause: () => pauseWhenOver({ tenant_id: this.#caller.tenantId, signal: this.#caller.signal }),
        onArrived: (count) => {
          timer.touch();
          this.#arrivedBytes = (this.#arrivedBytes ?? 0) + count;
        },
      });
      const proxy = routes.proxyOf(url);
      return { url: url.href, status: statusCode, headers: received, bytes, ...(proxy && { proxy }) };
    } finally {
      discard(body);
    }
  }

  #describeFailure(request: OutgoingRequest, error: unknown): ToolError {
    const what = describeRequest(request);
    if (error instanceof ToolError)
      return new ToolError(`${what}: ${error.message}`, { retryable: error.retryable });
    return new ToolError(`${what} failed: ${this.#explain(error)}`, { cause: error });
  }

  #explain(error: unknown): string {
    if (error instanceof DecodingError) return 'the response cannot be unpacked';
    const code = errorCode(error) ?? '';
    const known = FAILURES.get(code);
    if (known !== undefined) return known;
    if (this.#arrivedBytes !== undefined) return `the response was cut off after ${this.#arrivedBytes} bytes`;
    if (error instanceof Error && error.name === 'HTTPParserError') return 'the answer is not HTTP';
    return errorMessage(error);
  }
}

const UNTRUSTED =
  'the certificate of the server is from an authority that is not trusted: add that of the authority to the file of SERVICE_CA_FILE';

/** Describes failures before an answer came, by the codes of Node.js and undici. */
const FAILURES: ReadonlyMap<string, string> = new Map([
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
  ['ECONNREFUSED', 'nothing answers at this address'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network cannot be reached'],
  ['ENOTFOUND', 'there is no host of this name'],
  ...[
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ].map((code): [string, string] => [code, UNTRUSTED]),
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'the server asks for a client certificate'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the headers of the answer are too large'],
]);

/** Reads nothing more of a response; its connection is closed unless all of it has arrived. */
function discard(body: Dispatcher.ResponseData['body']): void {
  if (body.readableEnded || body.destroyed) return;
  // Destroying emits what the connection says to that, which nobody needs.
  body.on('error', () => undefined);
  body.destroy();
}

function joinHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const joined = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(', ')]],
  );
  return Object.fromEntries(joined);
}
