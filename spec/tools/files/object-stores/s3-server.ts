import S3rver from '@20minutes/s3rver';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  ConnectionSource,
  ObjectStoreConnection,
} from '../../../../lib/tools/connections/connection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

/** Answers a request in place of the server, and returns true; false leaves it to the server. */
type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * A server that speaks the protocol of Amazon S3 on 127.0.0.1: S3rver, which checks signatures of version 4 and keeps objects in a
 * folder. It cannot abort uploads in parts: those that should be are in `aborted`.
 */
export class S3Server {
  /** The requests that have arrived, as `PUT /bucket/key?partNumber=1`. */
  readonly requests: string[] = [];
  readonly aborted: string[] = [];
  intercept: Intercept = () => false;
  readonly #folder = new TemporaryFolder();
  readonly #server: Server;
  #answer: RequestListener | undefined;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url}`);
      if (this.intercept(request, response)) return;
      const { searchParams } = new URL(request.url ?? '', this.url);
      const uploadId = searchParams.get('uploadId');
      if (request.method === 'DELETE' && uploadId !== null) {
        this.aborted.push(uploadId);
        response.writeHead(204).end();
      } else this.#answer?.(request, response);
    });
  }

  static async start(...buckets: readonly string[]): Promise<S3Server> {
    const server = new S3Server();
    const s3rver = new S3rver({
      directory: server.#folder.path,
      silent: true,
      vhostBuckets: false,
      configureBuckets: buckets.map((name) => ({ name, configs: [] })),
    });
    await s3rver.configureBuckets();
    server.#answer = s3rver.callback();
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The connection with the keys that the server knows. */
  connection(changes: Partial<ObjectStoreConnection> = {}): ObjectStoreConnection {
    const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    return { type: 's3', endpoint: this.url, region: 'us-east-1', ...keys, pathStyle: true, ...changes };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#folder.remove();
  }
}

/** The connections of the tenant `tenant`, by name. */
export function connectionsOf(
  connections: Readonly<Record<string, ObjectStoreConnection>>,
): ConnectionSource {
  const isTenant = (tenantId: string): boolean => tenantId === 'tenant';
  return {
    find: (tenantId, name) => (isTenant(tenantId) ? connections[name] : undefined),
    namesOf: (tenantId) => (isTenant(tenantId) ? Object.keys(connections).sort() : []),
  };
}
