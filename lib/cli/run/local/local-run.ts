import { resolve } from 'node:path';
import { AllowedCommands } from '../../../common/config/allowed-commands.js';
import { readConfig } from '../../../common/config/config.js';
import type { CheckedDefinition } from '../../../execution/prepare/run-inputs.js';
import type { RunWithFacts } from '../../../runs/store/shell/kept-runs.js';
import { submitChecked } from '../../../submission/submitter.js';
import type { CliContext, RegistryApi } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import {
  checkDefinitionFile,
  type DefinitionFile,
  type DefinitionFlags,
  findChecked,
  loadSetup,
  withPoolsHere,
} from '../../input/load-definition.js';
import { openConnections } from '../../input/connections.js';
import { printProblems } from '../../input/problems.js';
import { DEFAULT_TENANT, openSecrets } from '../../input/secrets.js';
import type { FlagsOf, ShellRunCommand } from '../../input/shared-options.js';
import { PROGRAM } from '../../package-info.js';
import { localFailureLines } from '../../render/run-summary.js';
import { type DisplayedRun, displayPipeline, displayPlan, type RunBackend } from '../displayed-run.js';
import { checkParams, readFileSubmission, type RunValueFlags } from '../submission.js';
import { findLocalFiles } from '../written-files.js';
import { permitCommands } from './command-permission.js';
import {
  type CommandLine,
  findHistoryFolder,
  type HistoryFlags,
  keepsRuns,
  ShellHistory,
} from './history.js';

/** In the working directory, for the files that tools write by name. */
const DEFAULT_OUTPUT_FOLDER = 'outputs';

const ALLOW_ADVICE = 'allow it with --allow-commands=NAMES, or --allow-commands for all';

/** The registry that runs pipelines and plans in this process, with its history and its folder of outputs. */
interface LocalRegistry {
  readonly registry: RegistryApi;
  /** Lets the tasks of a run that begins start these programs (D88). By default they may start none. */
  readonly permit: (programs: AllowedCommands) => void;
  /** Undefined when runs are not kept. */
  readonly history: ShellHistory | undefined;
  readonly outputFolder: string;
  readonly mask: DisplayedRun['mask'];
}

interface Places {
  /** Of the history; undefined when runs are not kept. */
  readonly folder: string | undefined;
  /** In which tools may read files. */
  readonly fileRoots: readonly string[];
  /** To which tools write files by name. */
  readonly outputFolder: string;
}

/**
 * Opens a registry that runs a definition in this process, and the history that keeps its run until the command ends.
 * @param earlier run of the history that the registry can restore
 */
export async function openLocalRegistry(
  flags: Omit<CommandLine, 'outputFolder'> & HistoryFlags,
  { folder, fileRoots, outputFolder }: Places,
  context: CliContext,
  earlier?: RunWithFacts,
): Promise<LocalRegistry> {
  const { file, tools, mcp, model, store: named } = flags;
  const secrets = await openSecrets(context);
  const connections = await openConnections(context);
  const env = model === undefined ? context.env : { ...context.env, WAVETRAIN_MODEL: model };
  const history =
    folder === undefined
      ? undefined
      : await ShellHistory.open(
          folder,
          { file, tools, mcp, model, outputFolder, store: named },
          context,
          earlier,
        );
  let allowed = AllowedCommands.none;
  const { commandAccess } = await import('../../lazy/execution.js');
  const [folderOfFile] = fileRoots;
  const commands = commandAccess({
    allowed: () => allowed,
    advice: ALLOW_ADVICE,
    folder: folderOfFile,
    env,
  });
  context.atEnd(() => commands.close());
  const { clock } = context;
  const registry = await context.openRegistry(fileRoots, clock, env, secrets, outputFolder, history, {
    commands,
    connections,
  });
  // Also when the run never begins.
  if (history !== undefined) context.atEnd(() => registry.close(0));
  const permit = (programs: AllowedCommands): void => {
    allowed = programs;
  };
  return { registry, permit, history, outputFolder, mask: secrets?.mask };
}

type LocalRunFlags = FlagsOf<ShellRunCommand> & DefinitionFlags & RunValueFlags & HistoryFlags;

/** Reads and checks the file of a run, and prints its problems. Returns the run, or the exit status of an invalid definition. */
export async function prepareLocalRun(
  flags: LocalRunFlags,
  context: CliContext,
): Promise<DisplayedRun | ExitStatus> {
  const { file, submission } = await readFileSubmission(flags, context);
  const { tenantId = DEFAULT_TENANT, values } = submission;
  const setup = await loadSetup(file, flags, context);
  const loaded = await checkDefinitionFile(file, { ...withPoolsHere(setup), complete: true });
  if (!loaded.check.ok || !(flags.json || flags.quiet)) printProblems(loaded, context);
  const checked = findChecked(loaded);
  if (checked === undefined) return EXIT.invalid;
  await checkParams(file, values, `${PROGRAM} run ${flags.file}`);
  const outputFolder = resolve(context.cwd, flags.artifacts ?? DEFAULT_OUTPUT_FOLDER);
  const folder = keepsRuns(flags, context) ? findHistoryFolder(flags, context) : undefined;
  const programs = await permitCommands(flags, checked, file, context);
  const local = await openLocalRegistry(flags, { ...setup, folder, outputFolder }, context);
  local.permit(programs);
  const start: RunBackend['start'] = ({ onEvent, onInspection }) =>
    submitChecked(local.registry, checked, { ...submission, tenantId, onEvent, onInspection });
  return {
    ...(await describeLocalRun(checked, values.plan_concurrency, local, start)),
    filesRead: listFilesRead(flags, file, context),
    mayPause: values.breakpoints !== undefined,
  };
}

export async function describeLocalRun(
  checked: CheckedDefinition,
  planConcurrency: number | undefined,
  { registry, history, outputFolder, mask }: LocalRegistry,
  start: RunBackend['start'],
): Promise<Omit<DisplayedRun, 'filesRead'>> {
  const waves = checked.kind === 'pipeline' ? checked.pipeline.waves : [];
  return {
    backend: createBackend(registry, start, history),
    history,
    outputFolder,
    mask,
    ...(checked.kind === 'pipeline'
      ? displayPipeline(waves)
      : await displayPlan(checked.plan, planConcurrency)),
    formatFailures: (record, terminal, details) =>
      localFailureLines(record, terminal, details, history !== undefined, waves),
  };
}

function createBackend(
  registry: RegistryApi,
  start: RunBackend['start'],
  history: ShellHistory | undefined,
): RunBackend {
  const { queries } = registry;
  return {
    start,
    queries,
    reader: queries,
    settled: (runId) => queries.settled(runId),
    cancel: (runId, options) => registry.cancel(runId, options),
    resume: async (runId, by) => void registry.resume(runId, by),
    writtenFiles: async (record) => findLocalFiles(record, queries),
    release: async (runId) => {
      // A history keeps the run, also when it was stopped at once.
      if (history !== undefined) return registry.close(0);
      registry.forget(runId);
      await registry.cacheWritten();
    },
  };
}

export function listFilesRead(
  flags: Omit<DefinitionFlags, 'verbose'>,
  { files }: Pick<DefinitionFile, 'files'>,
  { env }: CliContext,
): string[] {
  const { file, params, inputs, session, sessionFile, envFile, tools = [] } = flags;
  const named = [params, inputs, session].map((value) =>
    value?.startsWith('@') ? value.slice(1) : undefined,
  );
  return [
    file,
    ...[...files.values()].map(({ name }) => name),
    ...[...named, sessionFile, envFile].filter((name) => name !== undefined),
    ...tools,
    ...readConfig(env).tools,
  ];
}
