import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { errorCode, errorMessage } from '../errors.js';
import { withoutBrackets } from './network-list.js';
import type { Outbound, ProxyServer } from './outbound.js';

/** Time in which a proxy has to answer. */
const ANSWER_MS = 30_000;

/**
 * Has a proxy connect to a host, for TLS inside of the connection. Rejects with an Error that says why the proxy did not.
 *
 * @param authority host and port
 */
export function openTunnel(
  { url, headers }: ProxyServer,
  authority: string,
  outbound: Outbound,
): Promise<Socket> {
  const secureContext = outbound.secureContext();
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send({
      method: 'CONNECT',
      host: withoutBrackets(url.hostname),
      port: url.port,
      path: authority,
      headers: { host: authority, ...headers },
      agent: false,
      ...(secureContext && { secureContext }),
    });
    const refuse = (status: number | undefined, socket: Socket): void => {
      socket.destroy();
      reject(refusedTunnel(url, status));
    };
    request.setTimeout(ANSWER_MS, () => request.destroy(new Error(`no answer within ${ANSWER_MS / 1000} s`)));
    request.once('error', (error) => reject(describeProxyError(url, error)));
    request.once('response', ({ statusCode, socket }) => refuse(statusCode, socket));
    request.once('connect', ({ statusCode }, socket: Socket, head) => {
      if (statusCode !== 200) return refuse(statusCode, socket);
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.end();
  });
}

function refusedTunnel({ host }: URL, status = 0): Error {
  const reason =
    status === 407
      ? 'wants a user and a password: write them into its address, as in HTTPS_PROXY=http://user:password@host:port'
      : `refused to connect, with status ${status}`;
  return new Error(`the proxy ${host} ${reason}`);
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing answers at its address'],
  ['ENOTFOUND', 'there is no host of its name'],
  ['EAI_AGAIN', 'its name cannot be looked up now'],
  ['ECONNRESET', 'it closed the connection'],
  ['ETIMEDOUT', 'it does not answer'],
]);

/** The error of a request that did not get as far as its proxy. */
export function describeProxyError({ host }: URL, cause: unknown): Error {
  const reason = REASONS.get(errorCode(cause) ?? '') ?? errorMessage(cause);
  return new Error(`the proxy ${host} cannot be used: ${reason}`, { cause });
}

/** Returns an error for whatever was thrown. */
export function toConnectError(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorMessage(error));
}
