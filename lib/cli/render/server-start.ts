import type { ServerConfig } from '../../common/config/server-config.js';
import { formatCount } from '../../common/text.js';
import type { Log } from '../../http/logging/log.js';
import type { RunningServer } from '../../http/server-options.js';
import type { RestoredRuns } from '../../runs/registry.js';
import type { CliContext } from '../context.js';
import { detectTerminal } from './terminal.js';
import { wrapLine } from './text.js';

type LibraryCounts = NonNullable<RunningServer['library']>['counts'];

interface Output extends Pick<CliContext, 'stdout' | 'env'> {
  readonly log: Log;
  readonly quiet: boolean;
}

/**
 * Prints how many pipelines the folder of a server has, and where its runs are kept, once those from before can be found.
 * Rejects when the store cannot be read.
 */
export async function printRestored(
  server: RunningServer,
  { storeFile }: ServerConfig,
  output: Output,
): Promise<void> {
  const restored = await server.restored;
  if (restored === undefined) return;
  const { library } = server;
  if (library !== undefined) print(describeLibrary(library.folder, library.counts), output);
  // On a terminal, the first lines have said that there is no store.
  const text = describeStore(storeFile, restored);
  if (storeFile !== undefined || !detectTerminal(output.stdout, output.env).interactive) print(text, output);
}

function print(text: string, { stdout, env, log, quiet }: Output): void {
  const terminal = detectTerminal(stdout, env);
  if (!terminal.interactive) log.info({}, text);
  else if (!quiet) stdout.write(`${wrapLine(text, terminal).join('\n')}\n\n`);
}

function describeStore(file: string | undefined, { kept, goingOn, waiting }: RestoredRuns): string {
  if (file === undefined) return 'runs are kept in memory and are lost when the server exits';
  const text = `runs are kept in ${file}: ${kept} from before, of which ${goingOn} ${goingOn === 1 ? 'goes' : 'go'} on`;
  return waiting === 0 ? text : `${text}; ${waiting} more wait until there is memory for them`;
}

function describeLibrary(folder: string, { pipelines, broken, schedules }: LibraryCounts): string {
  return [
    `${formatCount(pipelines, 'pipeline')} in ${folder}`,
    formatCount(schedules, 'schedule'),
    ...(broken > 0 ? [`${broken} with errors: GET /pipelines lists them`] : []),
  ].join(', ');
}
