import type { Config } from '../common/config.js';
import type { Catalog } from '../tools/catalog.js';
import type { CliContext } from './context.js';

/**
 * The catalog of a command: the built-in tools, those of SERVICE_TOOLS and those of `--tools` (D48).
 *
 * @throws WavetrainError `bad_tool_file`
 */
export function openToolbox(
  named: readonly string[] | undefined,
  config: Config,
  { services, cwd }: CliContext,
): Promise<Catalog> {
  const specifiers = new Set([...config.tools, ...(named ?? [])]);
  return services.catalog([...specifiers], cwd);
}
