import { resolve } from 'node:path';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { describeKind, isObject } from '../../common/json/json.js';
import { readOutbound } from '../../common/config/outbound-config.js';
import { MCP_LIMITS } from '../../common/limits.js';
import type { Outbound } from '../../common/requests/outbound.js';
import { didYouMean } from '../../definition/problems/hint.js';
import { nearest } from '../../definition/did-you-mean.js';
import { isHidden } from './hidden-values.js';

interface AnyServerConfig {
  readonly name: string;
  /** The values of variables in the configuration, which nobody else may see (D61). Default: none. */
  readonly hidden?: readonly string[];
}

/** A program that speaks MCP on its standard streams. */
export interface StdioServerConfig extends AnyServerConfig {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** All that the server sees of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A server that speaks MCP over streamable HTTP. */
export interface HttpServerConfig extends AnyServerConfig {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The proxies, and the certificates that are trusted; absent when nothing is configured. */
  readonly outbound?: Outbound;
}

/** One MCP server of the operator. `name` is made of letters, digits, `_` and `-`. */
export type McpServerConfig = StdioServerConfig | HttpServerConfig;

/** Where a configuration comes from. */
export interface McpConfigSource {
  readonly file: string;
  /** The folder of the configuration: relative paths begin there, and servers start there. */
  readonly folder: string;
  /** Values of `${VAR}`, and PATH and HOME of the servers. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Parses the JSON that MCP hosts share: `{"mcpServers": {"name": {"command", "args", "env", "cwd"} | {"url", "headers"}}}`.
 * `${VAR}`, or `${VAR:-default}`, in a text is replaced by the variable. Servers with `"disabled": true` are left out.
 *
 * @throws WavetrainError `bad_usage` that names the file, the server and what to write
 */
export function parseMcpConfig(text: string, source: McpConfigSource): McpServerConfig[] {
  const invalid = (problem: string): WavetrainError =>
    new WavetrainError('bad_usage', `the MCP configuration ${source.file}${problem}`);
  const servers = readServers(text, invalid);
  if (servers.length > MCP_LIMITS.servers)
    throw invalid(` has ${servers.length} servers; ${MCP_LIMITS.servers} are allowed`);
  const configs = new Map<string, McpServerConfig>();
  for (const [key, value] of servers) {
    const invalidServer = (problem: string): WavetrainError => invalid(`: server "${key}" ${problem}`);
    if (!isObject(value)) throw invalidServer(`must be an object, not ${describeKind(value)}`);
    if (value['disabled'] === true) continue;
    const name = key.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
    if (name === '' || configs.has(name))
      throw invalidServer(`needs a name of its own, made of letters, digits, _ and -`);
    const hidden = new Set<string>();
    const config = readServer(name, value, source, hidden, invalidServer);
    configs.set(name, hidden.size === 0 ? config : { ...config, hidden: [...hidden] });
  }
  return [...configs.values()];
}

type CreateError = (problem: string) => WavetrainError;

function readServers(text: string, invalid: CreateError): [string, unknown][] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw invalid(` is not JSON: ${errorMessage(error)}`);
  }
  const servers = isObject(parsed) ? parsed['mcpServers'] : undefined;
  if (isObject(servers)) return Object.entries(servers);
  throw invalid(' has no object "mcpServers"; write {"mcpServers": {"name": {"command": "…", "args": []}}}');
}

const FIELDS = ['command', 'args', 'env', 'cwd', 'url', 'headers', 'type', 'disabled'];

function readServer(
  name: string,
  fields: Readonly<Record<string, unknown>>,
  source: McpConfigSource,
  hidden: Set<string>,
  invalid: CreateError,
): McpServerConfig {
  assertKnownFields(fields, invalid);
  const expand = (text: string, field: string): string =>
    expandVariables(text, field, source.env, hidden, invalid);
  const { command, url, type } = fields;
  if (type === 'sse')
    throw invalid('uses the transport "sse", which MCP has replaced: give the URL of its streamable HTTP');
  if (typeof command === 'string' && url === undefined) {
    if (command.trim() === '') throw invalid('has an empty "command"');
    return {
      kind: 'stdio',
      name,
      command: expand(command, 'command'),
      args: readTexts(fields['args'] ?? [], 'args', invalid).map((arg) => expand(arg, 'args')),
      env: { ...inherited(source.env), ...readTextMap(fields['env'] ?? {}, 'env', expand, invalid) },
      cwd: resolve(source.folder, expand(readText(fields['cwd'] ?? '.', 'cwd', invalid), 'cwd')),
    };
  }
  if (typeof url === 'string' && command === undefined) {
    const expanded = expand(url, 'url');
    if (!/^https?:$/.test(URL.canParse(expanded) ? new URL(expanded).protocol : ''))
      throw invalid('needs a "url" that begins with http:// or https://');
    const headers = readTextMap(fields['headers'] ?? {}, 'headers', expand, invalid);
    const outbound = readOutbound(source.env);
    return { kind: 'http', name, url: expanded, headers, ...(outbound && { outbound }) };
  }
  throw invalid('needs either "command" (a program to start) or "url" (streamable HTTP), as text');
}

/** Other hosts have further fields, which mean nothing here; a misspelt one would go unnoticed. */
function assertKnownFields(fields: Readonly<Record<string, unknown>>, invalid: CreateError): void {
  for (const field of Object.keys(fields)) {
    if (FIELDS.includes(field)) continue;
    const meant = nearest(field, FIELDS);
    if (meant !== undefined) throw invalid(`has an unknown field "${field}"; ${didYouMean(meant)}`);
  }
}

/** A server needs these to find programs and its user's folder; it sees nothing else that is not configured. */
function inherited(env: McpConfigSource['env']): Record<string, string> {
  const names = ['PATH', 'HOME', 'SYSTEMROOT'];
  return Object.fromEntries(
    names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name] ?? '']])),
  );
}

function readText(value: unknown, field: string, invalid: CreateError): string {
  if (typeof value === 'string') return value;
  throw invalid(`needs a text as "${field}", not ${describeKind(value)}`);
}

function readTexts(value: unknown, field: string, invalid: CreateError): string[] {
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value;
  throw invalid(`needs a list of texts as "${field}"`);
}

function readTextMap(
  value: unknown,
  field: string,
  expand: (text: string, field: string) => string,
  invalid: CreateError,
): Record<string, string> {
  if (!isObject(value)) throw invalid(`needs an object of texts as "${field}"`);
  const entries = Object.entries(value).map(([key, text]) => {
    if (typeof text !== 'string') throw invalid(`needs a text as "${field}.${key}"`);
    return [key, expand(text, `${field}.${key}`)];
  });
  return Object.fromEntries(entries);
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function expandVariables(
  text: string,
  field: string,
  env: McpConfigSource['env'],
  hidden: Set<string>,
  invalid: CreateError,
): string {
  return text.replaceAll(VARIABLE, (_, name: string, fallback?: string) => {
    const value = env[name] || fallback;
    if (env[name] && isHidden(name, env[name])) hidden.add(env[name]);
    if (value !== undefined) return value;
    throw invalid(`uses \${${name}} in "${field}", and the variable is not set: set ${name}`);
  });
}
