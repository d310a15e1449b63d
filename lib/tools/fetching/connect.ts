import { connect, Socket } from 'node:net';
import type { Clock } from '../../common/clock.js';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import { type NetworkTarget, withoutBrackets } from '../../common/requests/network-list.js';
import type { AddressGuard } from './address-guard.js';

/** The attempt for which a connection is opened. */
export interface ConnectCaller {
  readonly tenantId: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 10_000;

const KEEP_ALIVE_MS = 60_000;

/**
 * Begins a TCP connection to an address that the guard allows (D51): the one that was checked, which is looked up once.
 * The socket fails with a ToolError, without the address, when the guard allows none.
 *
 * @param onEnd called once, when the connection is open or has failed
 */
export function startGuarded(
  guard: AddressGuard,
  target: NetworkTarget,
  onEnd: (error: Error | null) => void,
): Socket {
  const { hostname, port } = target;
  const refusal = guard.refuseLiteral(target);
  const socket =
    refusal === undefined
      ? connect({
          host: withoutBrackets(hostname),
          port,
          lookup: guard.lookupFor(target),
          noDelay: true,
          keepAlive: true,
          keepAliveInitialDelay: KEEP_ALIVE_MS,
        })
      : new Socket().destroy(refusal);
  socket.once('error', onEnd);
  socket.once('connect', () => {
    socket.off('error', onEnd);
    const late = guard.refuseConnected(target, socket.remoteAddress);
    if (late !== undefined) socket.destroy();
    onEnd(late ?? null);
  });
  return socket;
}

/** Opens a TCP connection within these rules. Rejects with a ToolError without the address. */
export function connectGuarded(
  guard: AddressGuard,
  target: NetworkTarget,
  { clock, signal }: ConnectCaller,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const end = (error: ToolError): void => {
      stop();
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => end(ToolError.nonRetryable('the connection was stopped'));
    const socket = startGuarded(guard, target, (error) => {
      if (error !== null) return end(describe(error));
      stop();
      resolve(socket);
    });
    const timer = clock.setTimeout(
      () => end(new ToolError(`no connection within ${CONNECT_MS / 1000} s`)),
      CONNECT_MS,
    );
    const stop = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.on('error', () => undefined);
    };
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
  ['ECONNREFUSED', 'nothing answers at this address'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network cannot be reached'],
  ['ENOTFOUND', 'there is no host of this name'],
  ['ETIMEDOUT', 'the host does not answer'],
]);

function describe(error: Error): ToolError {
  if (error instanceof ToolError) return error;
  const code = errorCode(error) ?? '';
  return new ToolError(REASONS.get(code) ?? (code === '' ? errorMessage(error) : code), { cause: error });
}
