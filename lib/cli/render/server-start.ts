import type { ServerConfig } from '../../common/config/server-config.js';
import { formatCount } from '../../common/text.js';
import type { Log } from '../../http/logging/log.js';
import type { RunningServer } from '../../http/server-options.js';
import type { RestoredRuns } from '../../runs/store/restore/restoration.js';
import type { CliContext } from '../context.js';
import { PROGRAM } from '../package-info.js';
import { detectTerminal } from './terminal.js';
import { wrapLine } from './text.js';

type LibraryCounts = NonNullable<RunningServer['library']>['counts'];

interface Output extends Pick<CliContext, 'stdout' | 'env'> {
  readonly log: Log;
  readonly quiet: boolean;
}

/** Prints the address of the server: as text on a terminal, as a log line elsewhere. */
export function printAddress(
  { url }: RunningServer,
  { storeFile }: ServerConfig,
  { stdout, env, log, quiet }: Output,
): void {
  const terminal = detectTerminal(stdout, env);
  const docs = `${url}/docs`;
  if (!terminal.interactive) return log.info({ url, docs }, 'listening');
  if (quiet) return;
  const { bold, cyan, dim } = terminal.style;
  const lines = [
    ...wrapLine(`${bold(PROGRAM)} listens on ${cyan(url)}`, terminal),
    ...wrapLine(`  documentation  ${cyan(docs)}`, terminal),
    ...wrapLine(`  ${storeFile === undefined ? RUNS_ARE_LOST : RUNS_GO_ON}`, terminal).map(dim),
  ];
  stdout.write(`${lines.join('\n')}\n\n`);
}

const RUNS_ARE_LOST = 'Ctrl-C shuts down; runs are kept in memory and are lost when the server exits';
const RUNS_GO_ON = 'Ctrl-C shuts down; runs go on when the server is started again';

/** Prints how many pipelines there are, and where runs are kept, once earlier runs are read. Rejects if they cannot be read. */
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

/** Prints how long the server waits for the runs that are at work. */
export function printShutdown(
  { registry }: RunningServer,
  { shutdownMs }: ServerConfig,
  { stdout, env, log }: Output,
): void {
  const { load } = registry.queries;
  const terminal = detectTerminal(stdout, env);
  if (!terminal.interactive) return log.info({ ...load, grace_ms: shutdownMs }, 'shutting down');
  const runs = load.running === 1 ? '1 run has' : `${load.running} runs have`;
  const wait =
    load.running === 0 ? '' : `: ${runs} ${shutdownMs / 1000} s to finish; Ctrl-C again exits at once`;
  stdout.write(`\n${wrapLine(`shutting down${wait}`, terminal).join('\n')}\n`);
}
