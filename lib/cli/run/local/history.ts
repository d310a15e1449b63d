import { existsSync, lstatSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorMessage } from '../../../common/errors.js';
import type { RunRecord } from '../../../runs/record.js';
import type { SavedCommand } from '../../../runs/store/run-store.js';
import type { RunWithFacts, KeptRuns } from '../../../runs/store/shell/kept-runs.js';
import type { ShellStore } from '../../../runs/store/shell/shell-store.js';
import type { CliContext } from '../../context.js';
import type { DefinitionFlags } from '../../input/load-definition.js';
import { STANDARD_INPUT } from '../../input/read-file.js';
import { PROGRAM } from '../../package-info.js';
import { keptRerunLines } from '../../render/run-summary.js';
import { detectTerminal } from '../../render/terminal.js';
import { wrapLine } from '../../render/text.js';
import { UsageError } from '../../input/usage-errors.js';
import type { RunFlags } from '../submission.js';

/** In the folder of a project: what the shell has run there. */
const HISTORY_FOLDER = '.wavetrain';

export interface HistoryFlags {
  readonly store?: string | undefined;
  readonly noStore?: boolean | undefined;
}

/** Returns true when a new run is kept: not with `--no-store`, and in CI only where a flag names a folder. @throws UsageError */
export function keepsRuns(
  { store, noStore = false }: HistoryFlags,
  { env, keepsHistory }: CliContext,
): boolean {
  if (noStore && store !== undefined) throw new UsageError('give --store or --no-store, not both');
  if (noStore) return false;
  return store !== undefined || (keepsHistory && !isOn(env['CI']));
}

/**
 * Finds the folder that keeps the runs of the shell (D68): the one that a flag names, or else `.wavetrain` in the working
 * directory, or in a folder above it that is not the home folder. Where there is none yet, it belongs into the working
 * directory, unless something else is in its place there: see {@link findPlaceProblem}. @throws UsageError for a file
 */
export function findHistoryFolder({ store }: HistoryFlags, { cwd, host }: CliContext): string {
  if (store !== undefined) return findNamedFolder(store, cwd);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = join(folder, HISTORY_FOLDER);
    const isProject = folder !== host.homeFolder || folder === cwd;
    if (isProject && isOwnFolder(found, host.userId)) return found;
    if (folder === host.homeFolder || dirname(folder) === folder) return join(cwd, HISTORY_FOLDER);
  }
}

/** The commands on the store of a server take its file by the same flag. */
function findNamedFolder(store: string, cwd: string): string {
  const path = resolve(cwd, store);
  if (!existsSync(path) || !statSync(path).isFile()) return path;
  const isOfShell = basename(path) === 'runs.db' && basename(dirname(path)) === HISTORY_FOLDER;
  const hint = isOfShell
    ? `write --store ${dirname(store)}`
    : `if it is the store of a server, start it with SERVICE_STORE=${store} ${PROGRAM} serve, then add --server URL`;
  throw new UsageError(`${store} is a file, and --store names a folder with runs of the shell`, hint);
}

/** `CI=false` and `CI=` are off. */
function isOn(variable: string | undefined): boolean {
  return !['', 'false', '0'].includes(variable?.trim().toLowerCase() ?? '');
}

/** A folder of another user, or a link, is none: somebody else would read what is written to it. */
function isOwnFolder(path: string, userId: number | undefined): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (userId === undefined || found.uid === userId);
}

/**
 * Why nothing may be read from a folder, or written to it: somebody else may have put runs there, and to show or to repeat a
 * run loads the tool files that it names. Undefined for a folder that a flag names, and for one that is not there.
 */
function findPlaceProblem(folder: string, { store }: HistoryFlags, { host }: CliContext): string | undefined {
  const isOpen = store !== undefined || lstatSync(folder, { throwIfNoEntry: false }) === undefined;
  return isOpen || isOwnFolder(folder, host.userId) ? undefined : `${folder} is not a folder of this user`;
}

export function hasHistory(flags: HistoryFlags, context: CliContext): boolean {
  const folder = findHistoryFolder(flags, context);
  return existsSync(folder) && findPlaceProblem(folder, flags, context) === undefined;
}

/** Opens the runs that are kept, for reading. There may be none. @throws UsageError when the folder is not one of this user */
export async function openKeptRuns(flags: HistoryFlags, context: CliContext): Promise<KeptRuns> {
  const folder = findHistoryFolder(flags, context);
  const problem = findPlaceProblem(folder, flags, context);
  if (problem !== undefined) throw new UsageError(problem, 'name another folder with --store');
  return readKeptRuns(folder, context);
}

async function readKeptRuns(folder: string, { host, clock }: CliContext): Promise<KeptRuns> {
  const { KeptRuns: Runs } = await import('../../lazy/execution.js');
  return Runs.open(folder, host, clock.now());
}

interface HistoryParts {
  readonly store?: ShellStore | undefined;
  readonly bytesFolder?: string | undefined;
  readonly problem?: string;
}

/** The history that a run of this process is added to. */
export class ShellHistory {
  /** Undefined when nothing can be kept. */
  readonly store: ShellStore | undefined;
  /** For the bytes that tools return; undefined when they cannot be kept with their run, and are temporary files. */
  readonly bytesFolder: string | undefined;
  readonly #folder: string;
  readonly #flags: HistoryFlags;
  /** Why the run is not kept, or not to its end. */
  #problem: string | undefined;

  private constructor(folder: string, flags: HistoryFlags, { store, bytesFolder, problem }: HistoryParts) {
    this.#folder = folder;
    this.#flags = flags;
    this.store = store;
    this.bytesFolder = bytesFolder;
    this.#problem = problem;
    store?.onFailure((error) => {
      this.#problem = errorMessage(error);
    });
  }

  /** Opens the history for a run of this process. @param earlier ended run that the registry restores */
  static async open(
    path: string,
    flags: CommandLine & HistoryFlags,
    context: CliContext,
    earlier?: RunWithFacts,
  ): Promise<ShellHistory> {
    const problem = findPlaceProblem(path, flags, context);
    if (problem !== undefined) {
      return new ShellHistory(path, flags, { problem: `${problem}; --store names another` });
    }
    const { HistoryWriter, ShellFolder, ShellStore: Store } = await import('../../lazy/execution.js');
    const folder = new ShellFolder(path);
    // Brings runs over that an earlier version has kept.
    if (folder.hasOldRuns) await readKeptRuns(path, context).catch(() => undefined);
    const command = saveCommand(flags, context);
    const writer = new HistoryWriter(folder, () => context.clock.now());
    const { runs: filesFolder } = folder;
    const store = new Store({ place: path, filesFolder, writer, command, earlier });
    const bytesFolder = (await folder.isPrivate()) ? filesFolder : undefined;
    return new ShellHistory(path, flags, { store, bytesFolder });
  }

  /** Prints what is not kept, also with `--json`, and how a run that has not succeeded goes on; nothing with `--quiet`. */
  async printEnd(
    { run_id: id, status }: RunRecord,
    { json, quiet }: Pick<RunFlags, 'json' | 'quiet'>,
    context: CliContext,
  ): Promise<void> {
    if (quiet) return;
    const { stderr, env } = context;
    await this.store?.idle();
    const terminal = detectTerminal(stderr, env);
    const lines: string[] = [];
    const isKept = this.store?.isKept(id) ?? false;
    if (this.#problem !== undefined) {
      const lacking = isKept ? 'lacks the end of this run' : 'lacks this run';
      lines.push(...wrapLine(`${PROGRAM}: the history ${lacking}: ${this.#problem}`, terminal));
    }
    if (isKept && !json && status !== 'succeeded') {
      const newest = await this.#readNewest(context);
      const { store } = this.#flags;
      const words = [...(newest === id ? [] : [id]), ...(store === undefined ? [] : ['--store', store])];
      lines.push(...keptRerunLines(words, status === 'failed', terminal));
    }
    if (lines.length > 0) stderr.write(`${lines.join('\n')}\n`);
  }

  /** Undefined when the history cannot be read. */
  async #readNewest(context: CliContext): Promise<string | undefined> {
    return readKeptRuns(this.#folder, context).then(
      (kept) => kept.ids()[0],
      () => undefined,
    );
  }
}

/** The parts of a run's command line that a rerun needs to know. The file is `-` for standard input. */
export type CommandLine = Pick<DefinitionFlags, 'file' | 'tools' | 'mcp'> & {
  readonly model?: string | undefined;
  readonly outputFolder: string;
};

function saveCommand(
  { file, tools = [], mcp, model, outputFolder }: CommandLine,
  { cwd, host }: CliContext,
): SavedCommand {
  // Tools may come from a package as well.
  const toPath = (name: string): string => (existsSync(resolve(cwd, name)) ? resolve(cwd, name) : name);
  return {
    pid: host.pid,
    cwd,
    output_folder: outputFolder,
    ...(file !== STANDARD_INPUT && { file: resolve(cwd, file) }),
    ...(tools.length > 0 && { tools: tools.map(toPath) }),
    ...(mcp !== undefined && { mcp: resolve(cwd, mcp) }),
    ...(model !== undefined && { model }),
  };
}
