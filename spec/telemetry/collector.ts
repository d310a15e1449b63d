import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The body of an export request. */
export interface Delivery {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly Attribute[] };
      readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
    }[];
  };
}

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A local collector for traces by OTLP over HTTP. */
export class Collector {
  readonly deliveries: Delivery[] = [];
  readonly #server: Server;

  private constructor(status: number) {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.deliveries.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(body) });
        response.writeHead(status).end('{}');
      });
    });
  }

  /** @param status HTTP status of its responses */
  static async open(status: number): Promise<Collector> {
    const collector = new Collector(status);
    await new Promise<void>((resolve) => {
      collector.#server.listen(0, '127.0.0.1', resolve);
    });
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get spans(): SentSpan[] {
    return this.deliveries.flatMap(({ body }) =>
      body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
