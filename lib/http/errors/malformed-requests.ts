import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { WavetrainError } from '../../common/errors.js';
import { HEADERS_OF_EVERY_ANSWER } from '../security/headers.js';
import { errorAnswer } from './error-response.js';

/** The last request that a connection brought whole up to its body, and the answer to it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers requests that are broken before Koa sees them in the shape of every other error (D32). */
export function answerBrokenRequests(server: Server): void {
  const exchanges = new WeakMap<Duplex, Exchange>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.set(request.socket, { request, response });
  });
  // Whoever reads the body gives leave to send it: what is refused need not be sent at all.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    respondWith(invalid('no expectation but 100-continue is met'), response);
  });
  const refuse = (socket: Duplex, error: WavetrainError): void => {
    whenItsTurn(exchanges.get(socket), socket, () => endWith(error, socket));
  };
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuse(socket, new WavetrainError('method_not_allowed', 'this server is no proxy'));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    refuse(socket, refusalOf(error));
  });
}

/** Answers that something broken waits behind; every further piece of it is told again. */
const awaited = new WeakSet<ServerResponse>();

/**
 * What is broken may be the last request, or one behind it that comes while the last one is still at work: then its
 * answer must wait, or it would be taken for the other's.
 */
function whenItsTurn(last: Exchange | undefined, socket: Duplex, answer: () => void): void {
  if (last === undefined || (last.request.complete && last.response.writableFinished)) answer();
  else if (!last.request.complete && last.response.headersSent) socket.destroy();
  else if (!last.request.complete) answer();
  else if (!awaited.has(last.response)) {
    awaited.add(last.response);
    last.response.once('close', answer);
  }
}

function refusalOf({ code, reason }: NodeJS.ErrnoException & { reason?: unknown }): WavetrainError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new WavetrainError('header_too_large', 'the headers of the request are too large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new WavetrainError('body_too_large', 'the extensions of the chunks are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new WavetrainError('request_timeout', 'the request did not arrive in time');
    default: {
      const why = typeof reason === 'string' ? `: ${reason}` : '';
      return invalid(`this is no request of HTTP/1.1${why}`);
    }
  }
}

function invalid(message: string): WavetrainError {
  return new WavetrainError('invalid_request', message);
}

/** Answers without Koa, for the last time on this connection. */
function respondWith(error: WavetrainError, response: ServerResponse): void {
  const { status, fields, text } = answerOf(error);
  response.writeHead(status, fields).end(text);
}

/** The same where there is no response to write to. Closes the connection, whatever its other end does. */
function endWith(error: WavetrainError, socket: Duplex): void {
  // Nobody else listens any more, and whoever sends what is broken may leave at any time.
  socket.on('error', () => socket.destroy());
  if (!socket.writable) return void socket.destroy();
  const { status, fields, text } = answerOf(error);
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\r\n');
  socket.end(`${head}\r\n\r\n${text}`, () => socket.destroy());
}

function answerOf(error: WavetrainError): {
  readonly status: number;
  readonly fields: Readonly<Record<string, string | number>>;
  readonly text: string;
} {
  const { status, headers, body } = errorAnswer(error);
  const text = JSON.stringify(body);
  const fields = {
    ...HEADERS_OF_EVERY_ANSWER,
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
  return { status, fields, text };
}
