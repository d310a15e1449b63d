import { describeKind, isObject } from '../../common/json/json.js';
import { nearest } from '../../definition/did-you-mean.js';
import { didYouMean } from '../../definition/problems/hint.js';
import { findSecretProblem } from '../../definition/secrets/encodings.js';
import { type TenantEntry, TenantFile } from '../../definition/secrets/tenant-file.js';
import type {
  Connection,
  ConnectionSource,
  DatabaseConnection,
  ObjectStoreConnection,
} from './connection.js';
import { findUrlProblem, passwordOf } from './database-url.js';

/** The connections of a file, by tenant (D92). */
export interface FileConnections extends ConnectionSource {
  /** By tenant, without values. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

const KIND = {
  noun: 'connections file',
  shape: 'a map of tenants, each with its connections: {default: {warehouse: {url: "postgres://…"}}}',
  tenantShape: 'a map of names and connections',
} as const;

const NAME = /^[A-Za-z][\w-]{0,63}$/;

const MAX_VALUE_LENGTH = 8192;
const MAX_BUCKETS = 1000;

const KEYS = {
  database: ['type', 'url'],
  s3: [
    'type',
    'endpoint',
    'region',
    'access_key_id',
    'secret_access_key',
    'session_token',
    'buckets',
    'path_style',
  ],
} as const;

const EXAMPLES = {
  database: '{url: "postgres://user:password@host/database"}',
  s3: '{type: s3, endpoint: "https://…", region: "…", access_key_id: "…", secret_access_key: "…"}',
} as const;

/**
 * Reads a connections file (D92). Rejects with `unreadable_file`, also for a file that others may read, or with `bad_usage`
 * naming the line and what is wrong with it, and never a value.
 *
 * @param name of the file in messages
 */
export async function readConnectionsFile(path: string, name = path): Promise<FileConnections> {
  return parseConnectionsFile(await TenantFile.read(path, name, KIND), name);
}

/** Parses the text of a connections file. @throws WavetrainError `bad_usage` */
export function parseConnectionsFile(text: string, name: string): FileConnections {
  const file = new TenantFile(text, name, KIND);
  const tenants = file.parse((entry) => new ConnectionParser(file, entry).parse());
  const names = new Map(Array.from(tenants, ([tenant, entries]) => [tenant, [...entries.keys()].sort()]));
  return {
    names,
    find: (tenantId, connection) => tenants.get(tenantId)?.get(connection),
    namesOf: (tenantId) => names.get(tenantId) ?? [],
  };
}

class ConnectionParser {
  readonly #file: TenantFile;
  readonly #entry: TenantEntry;
  #values: Record<string, unknown> = {};

  constructor(file: TenantFile, entry: TenantEntry) {
    this.#file = file;
    this.#entry = entry;
  }

  parse(): Connection {
    const { path, name, value } = this.#entry;
    if (!NAME.test(name)) {
      const message = 'a name must have letters, digits, _ and -, begin with a letter, and have at most 64';
      throw this.#file.error(path, message, 'key');
    }
    if (!isObject(value)) {
      const message = `"${name}" must be a connection such as ${EXAMPLES.database}, not ${describeKind(value)}`;
      throw this.#file.error(path, message);
    }
    this.#values = value;
    const { type = 'database' } = value;
    if (type !== 'database' && type !== 's3') {
      throw this.#error('type', 'must be s3, or database, which is the default');
    }
    this.#assertKeys(type);
    return type === 's3' ? this.#parseObjectStore() : this.#parseDatabase();
  }

  #assertKeys(type: keyof typeof KEYS): void {
    const known: readonly string[] = KEYS[type];
    for (const key of Object.keys(this.#values)) {
      if (known.includes(key)) continue;
      const similar = nearest(key, known);
      const hint = similar === undefined ? `: write ${EXAMPLES[type]}` : `: ${didYouMean(similar)}`;
      const message = `"${this.#entry.name}" has no "${key}"${hint}`;
      throw this.#file.error([...this.#entry.path, key], message, 'key');
    }
  }

  #parseDatabase(): DatabaseConnection {
    const url = this.#text('url', 'database');
    const problem = findUrlProblem(url);
    if (problem !== undefined) throw this.#error('url', problem);
    const password = passwordOf(url);
    const secretProblem = password === undefined ? undefined : findSecretProblem(password);
    if (secretProblem !== undefined) throw this.#error('url', `has a password that ${secretProblem}`);
    return { type: 'database', url };
  }

  #parseObjectStore(): ObjectStoreConnection {
    const endpoint = this.#text('endpoint', 's3');
    const { protocol, username, search } = URL.canParse(endpoint) ? new URL(endpoint) : NO_URL;
    if (!/^https?:$/.test(protocol) || username !== '' || search !== '') {
      throw this.#error('endpoint', 'must be an address, as in https://s3.eu-central-1.amazonaws.com');
    }
    const { session_token: token, path_style: pathStyle = false } = this.#values;
    if (typeof pathStyle !== 'boolean') throw this.#error('path_style', 'must be true or false');
    return {
      type: 's3',
      endpoint: endpoint.replace(/\/+$/, ''),
      region: this.#text('region', 's3'),
      accessKeyId: this.#secret('access_key_id'),
      secretAccessKey: this.#secret('secret_access_key'),
      ...(token !== undefined && { sessionToken: this.#secret('session_token') }),
      ...this.#parseBuckets(),
      pathStyle,
    };
  }

  #parseBuckets(): Pick<ObjectStoreConnection, 'buckets'> {
    const { buckets } = this.#values;
    if (buckets === undefined) return {};
    const isList = Array.isArray(buckets) && buckets.length <= MAX_BUCKETS;
    if (!isList || !buckets.every((bucket) => typeof bucket === 'string')) {
      throw this.#error('buckets', `must be a list of at most ${MAX_BUCKETS} names of buckets`);
    }
    return { buckets };
  }

  #text(key: string, type: keyof typeof EXAMPLES): string {
    const value = this.#values[key];
    if (value === undefined) {
      const message = `"${this.#entry.name}" lacks "${key}": write ${EXAMPLES[type]}`;
      throw this.#file.error(this.#entry.path, message);
    }
    if (typeof value !== 'string')
      throw this.#error(key, `must be a text, not ${describeKind(value)}: put it in quotes`);
    if (value === '') throw this.#error(key, 'is empty');
    if (value.length <= MAX_VALUE_LENGTH) return value;
    throw this.#error(key, `has more than ${MAX_VALUE_LENGTH} characters`);
  }

  #secret(key: string): string {
    const value = this.#text(key, 's3');
    const problem = findSecretProblem(value);
    if (problem !== undefined) throw this.#error(key, problem);
    return value;
  }

  #error(key: string, predicate: string): Error {
    const { path, name } = this.#entry;
    return this.#file.error([...path, key], `the "${key}" of "${name}" ${predicate}`);
  }
}

const NO_URL = { protocol: '', username: '', search: '' } as const;
