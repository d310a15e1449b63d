import { ToolError } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import { nearest } from '../../definition/did-you-mean.js';
import { didYouMean } from '../../definition/problems/hint.js';
import { chooseStore } from './bucket-connection.js';
import type {
  Connection,
  ConnectionSource,
  DatabaseConnection,
  ObjectStoreConnection,
  ToolConnections,
} from './connection.js';
import { findUrlProblem, secretsOfUrl } from './database-url.js';

/** Maximum number of names in an error message. */
const MAX_LISTED = 10;

/** The connections of one tenant, of which a run hides what is secret (D61). */
export class RunConnections implements ToolConnections {
  readonly #source: ConnectionSource | undefined;
  readonly #tenantId: string;
  readonly #hide: (values: readonly string[]) => void;

  /** @param hide masks values in whatever is shown of the run */
  constructor(
    source: ConnectionSource | undefined,
    tenantId: string,
    hide: (values: readonly string[]) => void,
  ) {
    this.#source = source;
    this.#tenantId = tenantId;
    this.#hide = hide;
  }

  get(name: string): Connection {
    const connection = this.#source?.find(this.#tenantId, name);
    if (connection === undefined) throw ToolError.nonRetryable(this.#describeMissing(name));
    this.#hide(secretsOf(connection));
    return connection;
  }

  ofBucket(bucket: string, name?: string): ObjectStoreConnection {
    const chosen = name ?? chooseStore(this.#source, this.#tenantId, bucket);
    const connection = this.get(chosen);
    if (connection.type !== 's3')
      throw ToolError.nonRetryable(`the connection "${chosen}" is a database, and no object store`);
    const { buckets } = connection;
    if (buckets === undefined || buckets.includes(bucket)) return connection;
    throw ToolError.nonRetryable(
      `the connection "${chosen}" is for the buckets ${joinFirst([...buckets], MAX_LISTED)}, and not for "${bucket}"`,
    );
  }

  ofUrl(url: string): DatabaseConnection {
    this.#hide(secretsOfUrl(url));
    const problem = findUrlProblem(url);
    if (problem !== undefined) throw ToolError.nonRetryable(`the url ${problem}`);
    return { type: 'database', url };
  }

  #describeMissing(name: string): string {
    const missing = `there is no connection "${name}"`;
    if (this.#source === undefined)
      return `${missing}: SERVICE_CONNECTIONS names the file with connections, and is not set`;
    const names = this.#source.namesOf(this.#tenantId);
    if (names.length === 0)
      return `${missing}: the file of SERVICE_CONNECTIONS has none of the tenant "${this.#tenantId}"`;
    const similar = nearest(name, names);
    const listed = similar === undefined ? `there are ${joinFirst(names, MAX_LISTED)}` : didYouMean(similar);
    return `${missing}: ${listed}`;
  }
}

function secretsOf(connection: Connection): readonly string[] {
  if (connection.type === 'database') return secretsOfUrl(connection.url);
  const { accessKeyId, secretAccessKey, sessionToken } = connection;
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
}
