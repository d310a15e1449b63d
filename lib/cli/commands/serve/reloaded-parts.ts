import { resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { isDeepStrictEqual } from 'node:util';
import { readConfig, readConnectionsPath, readSecretConfig } from '../../../common/config/config.js';
import type { Environment } from '../../../common/config/environment.js';
import { readModelConfig } from '../../../common/config/model-config.js';
import { readServerConfig, type ServerConfig } from '../../../common/config/server-config.js';
import { lowerShare } from '../../../common/memory/shared-limit.js';
import type { UsedSecrets } from '../../../definition/secrets/sources.js';
import type { ApiKey } from '../../../http/auth/authenticate.js';
import type { StreamLog } from '../../../http/logging/log.js';
import { compareNamed, type ReloadTarget, changesOrUndefined } from '../../../http/reload.js';
import type { ModelLimiters } from '../../../models/models.js';
import type { FileConnections } from '../../../tools/connections/connections-file.js';
import { toolFiles } from '../../../tools/loading/load-tools.js';
import type { CliContext } from '../../context.js';
import { openConnections } from '../../input/connections.js';
import { type OwnsEnvironment, readServerSecrets, valuesOfTenants } from '../../input/secrets.js';
import { CurrentConnections, CurrentModels } from './current-sources.js';
import type { ReadPart, ReloadedPart } from './reloader.js';
import type { ServerModule } from './server-processes.js';
import type { ServerTools, ServerToolsOptions } from './server-tools.js';

/** The files that a server reads, besides its folder of pipelines. */
export function configurationFiles(
  env: Environment,
  cwd: string,
  flags: ServerToolsOptions['flags'],
): Readonly<Record<'keys' | 'secrets' | 'connections' | 'tools' | 'models', readonly string[]>> {
  const listed = (name: string | undefined): string[] => (name === undefined ? [] : [resolve(cwd, name)]);
  const { tools, mcpFile } = readConfig(env);
  const prices = env['SERVICE_MODEL_PRICES']?.trim() || undefined;
  return {
    keys: listed(env['SERVICE_API_KEYS_FILE']?.trim() || undefined),
    secrets: listed(readSecretConfig(env).file),
    connections: listed(readConnectionsPath(env)),
    tools: [...toolFiles([...tools, ...(flags.tools ?? [])], cwd), ...listed(flags.mcp ?? mcpFile)],
    models: prices?.startsWith('{') ? [] : listed(prices),
  };
}

/** Creates the parts of a server that are read again. */
export class ReloadedParts {
  readonly #context: CliContext;
  readonly #flags: ServerToolsOptions['flags'];
  #networksOf: (tenantId: string) => readonly string[] = () => [];

  constructor(context: CliContext, flags: ServerToolsOptions['flags']) {
    this.#context = context;
    this.#flags = flags;
  }

  /** Returns what finds the private networks that the keys in use allow a tenant (D51). */
  networksOf(
    { networksOfTenants }: Pick<ServerModule, 'networksOfTenants'>,
    keys: readonly ApiKey[],
  ): (tenantId: string) => readonly string[] {
    this.#networksOf = networksOfTenants(keys);
    return (tenantId) => this.#networksOf(tenantId);
  }

  /** The keys of callers. The server must have had some when it started, and the file is the same. */
  keys(
    modules: Pick<ServerModule, 'readKeysFile' | 'countTenants' | 'networksOfTenants'>,
    file: string,
    { tenantShare }: Pick<ServerConfig, 'tenantShare'>,
    log: StreamLog,
    target: Pick<ReloadTarget, 'useKeys'>,
  ): ReloadedPart {
    const read = async (): Promise<ReadPart> => {
      const keys = await modules.readKeysFile(resolve(this.#context.cwd, file));
      return {
        use: () => {
          const tenants = modules.countTenants(keys);
          if (lowerShare(tenantShare, tenants) < tenantShare) {
            const message = `the keys file has ${tenants} tenants now: restart, so that each of them is guaranteed its share of every limit`;
            log.warn({}, message);
          }
          this.#networksOf = modules.networksOfTenants(keys);
          return changesOrUndefined(target.useKeys(keys));
        },
      };
    };
    // Another file needs a restart, so that the name is that of the start.
    return { kind: 'keys', files: () => [resolve(this.#context.cwd, file)], read };
  }

  secrets(secrets: UsedSecrets, ownsEnvironment: OwnsEnvironment, first: SecretValues): ReloadedPart {
    let values = first;
    return this.#part('secrets', async (context) => {
      const read = await readServerSecrets(context, ownsEnvironment);
      return {
        use: () => {
          const changes = compareNamed(values, read.values);
          values = read.values;
          secrets.use(read.source);
          return changesOrUndefined(changes);
        },
      };
    });
  }

  /** The server must have had a file of connections when it started, and the file is the same. */
  connections(first: FileConnections): { readonly source: CurrentConnections; readonly part: ReloadedPart } {
    const source = new CurrentConnections(first);
    let before = first;
    const { env, cwd } = this.#context;
    const { SERVICE_CONNECTIONS } = env;
    const files = configurationFiles(env, cwd, this.#flags).connections;
    const readAgain = async (): Promise<ReadPart> => {
      const read = (await openConnections({ env: { SERVICE_CONNECTIONS }, cwd })) ?? first;
      return {
        use: () => {
          const changes = compareNamed(connectionsOf(before), connectionsOf(read), isDeepStrictEqual);
          before = read;
          source.use(read);
          return changesOrUndefined(changes);
        },
      };
    };
    return { source, part: { kind: 'connections', files: () => files, read: readAgain } };
  }

  /** The tools of files and MCP servers. */
  tools(tools: ServerTools, target: Pick<ReloadTarget, 'useCatalog'>): ReloadedPart {
    return this.#part('tools', ({ env }) => tools.read(env, (catalog) => target.useCatalog(catalog)));
  }

  /** The language models, their keys and prices. */
  models(
    { createModels, allowConfiguredModels }: Pick<ServerModule, 'createModels' | 'allowConfiguredModels'>,
    { tenantShare }: Pick<ServerConfig, 'tenantShare'>,
    log: StreamLog,
  ): { readonly models: CurrentModels; readonly part: ReloadedPart } {
    const limiters: ModelLimiters = new Map();
    const read = (env: Environment) => allowConfiguredModels(readModelConfig(env));
    const create = (config: ReturnType<typeof read>) => {
      const models = createModels(config, {
        folders: [this.#context.cwd],
        tenantShare,
        limiters,
        log: (message) => log.warn({}, message),
      });
      void models.preload();
      return models;
    };
    let used = read(this.#context.env);
    const models = new CurrentModels(create(used));
    const part = this.#part('models', async ({ env }) => {
      const config = read(env);
      return {
        use: () => {
          if (isDeepStrictEqual(used, config)) return undefined;
          used = config;
          models.use(create(config));
          return {};
        },
      };
    });
    return { models, part };
  }

  /** The settings that can change, which a variable of the file of `--env-file` sets. @param levelOf the level of the log */
  settings(log: StreamLog, levelOf: (config: ServerConfig) => string): ReloadedPart {
    return {
      kind: 'settings',
      files: () => [],
      read: async (env) => {
        const level = levelOf(readServerConfig(env, getHeapStatistics().heap_size_limit));
        return {
          use: () => {
            log.setLevel(level);
            return undefined;
          },
        };
      },
    };
  }

  #part(
    kind: keyof ReturnType<typeof configurationFiles>,
    read: (context: CliContext) => Promise<ReadPart>,
  ): ReloadedPart {
    const { env, cwd } = this.#context;
    return {
      kind,
      files: () => configurationFiles(env, cwd, this.#flags)[kind],
      read: (changed) => read({ ...this.#context, env: changed }),
    };
  }
}

type SecretValues = Awaited<ReturnType<typeof readServerSecrets>>['values'];

function connectionsOf(source: FileConnections): ReadonlyMap<string, unknown> {
  return valuesOfTenants(source.names, (tenant, name) => source.find(tenant, name));
}
