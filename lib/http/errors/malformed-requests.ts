import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WavetrainError } from '../../common/errors.js';
import { PARSER_PAUSED } from '../security/chunk-limits.js';
import { SECURITY_HEADERS } from '../security/browser-guard.js';
import { errorResponse } from './error-response.js';

/** The last request on a connection whose headers arrived completely, and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * The last exchange of a connection. A field and not a WeakMap: V8 keeps alive what a WeakMap holds until the next full
 * garbage collection, and every request would live that long.
 */
const LAST_EXCHANGE = Symbol('last exchange');

type Connection = Duplex & { [LAST_EXCHANGE]?: Exchange };

/** Responds to requests that Node.js rejects before Koa sees them, with the same body as every other error (D32). */
export function handleMalformedRequests(server: Server): void {
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    (request.socket as Connection)[LAST_EXCHANGE] = { request, response };
  });
  // The body reader sends "100 Continue", so that a client does not send the body of a request that is rejected before.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, text } = formatResponse(
      invalidRequest('the only supported expectation is 100-continue'),
    );
    response.writeHead(status, headers).end(text);
  });
  const reject = (socket: Connection, error: WavetrainError): void => {
    afterLastResponse(socket[LAST_EXCHANGE], socket, () => writeError(error, socket));
  };
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    reject(socket, new WavetrainError('method_not_allowed', 'this server is not a proxy'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // A request whose parser was paused is refused already.
    if (error.code === PARSER_PAUSED) return;
    reject(socket, error instanceof WavetrainError ? error : toWavetrainError(error));
  });
}

/** Responses after which an error will be written: Node.js reports the same error again when more bytes arrive. */
const awaited = new WeakSet<ServerResponse>();

/**
 * Calls `respond` when the error may be written. If the malformed request follows one that is still being handled, it
 * waits for the response to that one, because the client would mistake the error for it.
 */
function afterLastResponse(last: Exchange | undefined, socket: Duplex, respond: () => void): void {
  if (last === undefined || (last.request.complete && last.response.writableFinished)) respond();
  else if (!last.request.complete && last.response.headersSent) socket.destroy();
  else if (!last.request.complete) respond();
  else if (!awaited.has(last.response)) {
    awaited.add(last.response);
    last.response.once('close', respond);
  }
}

function toWavetrainError({ code, reason }: NodeJS.ErrnoException & { reason?: unknown }): WavetrainError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new WavetrainError('header_too_large', 'the headers of the request are too large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new WavetrainError('body_too_large', 'the chunk extensions of the request are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new WavetrainError('request_timeout', 'the request did not arrive in time');
    default: {
      const details = typeof reason === 'string' ? `: ${reason}` : '';
      return invalidRequest(`malformed HTTP request${details}`);
    }
  }
}

function invalidRequest(message: string): WavetrainError {
  return new WavetrainError('invalid_request', message);
}

/** Writes an error where Node.js has created no response object, then closes the connection. */
export function writeError(error: WavetrainError, socket: Duplex): void {
  // Node.js has removed its own listener, and the sender may disconnect at any time.
  socket.on('error', () => socket.destroy());
  if (!socket.writable) return void socket.destroy();
  const { status, headers, text } = formatResponse(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\r\n');
  socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy());
}

function formatResponse(error: WavetrainError): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly text: string;
} {
  const { status, headers, body } = errorResponse(error);
  const text = JSON.stringify(body);
  return {
    status,
    headers: {
      ...SECURITY_HEADERS,
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
    },
    text,
  };
}
