import { readConfig } from '../../../common/config/config.js';
import type { ShellRun } from '../../../runs/store/run-folders.js';
import type { CliContext, RegistryApi } from '../../context.js';
import type { CheckedDefinition } from '../../../execution/run-inputs.js';
import type { DefinitionFile } from '../../input/load-definition.js';
import { openSecrets } from '../../input/secrets.js';
import { PipelineRunView } from '../../progress/run-view.js';
import { pipelineFailureLines, planFailureLines } from '../../render/run-summary.js';
import type { DisplayedRun } from '../execute-run.js';
import { type CommandLine, type HistoryFlags, ShellHistory } from './history.js';
import type { RunBackend, StartOptions } from '../run-backend.js';
import { findLocalFiles } from '../written-files.js';

/** In the working directory, for the files that tools write by name. */
export const DEFAULT_OUTPUT_FOLDER = 'outputs';

/** The registry that runs pipelines and plans in this process, with its history and its folder of outputs. */
interface LocalRegistry {
  readonly registry: RegistryApi;
  /** Undefined when runs are not kept. */
  readonly history: ShellHistory | undefined;
  readonly outputFolder: string;
  readonly mask: DisplayedRun['mask'];
}

/** The folders that a run of this process uses. */
interface Places {
  /** Of the history; undefined when runs are not kept. */
  readonly folder: string | undefined;
  /** In which tools may read files. */
  readonly fileRoots: readonly string[];
  /** To which tools write files by name. */
  readonly outputFolder: string;
}

/**
 * Opens a registry that runs a definition in this process, with its secrets, its models, and the history that keeps its
 * run. The history is closed when the command ends.
 *
 * @param earlier runs of the history that the registry can restore, the oldest first
 */
export async function openLocalRegistry(
  flags: Omit<CommandLine, 'outputFolder'> & HistoryFlags,
  { folder, fileRoots, outputFolder }: Places,
  context: CliContext,
  earlier: readonly ShellRun[] = [],
): Promise<LocalRegistry> {
  const { file, tools, mcp, model, store: named } = flags;
  const secrets = await openSecrets(context);
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
  const registry = await context.openRegistry(fileRoots, context.clock, env, secrets, outputFolder, history);
  // Also when the run never begins.
  if (history !== undefined) context.atEnd(() => registry.close(0));
  return { registry, history, outputFolder, mask: secrets?.mask };
}

type Start = (registry: RegistryApi, options: StartOptions) => Promise<string>;

/**
 * Describes how a run of this process is displayed.
 *
 * @param planConcurrency what a flag says, if there is one
 */
export async function describeLocalRun(
  checked: CheckedDefinition,
  planConcurrency: number | undefined,
  { registry, history, outputFolder, mask }: LocalRegistry,
  start: Start,
): Promise<Omit<DisplayedRun, 'filesRead'>> {
  const backend = createBackend(registry, start, history);
  const isKept = history !== undefined;
  const common = { backend, history, outputFolder, mask };
  if (checked.kind === 'pipeline') {
    const { pipeline } = checked;
    const { waves } = pipeline;
    return {
      ...common,
      hasParallelWaves: false,
      createView: () => new PipelineRunView(waves),
      formatFailures: (record, terminal, details) =>
        pipelineFailureLines(record, pipeline, terminal, details, isKept),
      listOutputs: () => waves.flat(),
    };
  }
  const { PlanRunView } = await import('../../progress/plan-view.js');
  const { plan } = checked;
  const { subPipelines } = plan;
  const concurrency = planConcurrency ?? plan.definition.plan_concurrency ?? 1;
  const waves = new Map([...subPipelines].map(([id, { pipeline }]) => [id, pipeline.waves]));
  return {
    ...common,
    hasParallelWaves: subPipelines.size > 1 && concurrency > 1,
    createView: () => new PlanRunView(subPipelines.size, waves),
    formatFailures: (record, terminal, details) => planFailureLines(record, terminal, details, isKept),
    listOutputs: () => [...waves].flatMap(([id, ofPart]) => ofPart.flat().map((taskId) => `${id}/${taskId}`)),
  };
}

/** Executes a run in this process. */
function createBackend(registry: RegistryApi, start: Start, history: ShellHistory | undefined): RunBackend {
  const { queries } = registry;
  return {
    start: (options) => start(registry, options),
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

/** The flags that name files. */
interface ReadingFlags {
  readonly file: string;
  readonly params?: string | undefined;
  readonly inputs?: string | undefined;
  readonly session?: string | undefined;
  readonly sessionFile?: string | undefined;
  readonly envFile?: string | undefined;
  readonly tools?: readonly string[] | undefined;
}

/** Lists the files that flags and variables name, and those of a plan. */
export function listFilesRead(
  flags: ReadingFlags,
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
