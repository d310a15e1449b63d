import { connect, type Socket } from 'node:net';
import type { Clock } from '../../common/clock.js';
import { errorCode, errorMessage, ToolError } from '../../common/errors.js';
import type { AddressGuard } from './address-guard.js';

/** The attempt for which a connection is opened. */
export interface ConnectCaller {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 10_000;

/**
 * Opens a TCP connection to an address that the guard allows (D51): the one that was checked, which is looked up once.
 * Rejects with a ToolError without the address.
 */
export function connectGuarded(
  guard: AddressGuard,
  host: string,
  port: number,
  { clock, signal }: ConnectCaller,
): Promise<Socket> {
  const refusal = guard.refuseLiteral(host);
  if (refusal !== undefined) return Promise.reject(refusal);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: guard.lookup });
    const end = (error: ToolError): void => {
      stop();
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => end(ToolError.nonRetryable('the connection was stopped'));
    const onError = (error: Error): void => end(describe(error));
    const timer = clock.setTimeout(
      () => end(new ToolError(`no connection within ${CONNECT_MS / 1000} s`)),
      CONNECT_MS,
    );
    const stop = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      socket.on('error', () => undefined);
    };
    signal.addEventListener('abort', onAbort);
    socket.once('error', onError);
    socket.once('connect', () => {
      const late = guard.refuseConnected(socket.remoteAddress);
      if (late !== undefined) return end(late);
      stop();
      resolve(socket);
    });
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
