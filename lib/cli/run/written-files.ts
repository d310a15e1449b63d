import { formatCount, formatNumber, nameCall } from '../../common/text.js';
import { relative } from 'node:path';
import { isPathInside } from '../../common/files.js';
import type { RunArtifact } from '../../execution/results.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext, QueriesApi } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../package-info.js';
import type { RunEndFlags } from './run-end.js';
import { serverFlag } from '../render/run-summary.js';
import { detectTerminal } from '../render/terminal.js';
import { toSingleLine, wrapLine } from '../render/text.js';

/** The files that the tools of a settled run have written (D63), and where they are. */
export interface WrittenFiles {
  readonly files: readonly WrittenFile[];
  /** The number of files, of which a record lists the first. */
  readonly total: number;
  /** The command that gets the files; undefined when they are on this machine. */
  readonly command?: string;
  /** Why the files are not where they should be. */
  readonly problem?: string;
}

export interface WrittenFile {
  readonly artifact: RunArtifact;
  /** Undefined for a file on a server. */
  readonly path: string | undefined;
}

/** The most files that are listed without `--full`, which lists all that the record has. */
const MAX_FILES = 20;

/** Finds the files of a run of this process. Call before the run is forgotten. */
export function findLocalFiles(
  { run_id, artifacts, artifact_count: total }: RunRecord,
  queries: Pick<QueriesApi, 'artifacts'>,
): WrittenFiles {
  if (total === 0) return { files: [], total };
  const found = queries.artifacts(run_id);
  return { files: artifacts.map((artifact) => ({ artifact, path: found.find(artifact.name)?.path })), total };
}

/** The files of a run on a server, which stay there. */
export function filesOnServer(
  { run_id, artifacts, artifact_count: total }: RunRecord,
  server: string | undefined,
): WrittenFiles {
  const command = `${PROGRAM} runs artifacts ${run_id}${serverFlag(server)}`;
  return { files: artifacts.map((artifact) => ({ artifact, path: undefined })), total, command };
}

/**
 * Lists the files on standard error, since standard output is for the outputs (D41). Returns the exit status: a file that
 * is not where the user wants it is a failure.
 */
export function printWrittenFiles(
  written: WrittenFiles,
  { json, quiet, full }: Pick<RunEndFlags, 'json' | 'quiet' | 'full'>,
  folders: FileFolders,
  { stderr, env, cwd }: Pick<CliContext, 'stderr' | 'env' | 'cwd'>,
): ExitStatus {
  const { files, total, command, problem } = written;
  const terminal = detectTerminal(stderr, env);
  const { style } = terminal;
  const lines: string[] = [];
  if (total > 0 && !json && !quiet) {
    const shown = full ? files : files.slice(0, MAX_FILES);
    const hidden = total - shown.length;
    lines.push(style.bold('Files:'), ...shown.map((file) => `  ${describeFile(file, cwd)}`));
    if (hidden > 0) lines.push(style.dim(`  … ${formatNumber(hidden)} more`));
    const hint = (text: string): string => `  ${style.cyan('hint:')} ${text}`;
    // Never wrapped, so that it can be copied.
    if (command !== undefined) {
      lines.push(hint(command), ...wrapLine(`    lists them; with a name, it downloads one`, terminal));
    }
    const end = describeEnd(shown, folders);
    if (end !== undefined) lines.push(...wrapLine(hint(`bytes that a tool returns ${end}`), terminal));
  }
  if (problem !== undefined) {
    lines.push(...wrapLine(`${style.red(`${PROGRAM}:`)} ${toSingleLine(problem)}`, terminal));
  }
  if (lines.length > 0) stderr.write(`${lines.join('\n')}\n`);
  return problem === undefined ? EXIT.done : EXIT.failed;
}

interface FileFolders {
  /** Of files that tools write by name; undefined when they stay on a server. */
  readonly named?: string | undefined;
  /** Of bytes that tools return, in the history of runs. */
  readonly bytes?: string | undefined;
}

/** Says for how long bytes stay that a tool has returned; undefined without any. */
function describeEnd(files: readonly WrittenFile[], { named, bytes }: FileFolders): string | undefined {
  const isOfBytes = ({ path }: WrittenFile): boolean =>
    path !== undefined && !(named !== undefined && isPathInside(path, named));
  const ofBytes = named === undefined ? [] : files.filter(isOfBytes);
  if (ofBytes.length === 0) return undefined;
  const areKept = ofBytes.every(({ path = '' }) => bytes !== undefined && isPathInside(path, bytes));
  return areKept
    ? 'are kept as long as the run: copy those that you want to keep longer'
    : 'are temporary files: copy those that you want to keep';
}

/** `outputs/report.xlsx  12,345 bytes  from export_rows[3]` */
function describeFile({ artifact, path }: WrittenFile, cwd: string): string {
  return artifactLine(path === undefined ? artifact : { ...artifact, name: shortenPath(path, cwd) });
}

/** `report.xlsx  12,345 bytes  from export_rows[3]` */
export function artifactLine(artifact: RunArtifact): string {
  const { name, size } = artifact;
  return `${toSingleLine(name)}  ${formatCount(size, 'byte')}  from ${toSingleLine(nameCall(artifact))}`;
}

/** Names a path as messages do: from the working directory, for what is below it. */
export function shortenPath(path: string, cwd: string): string {
  return isPathInside(path, cwd) ? relative(cwd, path) : path;
}
