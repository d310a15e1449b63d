import { delimiter } from 'node:path';
import type { Environment, Variable } from './environment.js';
import { WavetrainError } from './errors.js';
import { SERVER_VARIABLES } from './server-config.js';

/**
 * The environment, read once and in one place (law L5). Everything else is handed a {@link Config}, or, for what
 * concerns a terminal alone, the variables themselves.
 */
export type { Environment, Variable } from './environment.js';

export interface Config {
  /** Folders that tools may read from, besides those that the command line adds (D51). */
  readonly fileRoots: readonly string[];
  /** Tool files and packages loaded beside the built-in tools (D48). */
  readonly tools: readonly string[];
}

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
export interface ClientConfig {
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
