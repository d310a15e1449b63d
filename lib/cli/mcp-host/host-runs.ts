import { resolve } from 'node:path';
import { ToolError, WavetrainError } from '../../common/errors.js';
import type { CheckedDefinition } from '../../execution/prepare/run-inputs.js';
import type { RunRecord } from '../../runs/record.js';
import type { CliContext, RegistryApi } from '../context.js';
import type { SubmittedValues } from '../../submission/submitter.js';
import { submitChecked } from '../../submission/submitter.js';
import { openConnections } from '../input/connections.js';
import { findChecked, type LoadedDefinition } from '../input/load-definition.js';
import { DEFAULT_TENANT, openSecrets } from '../input/secrets.js';
import type { HostCall } from './served-tool.js';
import { RunProgressReport } from './progress-report.js';

/** Settled runs that are kept for `runs`, and those that may be at work at once. */
const MAX_KEPT = 100;
const MAX_AT_WORK = 8;

interface HostRun {
  readonly registry: RegistryApi;
  /** Undefined until the run has settled. */
  record: RunRecord | undefined;
}

/** The runs of one MCP host. They are kept in memory, the last ones, until the host closes the connection. */
export class HostRuns {
  readonly #context: CliContext;
  /** By id, the oldest first. */
  readonly #runs = new Map<string, HostRun>();
  /** Calls whose runs have no id yet. */
  #starting = 0;

  constructor(context: CliContext) {
    this.#context = context;
  }

  /** Runs a valid definition until it has settled. A cancelled call cancels the run by force. */
  async run(loaded: LoadedDefinition, values: SubmittedValues, call: HostCall): Promise<RunRecord> {
    const atWork = [...this.#runs.values()].filter(({ record }) => record === undefined).length;
    if (atWork + this.#starting >= MAX_AT_WORK)
      throw new ToolError(`${MAX_AT_WORK} runs are at work already: wait until one of them has ended`);
    // Before anything is awaited: many calls may come at once.
    this.#starting++;
    const started = this.#start(loaded, values, call).finally(() => this.#starting--);
    return await this.#settle(await started, call);
  }

  async #start(
    loaded: LoadedDefinition,
    values: SubmittedValues,
    call: HostCall,
  ): Promise<{ readonly runId: string; readonly run: HostRun }> {
    const { clock, env, cwd } = this.#context;
    const secrets = await openSecrets(this.#context);
    const outputs = resolve(cwd, OUTPUT_FOLDER);
    const connections = await openConnections(this.#context);
    const { openRegistry } = this.#context;
    const registry = await openRegistry(loaded.fileRoots, clock, env, secrets, outputs, undefined, {
      connections,
    });
    if (call.signal.aborted) throw new WavetrainError('run_cancelled', 'the call was cancelled');
    const runId = await submit(registry, loaded, values, call, clock.monotonicNow.bind(clock));
    const run: HostRun = { registry, record: undefined };
    this.#runs.set(runId, run);
    return { runId, run };
  }

  async #settle(
    { runId, run }: { readonly runId: string; readonly run: HostRun },
    call: HostCall,
  ): Promise<RunRecord> {
    const { registry } = run;
    const cancel = (): void => void registry.cancel(runId, { force: true }).catch(() => undefined);
    call.signal.addEventListener('abort', cancel);
    if (call.signal.aborted) cancel();
    try {
      run.record = await registry.queries.settled(runId);
      await registry.cacheWritten();
      return run.record;
    } finally {
      call.signal.removeEventListener('abort', cancel);
      this.#forgetOldest();
    }
  }

  /** The runs, the newest first. */
  list(): { readonly run_id: string; readonly record: RunRecord | undefined }[] {
    return Array.from(this.#runs, ([run_id, { record }]) => ({ run_id, record })).toReversed();
  }

  /** @throws WavetrainError `run_not_found` */
  find(runId: string): HostRun {
    const run = this.#runs.get(runId);
    if (run !== undefined) return run;
    throw new WavetrainError(
      'run_not_found',
      `there is no run ${runId} here: call "runs" without inputs for the runs of this connection`,
    );
  }

  /** Cancels what is at work. Resolves when it has ended. */
  async close(): Promise<void> {
    const atWork = [...this.#runs].filter(([, { record }]) => record === undefined);
    await Promise.allSettled(atWork.map(([runId, { registry }]) => registry.cancel(runId, { force: true })));
  }

  #forgetOldest(): void {
    for (const [runId, { registry, record }] of this.#runs) {
      if (this.#runs.size <= MAX_KEPT) return;
      if (record === undefined) continue;
      registry.forget(runId);
      this.#runs.delete(runId);
    }
  }
}

/** In the working directory, as for the command `run`. */
const OUTPUT_FOLDER = 'outputs';

async function submit(
  registry: RegistryApi,
  loaded: LoadedDefinition,
  values: SubmittedValues,
  { report, host }: HostCall,
  now: () => number,
): Promise<string> {
  const definition = findChecked(loaded);
  if (definition === undefined) throw new WavetrainError('invalid_definition', 'the definition is not valid');
  const progress = report && new RunProgressReport(countTasks(definition), report, now);
  const onEvent = progress?.onEvent.bind(progress);
  const startedBy = { kind: 'mcp', name: host } as const;
  return submitChecked(registry, definition, { values, tenantId: DEFAULT_TENANT, startedBy, onEvent });
}

function countTasks(definition: CheckedDefinition): number {
  const pipelines =
    definition.kind === 'pipeline'
      ? [definition.pipeline]
      : [...definition.plan.subPipelines.values()].map(({ pipeline }) => pipeline);
  return pipelines.reduce((sum, { waves }) => sum + waves.flat().length, 0);
}
