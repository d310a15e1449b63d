import { durationToMs } from '../duration.js';
import { invalidVariable } from '../errors.js';
import { type Environment, type EnvironmentVariable, reloaded } from './environment.js';
import { type AllowedCommands, readCommands } from './allowed-commands.js';
import { readPools } from './pool-config.js';
import { readPublicUrl } from './public-url.js';

interface ServerVariable extends EnvironmentVariable {
  readonly fallback: string;
}

function setting(name: string, fallback: string, description: string): ServerVariable {
  const suffix = fallback === '' ? '' : `; default ${fallback}`;
  return { name, fallback, description: description + suffix, secret: false };
}

const SERVER = {
  host: setting('SERVICE_API_HOST', '127.0.0.1', 'address that the server listens on'),
  port: setting('SERVICE_API_PORT', '8000', 'port that the server listens on'),
  keysFile: setting('SERVICE_API_KEYS_FILE', '', 'YAML list of the API keys of callers'),
  allowAnonymous: setting(
    'SERVICE_ALLOW_ANONYMOUS',
    'false',
    'true lets the server listen beyond this machine without keys',
  ),
  allowedHosts: setting(
    'SERVICE_ALLOWED_HOSTS',
    '',
    'host names that clients use for the server, separated by commas',
  ),
  bodyLimit: setting('SERVICE_BODY_LIMIT', '1048576', 'size of the largest request body, in bytes'),
  maxRunning: setting('SERVICE_MAX_RUNNING', '64', 'maximal number of running runs'),
  maxQueued: setting('SERVICE_MAX_QUEUED', '10000', 'maximal number of queued runs'),
  runTtl: setting(
    'SERVICE_RUN_TTL',
    '86400',
    'how long settled runs are kept, in seconds or as in 90d; with SERVICE_STORE 2592000 (30 days)',
  ),
  runKeep: setting(
    'SERVICE_RUN_KEEP',
    '1000',
    'number of settled runs that are kept; with SERVICE_STORE 1000000',
  ),
  eventBuffer: setting('SERVICE_EVENT_BUFFER', '10000', 'number of events kept of each run'),
  artifacts: setting(
    'SERVICE_ARTIFACTS',
    '',
    'folder for the files of runs; default the folder for temporary files',
  ),
  artifactBytes: setting(
    'SERVICE_ARTIFACT_BYTES',
    '10737418240',
    'disk for the files of runs that have more than 64 MiB, of all runs in memory together, in bytes',
  ),
  store: setting('SERVICE_STORE', '', 'file that keeps runs for the next start; default memory'),
  storeBytes: setting(
    'SERVICE_STORE_BYTES',
    '',
    'size of that file in bytes, above which the oldest settled runs are deleted; default unlimited',
  ),
  cacheRuns: setting(
    'SERVICE_CACHE_RUNS',
    '',
    'memory for settled runs that were read from that file, in MiB; default a sixteenth of SERVICE_MEMORY, at most 64',
  ),
  pipelines: setting('SERVICE_PIPELINES', '', 'folder whose pipelines and plans the server knows by id'),
  pipelinesWritable: setting(
    'SERVICE_PIPELINES_WRITABLE',
    'false',
    'true lets keys with the scope "edit" save files of that folder',
  ),
  pause: setting(
    'SERVICE_PAUSE_SECONDS',
    '3600',
    'how long a run waits at a breakpoint before it is cancelled, in seconds or as in 2h',
  ),
  shutdown: setting(
    'SERVICE_SHUTDOWN_SECONDS',
    '10',
    'grace period for runs at shutdown, in seconds or as in 1m',
  ),
  memory: setting(
    'SERVICE_MEMORY',
    '256',
    'memory limit of requests, runs and responses together, in MiB; less when the heap is too small for it',
  ),
  tenantShare: setting(
    'SERVICE_TENANT_SHARE',
    '10',
    'percentage of each limit that every tenant may use when others have used up the rest',
  ),
  idempotencyTtl: setting(
    'SERVICE_IDEMPOTENCY_TTL',
    '86400',
    'how long idempotency keys outlive their runs, in seconds or as in 7d',
  ),
  auditTtl: setting(
    'SERVICE_AUDIT_TTL',
    '90d',
    'how long entries of the audit are kept, in seconds or as in 90d',
  ),
  auditKeep: setting(
    'SERVICE_AUDIT_KEEP',
    '10000',
    'number of entries of the audit that are kept; with SERVICE_STORE 100000',
  ),
  auditLog: setting(
    'SERVICE_AUDIT_LOG',
    '',
    'file to which the entries of the audit are appended as lines of JSON; - for standard output',
  ),
  logLevel: reloaded(setting('SERVICE_LOG_LEVEL', 'info', 'debug, info, warn, error or silent')),
};

/** The variables that only the server reads, in the order in which `doctor` lists them. */
export const SERVER_VARIABLES: readonly EnvironmentVariable[] = Object.values(SERVER);

/** The configuration of the server (Server configuration; D25, D26, D37, D38). */
export interface ServerConfig {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** The YAML list of API keys; undefined when no key is needed. */
  readonly keysFile: string | undefined;
  readonly allowAnonymous: boolean;
  readonly allowedHosts: readonly string[];
  readonly bodyLimitBytes: number;
  readonly maxRunning: number;
  readonly maxQueued: number;
  /** The places of the pools that tasks may name (D81). */
  readonly pools: ReadonlyMap<string, number>;
  /** The programs that tasks may start (D88). */
  readonly commands: AllowedCommands;
  /** The address of its pages without a slash at the end (D80); undefined: its own address. */
  readonly publicUrl: string | undefined;
  /** How long settled runs are kept, and how many of them. */
  readonly runTtlMs: number;
  readonly runKeep: number;
  /** Bytes of the file that keeps runs, and of the files of these (D74). */
  readonly storeBytes: number;
  /** Memory for settled runs that were read from the file. */
  readonly cacheBytes: number;
  readonly eventBuffer: number;
  /** Folder in which the server creates one for the files of its runs (D63); undefined: that for temporary files. */
  readonly artifactFolder: string | undefined;
  /** Disk for files of more than 64 MiB, of all runs in memory together (D92). */
  readonly largeFileBytes: number;
  /** File that keeps runs (D68); undefined: they end with the server. */
  readonly storeFile: string | undefined;
  /** Folder of pipelines and plans (D69); undefined: the server knows none by itself. */
  readonly pipelinesFolder: string | undefined;
  /** Requests may save its files (D72). */
  readonly pipelinesWritable: boolean;
  /** A run that waits at a breakpoint for longer is cancelled (D42). */
  readonly pauseMs: number;
  readonly shutdownMs: number;
  readonly memoryBytes: number;
  /** Percentage of each limit that every tenant may use even when others have used up the rest (D25). */
  readonly tenantShare: number;
  readonly idempotencyTtlMs: number;
  /** How many entries of the audit are kept, and how long (D95). */
  readonly audit: { readonly keep: number; readonly ttlMs: number };
  /** File for its lines, or `-` for standard output; undefined: neither. */
  readonly auditLog: string | undefined;
  readonly logLevel: string;
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

const MIB = 2 ** 20;

/** The defaults of the settled runs that a file keeps (D74). */
const STORED_TTL_SECONDS = 30 * 86_400;
const STORED_RUNS = 1_000_000;

const STORED_AUDIT_ENTRIES = 100_000;

const TEN_YEARS_SECONDS = 10 * 365 * 86_400;

/** The default of the memory for runs that were read from the file. */
const CACHE_SHARE = 16;
const MAX_CACHE_BYTES = 64 * MIB;

/** Measured memory of an idle server, and of the largest values that are parsed and rendered at once. */
const BASE_HEAP_BYTES = 512 * MIB;

/** Bytes of the heap for each byte of SERVICE_MEMORY: what is counted takes at most so much more than its estimate. */
const HEAP_FACTOR = 1.25;

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
  // Of numbers, whole ones only, as for all other variables.
  const duration = (variable: ServerVariable, min: number, max: number): number => {
    const value = text(variable);
    const ms = durationToMs(/^\d+$/.test(value) ? Number(value) : value);
    if (ms !== undefined && ms >= min * 1000 && ms <= max * 1000) return ms;
    const problem = `must be a whole number of seconds from ${min} to ${max}, or a text such as 30s, 5m, 1h30m, 2d`;
    throw invalidVariable(variable.name, `${problem}, not "${value}"`);
  };
  const oneOf = (variable: ServerVariable, values: readonly string[]): string => {
    const value = text(variable).toLowerCase();
    if (values.includes(value)) return value;
    throw invalidVariable(variable.name, `must be ${values.join(' or ')}, not "${value}"`);
  };
  const tenantShare = integer(SERVER.tenantShare, 0, 100);
  const memory = integer(SERVER.memory, 16, 1_000_000);
  const isSet = ({ name }: ServerVariable): boolean => (env[name]?.trim() ?? '') !== '';
  const memoryBytes = readMemory(isSet(SERVER.memory) ? memory : undefined, tenantShare, heapLimitBytes);
  const storeFile = readStoreFile(env);
  /** Without a file, defaults are those of the table. */
  const usesOwn = (variable: ServerVariable): boolean => storeFile === undefined || isSet(variable);
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
    pools: readPools(env) ?? new Map(),
    commands: readCommands(env),
    publicUrl: readPublicUrl(env),
    runTtlMs: usesOwn(SERVER.runTtl)
      ? duration(SERVER.runTtl, 1, TEN_YEARS_SECONDS)
      : STORED_TTL_SECONDS * 1000,
    runKeep: usesOwn(SERVER.runKeep) ? integer(SERVER.runKeep, 0, 100_000_000) : STORED_RUNS,
    storeBytes: isSet(SERVER.storeBytes)
      ? integer(SERVER.storeBytes, MIB, 2 ** 50)
      : Number.POSITIVE_INFINITY,
    cacheBytes: isSet(SERVER.cacheRuns)
      ? integer(SERVER.cacheRuns, 1, 1_000_000) * MIB
      : Math.min(MAX_CACHE_BYTES, Math.floor(memoryBytes / CACHE_SHARE)),
    eventBuffer: integer(SERVER.eventBuffer, 100, 1_000_000),
    artifactFolder: text(SERVER.artifacts) || undefined,
    largeFileBytes: integer(SERVER.artifactBytes, MIB, 2 ** 50),
    storeFile,
    pipelinesFolder: text(SERVER.pipelines) || undefined,
    pipelinesWritable: oneOf(SERVER.pipelinesWritable, ['true', 'false']) === 'true',
    pauseMs: duration(SERVER.pause, 1, 7 * 86_400),
    shutdownMs: duration(SERVER.shutdown, 0, 3600),
    memoryBytes,
    tenantShare,
    idempotencyTtlMs: duration(SERVER.idempotencyTtl, 1, TEN_YEARS_SECONDS),
    audit: {
      keep: usesOwn(SERVER.auditKeep) ? integer(SERVER.auditKeep, 100, 100_000_000) : STORED_AUDIT_ENTRIES,
      ttlMs: duration(SERVER.auditTtl, 1, TEN_YEARS_SECONDS),
    },
    auditLog: text(SERVER.auditLog) || undefined,
    logLevel: oneOf(SERVER.logLevel, LOG_LEVELS),
  };
}

/** Reads the file that keeps the runs of a server (D68); undefined when they are kept in memory. */
export function readStoreFile({ SERVICE_STORE: file = '' }: Environment): string | undefined {
  const name = file.trim();
  if (/^(:memory:|file:.*|\w+:\/\/.*)$/.test(name))
    throw invalidVariable('SERVICE_STORE', 'must be the path of a file');
  // The default, as the table of variables calls it.
  return name === '' || name === 'memory' ? undefined : name;
}
