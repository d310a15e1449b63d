import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Blackboard } from '../blackboard/blackboard.js';
import { type Clock, systemClock } from '../clock.js';
import { resolveParams } from '../definition/params.js';
import type { Scope } from '../definition/template/scope.js';
import { messageOf, WavetrainError } from '../errors.js';
import { type JsonObject, setOwn } from '../json.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import { fileAccess } from '../tools/files.js';
import type { FileAccess } from '../tools/tool.js';
import { type AttemptObserver, guarded } from './attempt-observer.js';
import type { LiveEvent } from './event.js';
import type { Executor } from './executor.js';
import { newRunId } from './id.js';
import { LocalRun } from './local-run.js';
import { readOptions } from './options.js';
import { frozenJson } from './output.js';
import type { PreparedRun, RunSurroundings } from './prepared-run.js';
import { type RunResult, resultOf } from './result.js';
import type { RunInputs } from './run-inputs.js';
import type { Origin } from './origin.js';

export interface LocalExecutorOptions {
  /** Shared by the runs of this executor (Blackboard, rule 3); by default each run has a fresh one. */
  readonly blackboard?: Blackboard;
  /** Where tools may read files. Default: nowhere but the working directory. */
  readonly files?: FileAccess;
  readonly clock?: Clock;
  /** Draws the jitter; a number from 0 to 1. */
  readonly random?: () => number;
  /** Largest output of one invocation, in bytes. Default 10 MiB. */
  readonly outputLimitBytes?: number;
  /** Folder for bytes that tools return. Default: a folder in the system's temporary one. */
  readonly artifactFolder?: string;
  /** Hears of every attempt of every run, for those who measure. */
  readonly onAttempt?: AttemptObserver;
}

/** Runs pipelines in this process, each run an XState actor. */
export class LocalExecutor implements Executor {
  readonly #runs = new Map<string, LocalRun>();
  readonly #blackboard: Blackboard | undefined;
  readonly #surroundings: RunSurroundings;

  constructor(options: LocalExecutorOptions = {}) {
    this.#blackboard = options.blackboard;
    this.#surroundings = {
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      files: options.files ?? fileAccess([process.cwd()]),
      outputLimitBytes: options.outputLimitBytes ?? 10 * 2 ** 20,
      artifactFolder: options.artifactFolder ?? join(tmpdir(), 'wavetrain-artifacts'),
      onAttempt: options.onAttempt && guarded(options.onAttempt),
    };
  }

  /**
   * Answers at once; the run begins when its blackboard was read.
   *
   * @param onEvent hears every event of the run, from the first on
   */
  async submit(run: RunInputs, onEvent?: (event: LiveEvent) => void): Promise<string> {
    const accepted = this.accept(run);
    if (onEvent) accepted.journal.listen(onEvent);
    void accepted.begin();
    return accepted.id;
  }

  /**
   * A run that is queued until its `begin` is called.
   *
   * @param origin an earlier run whose outcomes stand in for calling the tools again
   * @throws WavetrainError `invalid_params`, `invalid_inputs` or `invalid_options`
   */
  accept(run: RunInputs, origin?: Origin): LocalRun {
    const accepted = new LocalRun(this.#prepare(run, origin), this.#surroundings);
    this.#runs.set(accepted.id, accepted);
    return accepted;
  }

  async getResult(runId: string): Promise<RunResult> {
    const run = this.run(runId);
    await run.settled;
    return resultOf(run);
  }

  async cancel(runId: string, options: { readonly force?: boolean } = {}): Promise<void> {
    const run = this.run(runId);
    const force = options.force ?? false;
    const isDraining = run.status === 'cancelled' && !run.isSettled;
    if (run.isSettled || (isDraining && !force)) {
      throw new WavetrainError('run_already_terminal', `run ${runId} is already ${run.status}`);
    }
    run.cancel(force);
  }

  /** The living run: its actor for the inspector, its journal for a stream. */
  run(runId: string): LocalRun {
    const run = this.#runs.get(runId);
    if (run === undefined) throw noRun(runId);
    return run;
  }

  /** Drops a run; one that is still at work is stopped, its tools with it. */
  forget(runId: string): void {
    this.#runs.get(runId)?.actor.stop();
    this.#runs.delete(runId);
  }

  #prepare(run: RunInputs, origin: Origin | undefined): PreparedRun {
    const { pipeline } = run;
    const params = paramsOf(run);
    const inputs = frozen('inputs', merged(pipeline.definition.inputs ?? {}, run.inputs ?? {}));
    const scope = { output: () => undefined, inputs, params, session: {}, goal: '' };
    return {
      id: newRunId(this.#surroundings.clock.now()),
      pipeline,
      tenantId: tenantOf(run),
      params,
      inputs,
      session: frozen('session', run.session ?? {}),
      goal: goalOf(pipeline, scope),
      options: readOptions(run.options),
      given: { ...run.options },
      collectEvents: run.collect_events ?? false,
      blackboard: this.#blackboard,
      origin,
    };
  }
}

/** `run_not_found` */
export function noRun(runId: string): WavetrainError {
  return new WavetrainError('run_not_found', `there is no run ${runId}`);
}

/** Whose run it will be. */
export function tenantOf({ tenant_id }: RunInputs): string {
  return tenant_id ?? 'default';
}

/** The goal is a string in the definition, and templates within it leave it one unless it is exactly one template. */
function goalOf({ goal }: Pipeline, scope: Scope): string {
  try {
    const rendered = goal.render(scope);
    return typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
  } catch (cause) {
    throw new WavetrainError('invalid_params', `the goal cannot be told: ${messageOf(cause)}`, { cause });
  }
}

function paramsOf({ pipeline, params }: RunInputs): JsonObject {
  const resolved = resolveParams(pipeline.definition, params ?? {});
  if (!resolved.ok) throw new WavetrainError('invalid_params', resolved.problems.join('; '));
  return frozen('params', resolved.values);
}

/** Defaults and the values given for the run, key by key (D5); an undefined one is not given. */
function merged(defaults: Record<string, unknown>, given: JsonObject): Record<string, unknown> {
  const inputs: Record<string, unknown> = {};
  for (const [key, value] of [...Object.entries(defaults), ...Object.entries(given)]) {
    if (value !== undefined) setOwn(inputs, key, value);
  }
  return inputs;
}

/** What tools will read and may not change. */
function frozen(what: string, values: object): JsonObject {
  try {
    return frozenJson(values) as JsonObject;
  } catch (error) {
    throw new WavetrainError('invalid_inputs', `${what} ${messageOf(error)}`, { cause: error });
  }
}
