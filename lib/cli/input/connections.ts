import { resolve } from 'node:path';
import { readConnectionsPath } from '../../common/config/config.js';
import type { FileConnections } from '../../tools/connections/connections-file.js';
import type { CliContext } from '../context.js';

/**
 * Reads the databases and object stores of this process from the file that SERVICE_CONNECTIONS names (D92). Returns
 * undefined when it names none.
 *
 * @throws WavetrainError `unreadable_file` or `bad_usage`
 */
export async function openConnections({
  env,
  cwd,
}: Pick<CliContext, 'env' | 'cwd'>): Promise<FileConnections | undefined> {
  const file = readConnectionsPath(env);
  if (file === undefined) return undefined;
  const { readConnectionsFile } = await import('../lazy/secrets.js');
  return await readConnectionsFile(resolve(cwd, file), file);
}

/** Names the connections for people: `default: warehouse; acme: files`. Undefined when there is no file. @throws as `openConnections` */
export async function describeConnections(
  context: Pick<CliContext, 'env' | 'cwd'>,
): Promise<string | undefined> {
  const connections = await openConnections(context);
  if (connections === undefined) return undefined;
  const tenants = Array.from(
    connections.names,
    ([tenant, names]) => `${tenant}: ${names.join(', ') || 'none'}`,
  );
  return tenants.join('; ');
}
