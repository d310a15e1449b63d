import { connect as connectSocket, type Socket } from 'node:net';
import type { Connection, ConnectionOptions } from 'mysql2';
import { errorCode, errorMessage, ToolError } from '../../../../../common/errors.js';
import { cutText } from '../../../../../common/text.js';
import type { ToolContext } from '../../../../tool.js';
import type { SqlDatabase, SqlSession } from '../../database.js';
import { SQL_LIMITS } from '../../limits.js';
import { certificateChecks, type ServerAddress } from '../server-address.js';
import { findServer, MAX_MESSAGE, ServerSession } from '../server-session.js';
import type { BoundStatement } from '../../statement.js';
import { MYSQL } from '../../tokens.js';
import { MysqlCursor } from './mysql-cursor.js';
import { toMysqlParameter } from './mysql-values.js';
import { watchPackets } from './packet-sizes.js';

type ServerOptions = ConnectionOptions & Pick<ServerAddress, 'port'>;

type CreateConnection = typeof import('mysql2')['createConnection'];

/** MySQL and MariaDB, by the package `mysql2`. */
export const mysql: SqlDatabase = {
  dialect: MYSQL,
  check: () => undefined,
  prepare: async (request) => findServer(request, { name: 'mysql', defaultPort: 3306, connect }),
};

async function connect(address: ServerAddress, readOnly: boolean, context: ToolContext): Promise<SqlSession> {
  const { createConnection } = (await import('mysql2')).default;
  const socket = await context.connect(address.host, address.port);
  const options = createOptions(address, context.authorities);
  const session = new MysqlSession(createConnection, options, socket, readOnly);
  await session.begin('MySQL', context);
  return session;
}

function createOptions(
  { host, port, user, password, database, tls }: ServerAddress,
  authorities: readonly string[],
): ServerOptions {
  return {
    host,
    port,
    user,
    password,
    ...(database !== '' && { database }),
    ...(tls !== 'disable' && {
      ssl: certificateChecks(tls, authorities),
    }),
    rowsAsArray: true,
    supportBigNumbers: true,
    dateStrings: true,
    timezone: 'Z',
    charset: 'utf8mb4',
    // A server could ask for any file of this machine.
    flags: ['-LOCAL_FILES'],
    // Names of columns never become code.
    disableEval: true,
  };
}

class MysqlSession extends ServerSession {
  readonly #connection: Connection;
  readonly #createConnection: CreateConnection;
  readonly #options: ServerOptions;
  readonly #readOnly: boolean;
  #cursor: MysqlCursor | undefined;
  #rowLimit = 0;

  constructor(createConnection: CreateConnection, options: ServerOptions, socket: Socket, readOnly: boolean) {
    super(socket);
    this.#createConnection = createConnection;
    this.#options = options;
    this.#readOnly = readOnly;
    this.#connection = createConnection({ ...options, stream: socket });
    const onLost = (error: unknown): void => {
      this.fail(error);
      this.#cursor?.fail(error);
    };
    this.#connection.on('error', onLost);
    this.#connection.on('end', () => onLost(new ToolError('the connection has ended')));
    watchPackets(this.#connection, this.breakOff);
  }

  protected async logIn(): Promise<void> {
    await this.#run(`SET time_zone = '+00:00'`);
    if (this.#readOnly) await this.#run('SET SESSION TRANSACTION READ ONLY');
  }

  #run(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.query(sql, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  async open({ text, values }: BoundStatement, rowLimit: number): Promise<MysqlCursor> {
    if (rowLimit !== this.#rowLimit) {
      await this.#run(`SET SESSION sql_select_limit = ${rowLimit === 0 ? 'DEFAULT' : rowLimit}`);
      this.#rowLimit = rowLimit;
    }
    const query = this.#connection.execute({ sql: text, values: values.map(toMysqlParameter) });
    this.#cursor = new MysqlCursor(this.#connection, query);
    return await this.#cursor.opened;
  }

  protected explain(error: unknown, what: string): ToolError {
    return describeError(error, what);
  }

  control(verb: 'begin' | 'commit'): Promise<void> {
    return this.#run(verb);
  }

  /** Asks for it on another connection to the same address, as MySQL wants it. */
  protected async requestEnd(): Promise<void> {
    const { threadId } = this.#connection;
    const host = this.socket.remoteAddress;
    if (host !== undefined && threadId > 0) await this.#kill(host, threadId);
  }

  #kill(host: string, threadId: number): Promise<void> {
    return new Promise((resolve) => {
      const socket = connectSocket({ host, port: this.#options.port });
      socket.setTimeout(SQL_LIMITS.cancelMs, () => socket.destroy());
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
      const other = this.#createConnection({ ...this.#options, stream: socket });
      other.on('error', () => resolve());
      other.query(`KILL ${threadId}`, () => socket.destroy());
    });
  }

  async reset(isUntouched: boolean): Promise<void> {
    // Variables and temporary tables of one task would be there for the next one.
    if (!isUntouched) this.fail(new ToolError('the session was used'));
  }

  close(): void {
    this.#connection.destroy();
  }
}

const PASSING =
  /^(?:ER_LOCK_DEADLOCK|ER_LOCK_WAIT_TIMEOUT|ER_CON_COUNT_ERROR|ER_SERVER_SHUTDOWN|PROTOCOL_CONNECTION_LOST|E[A-Z]+)$/;
const READ_ONLY = 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION';

/** @param what failed */
function describeError(error: unknown, what: string): ToolError {
  if (error instanceof ToolError) return error;
  const code = errorCode(error) ?? '';
  const advice =
    code === READ_ONLY
      ? '; it was run so that it can only read, because it looks like that: write read_only: false'
      : '';
  const message = `${what}: ${cutText(errorMessage(error), MAX_MESSAGE)}${code === '' ? '' : ` (${code})`}${advice}`;
  return new ToolError(message, { retryable: PASSING.test(code), cause: error });
}
