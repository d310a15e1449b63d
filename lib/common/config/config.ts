import { delimiter } from 'node:path';
import { invalidVariable } from '../errors.js';
import { MODEL_VARIABLES } from './model-config.js';
import {
  type Environment,
  type EnvironmentVariable,
  reloaded,
  secretVariable,
  variable,
} from './environment.js';
import { COMMANDS_VARIABLE } from './allowed-commands.js';
import { NETWORK_VARIABLES } from './network-config.js';
import { POOLS_VARIABLE } from './pool-config.js';
import { PUBLIC_URL_VARIABLE } from './public-url.js';
import { SERVER_VARIABLES } from './server-config.js';

const SEPARATED = `separated by "${delimiter}"`;

/** All variables that Wavetrain reads, in the order in which `doctor` lists them. */
export const VARIABLES: readonly EnvironmentVariable[] = [
  variable('SERVICE_FILE_ROOTS', `folders that tools may read from, ${SEPARATED}`),
  variable(
    'SERVICE_WRITE_ROOTS',
    `folders in which tools may write files, on a server each tenant in one of its own, ${SEPARATED}`,
  ),
  reloaded(variable('SERVICE_TOOLS', `tool files or packages to load, ${SEPARATED}`)),
  reloaded(variable('SERVICE_MCP_FILE', 'JSON file with the MCP servers whose tools tasks may call')),
  ...NETWORK_VARIABLES,
  variable(
    'SERVICE_CACHE',
    'folder for the outputs of tasks with "cache"; by default a server keeps them in memory, and the command line in the cache folder of its user',
  ),
  POOLS_VARIABLE,
  COMMANDS_VARIABLE,
  PUBLIC_URL_VARIABLE,
  reloaded(
    variable(
      'SERVICE_SECRETS_FILE',
      'YAML file with the secrets of each tenant; without it, variables SECRET_NAME are secrets',
    ),
  ),
  variable(
    'SERVICE_CONNECTIONS',
    'YAML file with the databases and object stores of each tenant, which tasks name',
  ),
  reloaded(variable('SEC_USER_AGENT', 'name and address that the source sec_edgar sends, as the SEC asks')),
  reloaded(
    variable(
      'SERVICE_SEARCH_PROVIDER',
      'who answers search_web: duckduckgo, brave, serpapi, or a URL with {query} that gives JSON; default duckduckgo',
    ),
  ),
  reloaded(secretVariable('BRAVE_API_KEY', 'key of the search provider brave')),
  reloaded(secretVariable('SERPAPI_API_KEY', 'key of the search provider serpapi')),
  ...MODEL_VARIABLES.map((model) => reloaded(model)),
  variable('WAVETRAIN_DEBUG', 'prints the stack trace of a bug in Wavetrain'),
  variable('WAVETRAIN_SERVER', 'server of the runs commands; default http://127.0.0.1:8000'),
  secretVariable('WAVETRAIN_API_KEY', 'API key for that server'),
  ...SERVER_VARIABLES,
];

/**
 * The configuration of tools. Only `environment.ts` reads the environment (law L5). Other code receives a {@link Config};
 * code for terminals receives the variables.
 */
export interface Config {
  /** Folders that tools may read from, besides those that the command line adds (D51). */
  readonly fileRoots: readonly string[];
  /** Folders in which tools may write files, besides the one that the command line adds (D92). */
  readonly writeRoots: readonly string[];
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
    writeRoots: readList(env, 'SERVICE_WRITE_ROOTS', 'written:/srv/written'),
    tools: readList(env, 'SERVICE_TOOLS', 'tools.ts:@acme/tools'),
    ...(mcpFile !== undefined && { mcpFile }),
  };
}

/** Reads the folder for outputs of tasks with `cache` from SERVICE_CACHE (D65); undefined when none is named. */
export function readCacheFolder({ SERVICE_CACHE: folder = '' }: Environment): string | undefined {
  return folder === '' ? undefined : folder;
}

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

/** Reads the YAML file of the connections of all tenants from SERVICE_CONNECTIONS (D92); undefined when none is named. */
export function readConnectionsPath({ SERVICE_CONNECTIONS: file = '' }: Environment): string | undefined {
  return file.trim() || undefined;
}

export interface ProviderConfig {
  /** Of the source `sec_edgar`. */
  readonly secUserAgent: string | undefined;
  /** A name, or a URL with `{query}`. */
  readonly searchProvider: string | undefined;
  readonly braveKey: string | undefined;
  readonly serpapiKey: string | undefined;
}

/** @throws WavetrainError `bad_usage` with the variable and its valid values */
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
