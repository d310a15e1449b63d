import { delimiter } from 'node:path';
import { WavetrainError } from './errors.js';

/** Environment variables by name. */
export type Environment = Record<string, string | undefined>;

/** A variable that the configuration knows; a secret one is never printed. */
export interface Variable {
  readonly name: string;
  readonly description: string;
  readonly secret: boolean;
}

/**
 * The environment, read once and in one place (law L5). Everything else is handed a {@link Config}, or, for what
 * concerns a terminal alone, the variables themselves.
 */

export interface Config {
  /** Folders that tools may read from, besides those that the command line adds (D51). */
  readonly fileRoots: readonly string[];
  /** Tool files and packages loaded beside the built-in tools (D48). */
  readonly tools: readonly string[];
}

interface Setting extends Variable {
  readonly fallback: string;
}

function setting(name: string, fallback: string, description: string): Setting {
  const told = fallback === '' ? description : `${description}; default ${fallback}`;
  return { name, fallback, description: told, secret: false };
}

const SETTINGS = {
  host: setting('SERVICE_API_HOST', '127.0.0.1', 'address that the server listens on'),
  port: setting('SERVICE_API_PORT', '8000', 'port that the server listens on'),
  keysFile: setting('SERVICE_API_KEYS_FILE', '', 'YAML list of the keys that callers need'),
  allowAnonymous: setting(
    'SERVICE_ALLOW_ANONYMOUS',
    'false',
    'true lets the server listen beyond this machine without keys',
  ),
  allowedHosts: setting(
    'SERVICE_ALLOWED_HOSTS',
    '',
    'names under which the server is reached, separated by commas',
  ),
  bodyLimit: setting('SERVICE_BODY_LIMIT', '1048576', 'largest body of a request, in bytes'),
  maxRunning: setting('SERVICE_MAX_RUNNING', '64', 'runs at work at once'),
  maxQueued: setting('SERVICE_MAX_QUEUED', '10000', 'runs that may wait for a place'),
  runTtl: setting('SERVICE_RUN_TTL', '86400', 'seconds that settled runs are kept'),
  runKeep: setting('SERVICE_RUN_KEEP', '1000', 'settled runs that are kept'),
  eventBuffer: setting('SERVICE_EVENT_BUFFER', '10000', 'events kept of each run'),
  shutdown: setting('SERVICE_SHUTDOWN_SECONDS', '10', 'seconds that runs have to settle at shutdown'),
  memory: setting(
    'SERVICE_MEMORY',
    '256',
    'MiB that runs waiting and at work may take together, and settled ones again',
  ),
  logLevel: setting('SERVICE_LOG_LEVEL', 'info', 'debug, info, warn, error or silent'),
};

/** The variables read here, in the order in which `doctor` lists them. */
export const SERVER_VARIABLES: readonly Variable[] = Object.values(SETTINGS);

const SEPARATED = `separated by "${delimiter}"`;

/** Every variable read here, in the order in which `doctor` lists them. */
export const VARIABLES: readonly Variable[] = [
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
  { name: 'WAVETRAIN_DEBUG', description: 'shows where a fault in Wavetrain itself happened', secret: false },
  {
    name: 'WAVETRAIN_SERVER',
    description: 'server that the runs commands ask; default http://127.0.0.1:8000',
    secret: false,
  },
  { name: 'WAVETRAIN_API_KEY', description: 'key for that server, when it wants one', secret: true },
  ...SERVER_VARIABLES,
];

/** The variables of this process. Changing the object changes what tools see. */
export function systemEnvironment(): Environment {
  return process.env;
}

/**
 * Reads the configuration from environment variables.
 *
 * @throws WavetrainError `bad_usage`, naming the variable and what it should hold.
 */
export function readConfig(env: Environment): Config {
  return {
    fileRoots: readList(env, 'SERVICE_FILE_ROOTS', 'data:/srv/data'),
    tools: readList(env, 'SERVICE_TOOLS', 'tools.ts:@acme/tools'),
  };
}

/** Which server commands ask; undefined is the client's own default. */
interface ClientConfig {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/** Reads where commands find a server, from environment variables. */
export function readClientConfig(env: Environment): ClientConfig {
  return {
    url: env['WAVETRAIN_SERVER']?.trim() || undefined,
    key: env['WAVETRAIN_API_KEY']?.trim() || undefined,
  };
}

function readList(env: Environment, name: string, example: string): string[] {
  const parts = (env[name] ?? '').split(delimiter).map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => checkPart(part, name, example));
}

function checkPart(part: string, name: string, example: string): string {
  if (part.includes('\0')) throw badVariable(name, 'holds a NUL character', example);
  if (part === '~' || part.startsWith('~/')) {
    throw badVariable(name, `holds "${part}", and "~" means nothing here: write the whole path`, example);
  }
  return part;
}

function badVariable(name: string, what: string, example: string): WavetrainError {
  const shown = example.replaceAll(':', delimiter);
  return new WavetrainError('bad_usage', `the environment variable ${name} ${what}, as in ${name}=${shown}`);
}

/** How the server behaves, from the environment (Server configuration; D25, D26, D37, D38). */
export interface ServerConfig {
  readonly host: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** YAML list of keys; undefined when nobody needs one. */
  readonly keysFile: string | undefined;
  /** Anybody may call, from wherever the server is reached. */
  readonly allowAnonymous: boolean;
  /** Names under which the server is reached, beside its own. */
  readonly allowedHosts: readonly string[];
  readonly bodyLimitBytes: number;
  readonly maxRunning: number;
  readonly maxQueued: number;
  readonly runTtlMs: number;
  readonly runKeep: number;
  /** Events kept of each run. */
  readonly eventBuffer: number;
  /** Time that runs have to settle when the server shuts down. */
  readonly shutdownMs: number;
  /** What runs waiting and at work may take in memory, and settled ones again, in bytes. */
  readonly memoryBytes: number;
  readonly logLevel: string;
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/**
 * Reads the server's configuration from environment variables.
 *
 * @throws WavetrainError `bad_usage`, naming the variable and what it should hold
 */
export function readServerConfig(env: Environment): ServerConfig {
  const text = ({ name, fallback }: Setting): string => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? fallback : value;
  };
  const whole = (from: Setting, least: number, most: number): number => {
    const value = text(from);
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw bad(from, `a whole number from ${least} to ${most}`, value);
  };
  const oneOf = (from: Setting, values: readonly string[]): string => {
    const value = text(from).toLowerCase();
    if (values.includes(value)) return value;
    throw bad(from, values.join(' or '), value);
  };
  return {
    host: text(SETTINGS.host),
    port: whole(SETTINGS.port, 0, 65_535),
    keysFile: text(SETTINGS.keysFile) || undefined,
    allowAnonymous: oneOf(SETTINGS.allowAnonymous, ['true', 'false']) === 'true',
    allowedHosts: text(SETTINGS.allowedHosts)
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
    bodyLimitBytes: whole(SETTINGS.bodyLimit, 1024, 2 ** 30),
    maxRunning: whole(SETTINGS.maxRunning, 1, 1_000_000),
    maxQueued: whole(SETTINGS.maxQueued, 0, 1_000_000),
    runTtlMs: whole(SETTINGS.runTtl, 1, 10 * 365 * 86_400) * 1000,
    runKeep: whole(SETTINGS.runKeep, 0, 1_000_000),
    eventBuffer: whole(SETTINGS.eventBuffer, 100, 1_000_000),
    shutdownMs: whole(SETTINGS.shutdown, 0, 3600) * 1000,
    memoryBytes: whole(SETTINGS.memory, 16, 1_000_000) * 2 ** 20,
    logLevel: oneOf(SETTINGS.logLevel, LOG_LEVELS),
  };
}

function bad({ name }: Setting, wanted: string, value: string): WavetrainError {
  return new WavetrainError(
    'bad_usage',
    `the environment variable ${name} must be ${wanted}, not "${value}"`,
  );
}
