import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WavetrainError } from '../common/errors.js';
import { errorAnswer } from './error-answer.js';
import { HEADERS_OF_EVERY_ANSWER } from './headers.js';

/** Answers without Koa, for the last time on this connection. */
export function respondWith(error: WavetrainError, response: ServerResponse): void {
  const { status, fields, text } = answerOf(error);
  response.writeHead(status, fields).end(text);
}

/** The same where there is no response to write to. Closes the connection, whatever its other end does. */
export function endWith(error: WavetrainError, socket: Duplex): void {
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
