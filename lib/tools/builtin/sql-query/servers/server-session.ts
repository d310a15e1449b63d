import type { Socket } from 'node:net';
import { ToolError } from '../../../../common/errors.js';
import type { ToolContext } from '../../../tool.js';
import type { SqlCursor, SqlSession, SqlTarget } from '../database.js';
import { SQL_LIMITS } from '../limits.js';
import type { BoundStatement } from '../statement.js';
import { readServerAddress, type ServerAddress } from './server-address.js';

/** The most characters of a message of a server. */
export const MAX_MESSAGE = 1000;

type Connect = (address: ServerAddress, readOnly: boolean, context: ToolContext) => Promise<SqlSession>;

/** Finds the server of a URL. @throws ToolError, not retryable */
export function findServer(
  { url, readOnly }: { readonly url: string; readonly readOnly: boolean },
  { name, defaultPort, connect }: { name: string; defaultPort: number; connect: Connect },
): SqlTarget {
  const address = readServerAddress(url, defaultPort);
  return {
    key: JSON.stringify([name, address, readOnly]),
    isLocal: false,
    connect: (context) => connect(address, readOnly, context),
  };
}

/** A session with a server over a socket, which can be used until it fails. */
export abstract class ServerSession implements SqlSession {
  protected readonly socket: Socket;
  /** The first one, which explains those after it. */
  #failure: unknown;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  abstract open(statement: BoundStatement, rowLimit: number, wantsCsv?: boolean): Promise<SqlCursor>;
  abstract control(verb: 'begin' | 'commit'): Promise<void>;
  abstract reset(isUntouched: boolean): Promise<void>;
  abstract close(): void;
  protected abstract logIn(): Promise<void>;
  /** Asks the server to end the query; resolves when the request was sent. */
  protected abstract requestEnd(): Promise<void>;
  /** @param what failed */
  protected abstract explain(error: unknown, what: string): ToolError;

  get isUsable(): boolean {
    return this.#failure === undefined && !this.socket.destroyed;
  }

  /** Logs in within the time that a connection may take. @param server as people call it */
  async begin(server: string, { clock, signal }: ToolContext): Promise<void> {
    const end = (): void => void this.socket.destroy();
    const timer = clock.setTimeout(end, SQL_LIMITS.connectMs);
    signal.addEventListener('abort', end);
    try {
      await this.logIn();
    } catch (error) {
      end();
      throw this.explain(this.#failure ?? error, `no connection to ${server}`);
    } finally {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  protected fail(error: unknown): void {
    this.#failure ??= error;
  }

  /** Ends the connection to a server that sends too much. */
  protected readonly breakOff = (error: ToolError): void => {
    this.fail(error);
    this.socket.destroy(error);
  };

  describe(error: unknown): ToolError {
    return this.explain(this.#failure ?? error, 'the query failed');
  }

  async cancel(): Promise<void> {
    this.fail(new ToolError('the query was stopped'));
    await this.requestEnd();
    this.socket.destroy();
  }

  keepAlive(isUsed: boolean): void {
    if (isUsed) this.socket.ref();
    else this.socket.unref();
  }
}
