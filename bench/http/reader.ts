import { connect, type Socket } from 'node:net';

/** Longer than the last event of a stream. */
const TAIL = 2000;

/** Reads a stream of events as fast as it comes and looks only at its end: a thousand of them share one process. */
export class Reader {
  /** The number of the last event, once the server has ended the stream. */
  readonly ended: Promise<number>;

  private constructor(socket: Socket) {
    let tail = '';
    socket.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('latin1')).slice(-TAIL);
    });
    this.ended = new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => resolve(lastIn(tail)));
    });
  }

  /** Fulfilled when the server has begun to answer. */
  static async open(url: string, runId: string): Promise<Reader> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    const reader = new Reader(socket);
    socket.write(
      `GET /pipelines/runs/${runId}/events HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n`,
    );
    await new Promise((resolve) => {
      socket.once('data', resolve);
    });
    return reader;
  }
}

function lastIn(text: string): number {
  return Number([...text.matchAll(/^id: ?(\d+)/gm)].at(-1)?.[1] ?? 0);
}
