import { delimiter } from 'node:path';
import { WavetrainError } from './errors.js';
import { MODEL_VARIABLES } from './model-config.js';

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>;

/** Returns the variables of this process. Changing the object changes what tools see. */
export function systemEnvironment(): Environment {
  return process.env;
}

/** Describes an environment variable; the value of a secret one is never printed. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
}

interface ServerVariable extends EnvironmentVariable {
  readonly fallback: string;
}

function serverVariable(name: string, fallback: string, description: string): ServerVariable {
  const suffix = fallback === '' ? '' : `; default ${fallback}`;
  return { name, fallback, description: description + suffix, secret: false };
}

const SERVER = {
  host: serverVariable('SERVICE_API_HOST', '127.0.0.1', 'address that the server listens on'),
  port: serverVariable('SERVICE_API_PORT', '8000', 'port that the server listens on'),
  keysFile: serverVariable('SERVICE_API_KEYS_FILE', '', 'YAML list of the API keys of callers'),
  allowAnonymous: serverVariable(
    'SERVICE_ALLOW_ANONYMOUS',
    'false',
    'true lets the server listen beyond this machine without keys',
  ),
  allowedHosts: serverVariable(
    'SERVICE_ALLOWED_HOSTS',
    '',
    'host names that clients use for the server, separated by commas',
  ),
  bodyLimit: serverVariable('SERVICE_BODY_LIMIT', '1048576', 'size of the largest request body, in bytes'),
  maxRunning: serverVariable('SERVICE_MAX_RUNNING', '64', 'maximal number of running runs'),
  maxQueued: serverVariable('SERVICE_MAX_QUEUED', '10000', 'maximal number of queued runs'),
  runTtl: serverVariable('SERVICE_RUN_TTL', '86400', 'seconds for which settled runs are kept'),
  runKeep: serverVariable('SERVICE_RUN_KEEP', '1000', 'number of settled runs that are kept'),
  eventBuffer: serverVariable('SERVICE_EVENT_BUFFER', '10000', 'number of events kept of each run'),
  artifacts: serverVariable(
    'SERVICE_ARTIFACTS',
    '',
    'folder for the files of runs; default the folder for temporary files',
  ),
  store: serverVariable('SERVICE_STORE', '', 'file that keeps runs for the next start; default memory'),
  pause: serverVariable(
    'SERVICE_PAUSE_SECONDS',
    '3600',
    'seconds after which a run that waits at a breakpoint is cancelled',
  ),
  shutdown: serverVariable('SERVICE_SHUTDOWN_SECONDS', '10', 'grace period for runs at shutdown, in seconds'),
  memory: serverVariable(
    'SERVICE_MEMORY',
    '256',
    'memory limit of requests, runs and responses together, in MiB; less when the heap is too small for it',
  ),
  tenantShare: serverVariable(
    'SERVICE_TENANT_SHARE',
    '10',
    'percentage of each limit that every tenant may use when others have used up the rest',
  ),
  idempotencyTtl: serverVariable(
    'SERVICE_IDEMPOTENCY_TTL',
    '86400',
    'seconds for which idempotency keys outlive their runs',
  ),
  logLevel: serverVariable('SERVICE_LOG_LEVEL', 'info', 'debug, info, warn, error or silent'),
};

/** The variables that only the server reads, in the order in which `doctor` lists them. */
export const SERVER_VARIABLES: readonly EnvironmentVariable[] = Object.values(SERVER);

const SEPARATED = `separated by "${delimiter}"`;

/** All variables that Wavetrain reads, in the order in which `doctor` lists them. */
export const VARIABLES: readonly EnvironmentVariable[] = [
  {
    name: 'SERVICE_FILE_ROOTS',
    description: `folders that tools may read from, ${SEPARATED}`,
    secret: false,
  },
  {
    name: 'SERVICE_TOOLS',
    description: `tool files or packages to load, ${SEPARATED}`,
    secret: false,
  },
  {
    name: 'SERVICE_MCP_FILE',
    description: 'JSON file with the MCP servers whose tools tasks may call',
    secret: false,
  },
  {
    name: 'SERVICE_ALLOW_PRIVATE_NETWORK',
    description: 'true lets tools reach private, loopback and link-local addresses; default false',
    secret: false,
  },
  {
    name: 'SERVICE_CACHE',
    description:
      'folder for the outputs of tasks with "cache"; by default a server keeps them in memory, and the command line in the cache folder of its user',
    secret: false,
  },
  {
    name: 'SERVICE_SECRETS_FILE',
    description: 'YAML file with the secrets of each tenant; without it, variables SECRET_NAME are secrets',
    secret: false,
  },
  {
    name: 'SEC_USER_AGENT',
    description: 'name and address that the source sec_edgar sends, as the SEC asks',
    secret: false,
  },
  {
    name: 'SERVICE_SEARCH_PROVIDER',
    description:
      'who answers search_web: duckduckgo, brave, serpapi, or a URL with {query} that gives JSON; default duckduckgo',
    secret: false,
  },
  { name: 'BRAVE_API_KEY', description: 'key of the search provider brave', secret: true },
  { name: 'SERPAPI_API_KEY', description: 'key of the search provider serpapi', secret: true },
  ...MODEL_VARIABLES,
  { name: 'WAVETRAIN_DEBUG', description: 'prints the stack trace of a bug in Wavetrain', secret: false },
  {
    name: 'WAVETRAIN_SERVER',
    description: 'server of the runs commands; default http://127.0.0.1:8000',
    secret: false,
  },
  { name: 'WAVETRAIN_API_KEY', description: 'API key for that server', secret: true },
  ...SERVER_VARIABLES,
];

/**
 * The configuration of tools. Only this file reads the environment (law L5). Other code receives a {@link Config};
 * code for terminals receives the variables.
 */
export interface Config {
  /** Folders that tools may read from, besides those that the command line adds (D51). */
  readonly fileRoots: readonly string[];
  /** Tool files and packages to load beside the built-in tools (D48). */
  readonly tools: readonly string[];
  /** The file with the MCP servers; absent when none is named. */
  readonly mcpFile?: string;
}

/** Reads the configuration of tools. @throws WavetrainError `bad_usage` with the variable and an example */
export function readConfig(env: Environment): Config {
  const mcpFile = env['SERVICE_MCP_FILE']?.trim() || undefined;
  return {
    fileRoots: readList(env, 'SERVICE_FILE_ROOTS', 'data:/srv/data'),
    tools: readList(env, 'SERVICE_TOOLS', 'tools.ts:@acme/tools'),
    ...(mcpFile !== undefined && { mcpFile }),
  };
}

/** Reads the folder for outputs of tasks with `cache` from SERVICE_CACHE (D65); undefined when none is named. */
export function readCacheFolder({ SERVICE_CACHE: folder = '' }: Environment): string | undefined {
  return folder === '' ? undefined : folder;
}

/** Where secrets come from (D61). */
export interface SecretConfig {
  /** The YAML file of all tenants; undefined when none is named. */
  readonly file: string | undefined;
  /** The values of the variables `SECRET_NAME`, by `NAME`. */
  readonly variables: Readonly<Record<string, string>>;
}

const SECRET_PREFIX = 'SECRET_';

/** Reads where secrets come from. An empty variable counts as missing. */
export function readSecretConfig(env: Environment): SecretConfig {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(SECRET_PREFIX) || value === undefined || value === '') continue;
    variables[name.slice(SECRET_PREFIX.length)] = value;
  }
  return { file: env['SERVICE_SECRETS_FILE']?.trim() || undefined, variables };
}

/** Reads the file that keeps the runs of a server (D68); undefined when they are kept in memory. */
export function readStoreFile({ SERVICE_STORE: file = '' }: Environment): string | undefined {
  const name = file.trim();
  if (/^(:memory:|file:.*|\w+:\/\/.*)$/.test(name))
    throw invalidVariable('SERVICE_STORE', 'must be the path of a file');
  // The default, as the table of variables calls it.
  return name === '' || name === 'memory' ? undefined : name;
}

/** The services that tools use on the network. */
export interface ProviderConfig {
  /** Of the source `sec_edgar`. */
  readonly secUserAgent: string | undefined;
  /** A name, or a URL with `{query}`. */
  readonly searchProvider: string | undefined;
  readonly braveKey: string | undefined;
  readonly serpapiKey: string | undefined;
}

/**
 * Reads the services that tools use on the network from environment variables.
 *
 * @throws WavetrainError `bad_usage` with the variable and its valid values
 */
export function readProviderConfig(env: Environment): ProviderConfig {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  const searchProvider = read('SERVICE_SEARCH_PROVIDER');
  if (
    searchProvider !== undefined &&
    !/^(duckduckgo|brave|serpapi|https?:.*\{query\}.*)$/.test(searchProvider)
  ) {
    throw invalidVariable(
      'SERVICE_SEARCH_PROVIDER',
      'must be duckduckgo, brave, serpapi, or a URL with {query}, as in https://search.example/?q={query}&format=json',
    );
  }
  return {
    secUserAgent: read('SEC_USER_AGENT'),
    searchProvider,
    braveKey: read('BRAVE_API_KEY'),
    serpapiKey: read('SERPAPI_API_KEY'),
  };
}

/** What tools may reach on the network (D51). */
export interface NetworkConfig {
  /** Also private, loopback and link-local addresses. */
  readonly allowPrivate: boolean;
}

/**
 * Reads what tools may reach from environment variables.
 *
 * @throws WavetrainError `bad_usage` with the variable and its valid values
 */
export function readNetworkConfig(env: Environment): NetworkConfig {
  const name = 'SERVICE_ALLOW_PRIVATE_NETWORK';
  const value = env[name]?.trim().toLowerCase() || 'false';
  if (value !== 'true' && value !== 'false')
    throw invalidVariable(name, `must be true or false, not "${value}"`);
  return { allowPrivate: value === 'true' };
}

function readList(env: Environment, name: string, example: string): string[] {
  const parts = (env[name] ?? '').split(delimiter).map((part) => part.trim());
  for (const part of parts) {
    const problem = findPathProblem(part);
    if (problem === undefined) continue;
    throw invalidVariable(name, `${problem}, as in ${name}=${example.replaceAll(':', delimiter)}`);
  }
  return parts.filter((part) => part !== '');
}

function findPathProblem(path: string): string | undefined {
  if (path.includes('\0')) return 'contains a NUL character';
  if (path !== '~' && !path.startsWith('~/')) return undefined;
  return `contains "${path}", but "~" is not expanded here: write the whole path`;
}

function invalidVariable(name: string, problem: string): WavetrainError {
  return new WavetrainError('bad_usage', `the environment variable ${name} ${problem}`);
}

/** Reads the address of the server and the API key for commands; undefined when a variable is not set. */
export function readClientConfig(env: Environment): {
  readonly url: string | undefined;
  readonly key: string | undefined;
} {
  return {
    url: env['WAVETRAIN_SERVER']?.trim() || undefined,
    key: env['WAVETRAIN_API_KEY']?.trim() || undefined,
  };
}

/** The configuration of the server (Server configuration; D25, D26, D37, D38). */
export interface ServerConfig {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** The YAML list of API keys; undefined when no key is needed. */
  readonly keysFile: string | undefined;
  /** Allows requests without a key from other machines. */
  readonly allowAnonymous: boolean;
  /** Host names that clients use, besides the server's own. */
  readonly allowedHosts: readonly string[];
  readonly bodyLimitBytes: number;
  readonly maxRunning: number;
  readonly maxQueued: number;
  readonly runTtlMs: number;
  readonly runKeep: number;
  /** Events kept of each run. */
  readonly eventBuffer: number;
  /** Folder in which the server creates one for the files of its runs (D63); undefined: that for temporary files. */
  readonly artifactFolder: string | undefined;
  /** File that keeps runs (D68); undefined: they end with the server. */
  readonly storeFile: string | undefined;
  /** A run that waits at a breakpoint for longer is cancelled (D42). */
  readonly pauseMs: number;
  /** Grace period for runs when the server shuts down. */
  readonly shutdownMs: number;
  /** The memory limit of requests, runs and responses together. */
  readonly memoryBytes: number;
  /** Percentage of each limit that every tenant may use even when others have used up the rest (D25). */
  readonly tenantShare: number;
  /** How long idempotency keys outlive their runs (D36). */
  readonly idempotencyTtlMs: number;
  readonly logLevel: string;
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

const MIB = 2 ** 20;

/** Measured memory of an idle server, and of the largest values that are parsed and rendered at once. */
const BASE_HEAP_BYTES = 192 * MIB;

/**
 * Bytes of the heap for each byte of SERVICE_MEMORY: what runs take is estimated, and values that were built to take
 * more than their estimate take up to this much.
 */
const HEAP_FACTOR = 5;

const MIN_MEMORY_BYTES = 16 * MIB;

/** Reads SERVICE_MEMORY, in bytes; unless it is set, as much as the heap is large enough for, and at most the default. */
function readMemory(setMib: number | undefined, tenantShare: number, heapLimitBytes: number): number {
  // With what tenants are guaranteed, all of them together may use twice the limit.
  const factor = tenantShare === 0 ? HEAP_FACTOR : 2 * HEAP_FACTOR;
  const affordable = Math.floor((heapLimitBytes - BASE_HEAP_BYTES) / factor);
  if (setMib === undefined) {
    return Math.max(MIN_MEMORY_BYTES, Math.min(Number(SERVER.memory.fallback) * MIB, affordable));
  }
  const bytes = setMib * MIB;
  if (bytes <= Math.max(MIN_MEMORY_BYTES, affordable)) return bytes;
  const needed = Math.ceil((BASE_HEAP_BYTES + factor * bytes) / MIB);
  throw invalidVariable(
    SERVER.memory.name,
    `is ${setMib} MiB, which needs a heap of ${needed} MiB, and this process has ${Math.floor(heapLimitBytes / MIB)} MiB: ` +
      `start it with NODE_OPTIONS=--max-old-space-size=${needed}, or set at most ${Math.max(16, Math.floor(affordable / MIB))}`,
  );
}

/**
 * Reads the server's configuration from environment variables.
 *
 * @param heapLimitBytes of this process; a smaller one lowers the default of SERVICE_MEMORY
 * @throws WavetrainError `bad_usage` with the variable and its valid values
 */
export function readServerConfig(env: Environment, heapLimitBytes = Number.POSITIVE_INFINITY): ServerConfig {
  const text = ({ name, fallback }: ServerVariable): string => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? fallback : value;
  };
  const integer = (variable: ServerVariable, min: number, max: number): number => {
    const value = text(variable);
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    throw invalidVariable(variable.name, `must be a whole number from ${min} to ${max}, not "${value}"`);
  };
  const oneOf = (variable: ServerVariable, values: readonly string[]): string => {
    const value = text(variable).toLowerCase();
    if (values.includes(value)) return value;
    throw invalidVariable(variable.name, `must be ${values.join(' or ')}, not "${value}"`);
  };
  const tenantShare = integer(SERVER.tenantShare, 0, 100);
  const memory = integer(SERVER.memory, 16, 1_000_000);
  const isMemorySet = (env[SERVER.memory.name]?.trim() ?? '') !== '';
  return {
    host: text(SERVER.host),
    port: integer(SERVER.port, 0, 65_535),
    keysFile: text(SERVER.keysFile) || undefined,
    allowAnonymous: oneOf(SERVER.allowAnonymous, ['true', 'false']) === 'true',
    allowedHosts: text(SERVER.allowedHosts)
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
    bodyLimitBytes: integer(SERVER.bodyLimit, 1024, 2 ** 30),
    maxRunning: integer(SERVER.maxRunning, 1, 1_000_000),
    maxQueued: integer(SERVER.maxQueued, 0, 1_000_000),
    runTtlMs: integer(SERVER.runTtl, 1, 10 * 365 * 86_400) * 1000,
    runKeep: integer(SERVER.runKeep, 0, 1_000_000),
    eventBuffer: integer(SERVER.eventBuffer, 100, 1_000_000),
    artifactFolder: text(SERVER.artifacts) || undefined,
    storeFile: readStoreFile(env),
    pauseMs: integer(SERVER.pause, 1, 7 * 86_400) * 1000,
    shutdownMs: integer(SERVER.shutdown, 0, 3600) * 1000,
    memoryBytes: readMemory(isMemorySet ? memory : undefined, tenantShare, heapLimitBytes),
    tenantShare,
    idempotencyTtlMs: integer(SERVER.idempotencyTtl, 1, 10 * 365 * 86_400) * 1000,
    logLevel: oneOf(SERVER.logLevel, LOG_LEVELS),
  };
}
