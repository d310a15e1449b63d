import { connect as connectSocket, type Socket } from 'node:net';
import type { Client } from 'pg';
import { errorMessage, ToolError } from '../../../../../common/errors.js';
import { cutText } from '../../../../../common/text.js';
import type { ToolContext } from '../../../../tool.js';
import type { SqlDatabase, SqlSession } from '../../database.js';
import { SQL_LIMITS } from '../../limits.js';
import { certificateChecks, type ServerAddress } from '../server-address.js';
import { findServer, MAX_MESSAGE, ServerSession } from '../server-session.js';
import type { BoundStatement } from '../../statement.js';
import { POSTGRES } from '../../tokens.js';
import { Portal } from './portal.js';
import { watchMessages } from './message-sizes.js';

/** PostgreSQL, by the package `pg`. */
export const postgres: SqlDatabase = {
  dialect: POSTGRES,
  check: () => undefined,
  prepare: async (request) => findServer(request, { name: 'postgres', defaultPort: 5432, connect }),
};

async function connect(address: ServerAddress, readOnly: boolean, context: ToolContext): Promise<SqlSession> {
  const { Client: PgClient } = (await import('pg')).default;
  const socket = await context.connect(address.host, address.port);
  const remote = { host: socket.remoteAddress ?? '', port: address.port };
  // The socket is connected already, to the address that was checked.
  socket.connect = () => {
    queueMicrotask(() => void socket.emit('connect'));
    return socket;
  };
  const { host, port, user, password, database, tls } = address;
  const client = new PgClient({
    host,
    port,
    user,
    // A function: without a password, pg would look into the environment and the home folder of the server.
    password: () => password,
    database: database === '' ? user : database,
    ssl: tls !== 'disable' && certificateChecks(tls, context.authorities),
    application_name: 'wavetrain',
    stream: () => socket,
  });
  const session = new PostgresSession(client, socket, remote, readOnly);
  await session.begin('PostgreSQL', context);
  return session;
}

class PostgresSession extends ServerSession {
  readonly #client: Client;
  readonly #remote: { readonly host: string; readonly port: number };
  readonly #readOnly: boolean;

  constructor(
    client: Client,
    socket: Socket,
    remote: { readonly host: string; readonly port: number },
    readOnly: boolean,
  ) {
    super(socket);
    this.#client = client;
    this.#remote = remote;
    this.#readOnly = readOnly;
    client.on('error', (error) => this.fail(error));
  }

  protected async logIn(): Promise<void> {
    watchMessages(this.#client, this.breakOff);
    await this.#client.connect();
    await this.#set();
  }

  /** Values have one form, whatever the settings of the server, the database and the user are. */
  async #set(): Promise<void> {
    await this.#client.query(
      `SET datestyle = ISO; SET timezone = 'UTC'; SET intervalstyle = iso_8601; SET bytea_output = hex; ` +
        `SET extra_float_digits = 1; SET default_transaction_read_only = ${this.#readOnly ? 'on' : 'off'}`,
    );
  }

  async open(statement: BoundStatement, rowLimit: number, wantsCsv = false): Promise<Portal> {
    const portal = this.#client.query(new Portal(statement, rowLimit, wantsCsv));
    return await portal.opened;
  }

  protected explain(error: unknown, what: string): ToolError {
    return describeError(error, what);
  }

  async control(verb: 'begin' | 'commit'): Promise<void> {
    await this.#client.query(verb);
  }

  /** Sends a request to cancel on a connection of its own, as the protocol wants it. */
  protected async requestEnd(): Promise<void> {
    const key = backendKeyOf(this.#client);
    if (key !== undefined) await sendCancel(this.#remote, key);
  }

  async reset(isUntouched: boolean): Promise<void> {
    if (isUntouched || !this.isUsable) return;
    try {
      await this.#client.query('DISCARD ALL');
      await this.#set();
    } catch (error) {
      // Servers that only speak like PostgreSQL may not know the statement: the session is closed.
      this.fail(error);
    }
  }

  close(): void {
    if (this.socket.destroyed) return;
    this.#client.end().catch(() => undefined);
    this.socket.unref();
  }
}

interface BackendKey {
  readonly processId: number;
  readonly secret: number;
}

function backendKeyOf(client: object): BackendKey | undefined {
  const processId = 'processID' in client ? client.processID : undefined;
  const secret = 'secretKey' in client ? client.secretKey : undefined;
  return typeof processId === 'number' && typeof secret === 'number' ? { processId, secret } : undefined;
}

const CANCEL_REQUEST = 80_877_102;

/** Resolves when the server has closed the connection: it has passed the request on then. */
function sendCancel(
  remote: { readonly host: string; readonly port: number },
  { processId, secret }: BackendKey,
): Promise<void> {
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(processId, 8);
  message.writeInt32BE(secret, 12);
  return new Promise((resolve) => {
    const socket = connectSocket(remote, () => socket.end(message));
    socket.setTimeout(SQL_LIMITS.cancelMs, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** Errors after which another attempt may succeed: by the class of the SQLSTATE, and by the whole. */
const PASSING_CLASSES = new Set(['08', '53', '57', '58']);
const PASSING = new Set(['40001', '40P01', '55P03']);
/** The statement was cancelled, by its own time limit in the database too. */
const CANCELLED = '57014';
/** As pg says that the connection has ended. */
const LOST = /^Connection terminated/;

/** @param what failed */
function describeError(error: unknown, what: string): ToolError {
  if (error instanceof ToolError) return error;
  const code = readField(error, 'code');
  const isState = code !== undefined && /^[0-9A-Z]{5}$/.test(code);
  const details = [readField(error, 'detail'), readField(error, 'hint')].filter((part) => part !== undefined);
  const advice =
    code === '25006'
      ? ['it was run so that it can only read, because it looks like that: write read_only: false']
      : [];
  const text = [cutText(errorMessage(error), MAX_MESSAGE), ...details, ...advice].join('; ');
  const isPassing = isState && (PASSING_CLASSES.has(code.slice(0, 2)) || PASSING.has(code));
  const isLost = !isState && (code?.startsWith('E') === true || LOST.test(errorMessage(error)));
  const retryable = isLost || (isPassing && code !== CANCELLED);
  return new ToolError(`${what}: ${cutText(text, MAX_MESSAGE)}${isState ? ` (${code})` : ''}`, {
    retryable,
    cause: error,
  });
}

function readField(error: unknown, name: 'code' | 'detail' | 'hint'): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
}
