import { BY_COMMAND_LINE } from '../../../common/wire/started-by.js';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CheckedDefinition } from '../../../execution/prepare/run-inputs.js';
import type { RerunRequest } from '../../../runs/rerun/rerun.js';
import type { RerunReport } from '../../../runs/rerun/rerun-report.js';
import type { KeptRuns, ShellRun } from '../../../runs/store/shell/kept-runs.js';
import type { StoredSubmission } from '../../../runs/store/run-store.js';
import type { CliContext, RegistryApi } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import {
  checkDefinitionFile,
  type DefinitionFile,
  findChecked,
  loadSetup,
  readDefinition,
  readValues,
  withPoolsHere,
} from '../../input/load-definition.js';
import { permitCommands } from './command-permission.js';
import { assertRevivable, reviveWith, toDefinitionFile } from './earlier-definition.js';
import { readEnvFile } from '../../input/flags.js';
import { printProblems } from '../../input/problems.js';
import type { FlagsOf, ShellRunCommand } from '../../input/shared-options.js';
import { PROGRAM } from '../../package-info.js';
import { toSingleLine } from '../../render/text.js';
import { addToolsHint, assertNotAtWork } from '../../runs/kept-run.js';
import { collectChanges, confirmRepeats, explainForShell, rerunReportLines } from '../../runs/rerun.js';
import { matchRunId } from '../../runs/server-client.js';
import { UsageError } from '../../input/usage-errors.js';
import { openKeptRuns } from './history.js';
import type { DisplayedRun, StartOptions } from '../displayed-run.js';
import { assertFlagsFit, readRunValues, type RunFlags } from '../submission.js';
import { shortenPath } from '../written-files.js';
import { describeLocalRun, listFilesRead, openLocalRegistry } from './local-run.js';

export interface RerunTarget {
  /** Undefined for the newest run. */
  readonly runId: string | undefined;
  /** Empty for the file of that run. */
  readonly file: string;
}

interface LocalRerunFlags extends RerunTarget, FlagsOf<ShellRunCommand> {
  readonly from: string;
  readonly yes: boolean;
}

/**
 * Prepares the rerun of a run of the history in this process, with the changes that the flags name (D60). Returns the run,
 * or the exit status of an invalid definition.
 */
export async function prepareLocalRerun(
  flagsOfCommand: Omit<LocalRerunFlags, keyof RerunTarget>,
  target: RerunTarget,
  context: CliContext,
): Promise<DisplayedRun | ExitStatus> {
  const given: LocalRerunFlags = { ...flagsOfCommand, ...target };
  const values = await readRunValues(given, context);
  const kept = await openKeptRuns(given, context);
  const earlier = findEarlier(given, kept, context);
  const { submission } = earlier;
  const flags = withCommand(given, earlier, context);
  const file = await readFileOrStored(flags, submission, context);
  assertFlagsFit(file.kind, values);
  assertSameKind(file, earlier);
  const { catalog, fileRoots } = await loadSetup(file, flags, context, [JSON.stringify(submission)]).catch(
    (error: unknown) => {
      throw given.tools ? error : addToolsHint(error, earlier, 'name them anew with --tools');
    },
  );
  const setup = { catalog, fileRoots, complete: true };
  const { outputFolder } = flags;
  const places = { folder: kept.path, fileRoots: [...fileRoots, flags.cwd], outputFolder };
  const local = await openLocalRegistry(flags, places, context, kept.withFacts(earlier));
  const { registry } = local;
  await assertRevivable(earlier, setup);
  await registry.restore(reviveWith(setup));
  const changes = collectChanges(values, file);
  const merged = await registry.queries.rerunValues(earlier.id, changes);
  const loaded = await checkDefinitionFile({ ...file, ...merged }, withPoolsHere(setup));
  if (!loaded.check.ok || !(given.json || given.quiet)) printProblems(loaded, context);
  const checked = findChecked(loaded);
  if (checked === undefined) return EXIT.invalid;
  local.permit(await permitCommands(given, checked, file, context));
  const { kind: _, ...definition } = checked;
  const changed = isSame(checked, submission) ? {} : definition;
  const request: RerunRequest = { from: given.from, ...changes, ...changed };
  const preview = (): Promise<RerunReport> => registry.queries.previewRerun(earlier.id, request);
  if (!(await confirmRepeats(given, preview, context))) return EXIT.done;
  const displayed = await describeLocalRun(checked, values.plan_concurrency, local, (startOptions) =>
    startRerun({ id: earlier.id, request, file }, registry, startOptions, given),
  );
  return { ...displayed, filesRead: listFilesRead(flags, file, context) };
}

async function startRerun(
  rerun: { readonly id: string; readonly request: RerunRequest; readonly file: DefinitionFile },
  registry: RegistryApi,
  { onEvent, onInspection, print }: StartOptions,
  { json, quiet }: Pick<RunFlags, 'json' | 'quiet'>,
): Promise<string> {
  const { id, request, file } = rerun;
  try {
    const runId = await registry.rerun(id, request, { startedBy: BY_COMMAND_LINE, onEvent, onInspection });
    const report = await registry.queries.rerunReport(runId);
    if (report !== null && !json && !quiet) for (const line of rerunReportLines(report)) print(line);
    return runId;
  } catch (error) {
    const asked = { runId: id, from: request.from, runsAll: `${PROGRAM} run` };
    throw await explainForShell(error, asked, file, registry.queries);
  }
}

function findEarlier({ runId, file }: LocalRerunFlags, kept: KeptRuns, { cwd }: CliContext): ShellRun {
  const ids = kept.ids();
  const hint = `${kept.path} has ${ids.length} runs; ${PROGRAM} run keeps new ones there`;
  const named = runId === undefined ? undefined : matchRunId(runId, ids, hint);
  const path = file === '' ? undefined : resolve(cwd, file);
  for (const id of named === undefined ? ids : [named]) {
    const run = kept.read(id);
    if (run === undefined) continue;
    const isOfFile = path === undefined || run.command.file === path;
    if (named === undefined && !isOfFile) continue;
    if (path !== undefined && !isOfFile && !existsSync(path)) {
      throw new UsageError(`there is no file ${file}`, 'without it, the run is repeated as it was');
    }
    assertNotAtWork(run, kept);
    return run;
  }
  if (path === undefined) {
    throw new UsageError(
      `there is no run in ${kept.path}`,
      `${PROGRAM} run FILE runs a file, and keeps the run`,
    );
  }
  if (!existsSync(path)) {
    throw new UsageError(
      `"${file}" is neither a file nor the id of a run, or at least 4 characters of its end`,
      `${PROGRAM} runs list shows the runs of this folder`,
    );
  }
  const other =
    ids.length === 0 ? '' : `; ${PROGRAM} rerun RUN_ID ${file} goes on from a run of another file`;
  throw new UsageError(
    `there is no run of ${file} in ${kept.path}`,
    `${PROGRAM} run ${file} runs it, and keeps the run${other}`,
  );
}

type CompletedFlags = LocalRerunFlags & { readonly outputFolder: string; readonly cwd: string };

function withCommand(
  flags: LocalRerunFlags,
  { command: saved }: ShellRun,
  { cwd }: CliContext,
): CompletedFlags {
  const { artifacts } = flags;
  return {
    ...flags,
    file: flags.file === '' ? (saved.file === undefined ? '' : shortenPath(saved.file, cwd)) : flags.file,
    tools: flags.tools ?? saved.tools,
    mcp: flags.mcp ?? saved.mcp,
    model: flags.model ?? saved.model,
    cwd: saved.cwd,
    outputFolder: artifacts === undefined ? saved.output_folder : resolve(cwd, artifacts),
  };
}

/** Reads the file; when it is gone, or was standard input, the definition is as it was. */
async function readFileOrStored(
  flags: CompletedFlags,
  submission: StoredSubmission,
  context: CliContext,
): Promise<DefinitionFile> {
  const { file, cwd } = flags;
  const path = resolve(context.cwd, file);
  if (file !== '' && existsSync(path)) return readDefinition(flags, context);
  await readEnvFile(flags.envFile, context);
  if (file !== '' && !(flags.json || flags.quiet)) {
    context.stderr.write(`there is no ${toSingleLine(file)} any more: its definition is as it was\n`);
  }
  const stored = await toDefinitionFile(submission, file === '' ? cwd : dirname(path));
  const { inputs, session } = await readValues({ ...flags, file: undefined }, context);
  return { ...stored, inputs, session };
}

/** True when a definition is the same as before. Both were checked, so that their fields are in the same order. */
function isSame(checked: CheckedDefinition, submission: StoredSubmission): boolean {
  const { definition, pipelines = {} } = submission;
  if (checked.kind === 'pipeline')
    return JSON.stringify(checked.pipeline.definition) === JSON.stringify(definition);
  const { plan } = checked;
  const parts = [...plan.subPipelines].map(([id, part]) => [id, part.pipeline.definition]);
  return JSON.stringify([plan.definition, parts]) === JSON.stringify([definition, Object.entries(pipelines)]);
}

function assertSameKind({ kind, name }: DefinitionFile, { id, submission }: ShellRun): void {
  if (kind === submission.kind) return;
  throw new UsageError(
    `${name} is a ${kind}, but run ${id} was the run of a ${submission.kind}`,
    `${PROGRAM} run ${name} runs it anew`,
  );
}
