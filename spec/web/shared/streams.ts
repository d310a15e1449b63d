import type { RunRecord } from '../../../lib/runs/record.js';

/** A server whose streams the spec writes. */
export class Streams {
  readonly asked: string[] = [];
  /** The statuses of the next answers other than streams; then all are 200. */
  failures: number[] = [];
  /** Paths with this text are answered with 503. */
  failsOn: string | undefined;
  /** Answers a path. */
  answer: (path: string) => unknown = () =>
    ({ run_id: 'r1', status: 'running' }) satisfies Partial<RunRecord>;
  /** The Last-Event-ID of each connection, and what writes to it. */
  readonly opened: { readonly after: string | null; readonly write: (text: string) => void }[] = [];
  /** Connections that the page has closed. */
  closed = 0;

  readonly fetch: typeof fetch = (path, init) => {
    const address = path instanceof Request ? path.url : path.toString();
    const headers = new Headers(init?.headers);
    if (headers.get('accept') !== 'text/event-stream') {
      this.asked.push(address);
      const failure = this.failures.shift();
      if (this.failsOn !== undefined && address.includes(this.failsOn))
        return Promise.resolve(new Response('', { status: 503 }));
      if (failure !== undefined) return Promise.resolve(new Response('', { status: failure }));
      return Promise.resolve(Response.json(this.answer(address)));
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        init?.signal?.addEventListener('abort', () => {
          this.closed++;
          controller.error(new Error('aborted'));
        });
        this.opened.push({
          after: headers.get('last-event-id'),
          write: (text) => controller.enqueue(new TextEncoder().encode(text)),
        });
      },
    });
    return Promise.resolve(new Response(body));
  };
}
