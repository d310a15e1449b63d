import { WavetrainError } from '../../../common/errors.js';
import { estimateBytesInSteps } from '../../../common/json/json.js';
import type { FoldedRun } from '../../../execution/history/fold/folded-run.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import type { Fact } from '../../../execution/history/fact.js';
import { PastFacts } from '../../../execution/history/past-facts.js';
import { MAX_CRASHES_IN_VAIN } from '../../../execution/history/run-history.js';
import type { AnyRun, KeptRun, LocalExecutor } from '../../../execution/local-executor.js';
import type { CheckedDefinition, RunInputs } from '../../../execution/prepare/run-inputs.js';
import type { MissingRunFiles } from '../../rerun/missing-run-files.js';
import type { SourcePart } from '../../rerun/source-parts.js';
import { StoredSource } from '../../rerun/stored-source.js';
import { type CreatedRun, type RequestedRun, type RunOrigin, setOrigin } from '../../run-factory.js';
import { EndingLog } from '../ending-log.js';
import type { StoredRunHead } from '../run-archive.js';
import type { WantedItems, RunStore, StoredFact, StoredSubmission } from '../run-store.js';

/** Checks a definition that was accepted before. Rejects with its problems when it is not valid any more. */
export type ReviveDefinition = (
  stored: StoredDefinition,
  values: RevivedValues,
) => Promise<CheckedDefinition>;

export type StoredDefinition = Pick<StoredSubmission, 'kind' | 'definition' | 'pipelines'>;

export interface RevivedValues extends Pick<StoredSubmission, 'inputs' | 'session' | 'tenant_id'> {
  /** No tool of the run is called again: some may not be there any more. */
  readonly isForSettledRun: boolean;
  /** True when the version and the catalog of this process have checked the definition before. */
  readonly isChecked: boolean;
}

/** A run that another process has accepted. */
export interface RestoredRun extends CreatedRun {
  /** Gives back the memory of the facts. Call when the run was rebuilt. */
  readonly release: () => void;
}

interface ReaderParts {
  readonly store: RunStore;
  readonly executor: LocalExecutor;
  readonly revive: ReviveDefinition;
  /** The version and the catalog of this process. */
  readonly checkedBy: (() => string) | undefined;
}

export interface ReadContext {
  readonly missingFiles: MissingRunFiles;
  /** Ends the reading when nobody waits for the run any more. */
  readonly signal?: AbortSignal | undefined;
  /** Takes memory, and returns a function that gives it back. @throws WavetrainError `queue_full` or `memory_full` */
  readonly reserve: (bytes: number) => () => void;
}

const NO_OP = (): void => {};

/** A run as it was accepted. */
interface ReadRun {
  readonly requested: RequestedRun;
  readonly origin: RunOrigin;
  /** Call when the run is prepared, before it begins. */
  readonly complete: (prepared: AnyRun['prepared']) => void;
}

/**
 * Makes runs of what the store has kept of them. Each method resolves with undefined for a run that was not accepted, because
 * a process ended before what it may reuse was kept. Each rejects when this version of Wavetrain, its tools or its settings
 * do not accept the run any more, and with `queue_full` or `memory_full` when there is no memory for it.
 */
export class StoredRunReader {
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** Creates a run again that goes on, or whose end is not kept yet. */
  restore(head: StoredRunHead, context: ReadContext): Promise<RestoredRun | undefined> {
    const { executor } = this.#parts;
    return this.#rebuild(head, context, (requested, kept) => executor.create(requested, kept));
  }

  /** Creates a settled run with its actor again, which only the caller finds: it is to be rebuilt, too. */
  recreate(head: StoredRunHead, context: ReadContext): Promise<RestoredRun | undefined> {
    const { executor } = this.#parts;
    return this.#rebuild(head, context, (requested, kept) => executor.recreate(requested, kept));
  }

  /**
   * Folds a settled run from its facts, without an actor (D74).
   *
   * @param only folds nothing but the facts that these items need, for the caller alone. Resolves with undefined also for a run
   *   of which they are not enough.
   */
  async fold(
    head: StoredRunHead,
    summary: RunSummary,
    context: ReadContext,
    only?: WantedItems,
  ): Promise<FoldedRun | undefined> {
    if (only !== undefined && summary.rerun_of !== null) return undefined;
    const { executor } = this.#parts;
    const { stored, release } = await this.#readFacts(head, context, only);
    try {
      const { parts, facts } = separate(stored);
      // A divergence counts the facts before it: those that were left out are missing.
      if (only !== undefined && facts.some(({ kind }) => kind === 'diverged')) return undefined;
      const read = await this.#read(head, parts, context, true);
      if (read === undefined) return undefined;
      const prepared = executor.prepareSettled(read.requested, head.id);
      read.complete(prepared);
      const past = { summary, facts };
      const folded = await (only === undefined
        ? executor.fold(prepared, past)
        : executor.foldPart(prepared, past));
      folded.group = read.origin.group ?? null;
      folded.isOfFolder = read.origin.isOfFolder ?? false;
      return folded;
    } finally {
      release();
    }
  }

  async #rebuild(
    head: StoredRunHead,
    context: ReadContext,
    create: (requested: RequestedRun, kept: KeptRun) => AnyRun,
  ): Promise<RestoredRun | undefined> {
    const { stored, release } = await this.#readFacts(head, context);
    try {
      const run = await this.#create(head, stored, context, create);
      if (run !== undefined) return { run, number: head.number, release };
    } catch (error) {
      release();
      throw error;
    }
    release();
    return undefined;
  }

  /** Reads the facts of a run, whose memory is taken before they are parsed: `release` gives it back. */
  async #readFacts(
    { id, tenantId }: StoredRunHead,
    { reserve, signal }: ReadContext,
    only?: WantedItems,
  ): Promise<{ readonly stored: readonly StoredFact[]; readonly release: () => void }> {
    const { store, executor } = this.#parts;
    let taken = 0;
    let release = NO_OP;
    const take = (bytes: number): void => {
      signal?.throwIfAborted();
      taken += bytes;
      release();
      release = NO_OP;
      release = reserve(taken);
    };
    try {
      const stored = await store.facts(id, { tenantId, only, take });
      const bytes = await executor.stepRunner.run(estimateBytesInSteps(stored), tenantId);
      if (bytes > taken) take(bytes - taken);
      return { stored, release: () => release() };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #create(
    head: StoredRunHead,
    stored: readonly StoredFact[],
    context: ReadContext,
    create: (requested: RequestedRun, kept: KeptRun) => AnyRun,
  ): Promise<AnyRun | undefined> {
    const { store, executor } = this.#parts;
    const { id, createdAt, tenantId } = head;
    const { parts, facts } = separate(stored);
    const past = await executor.stepRunner.run(PastFacts.readInSteps(facts), tenantId);
    assertNoCrashLoop(past);
    const read = await this.#read(head, parts, context, past.settledAt !== undefined);
    if (read === undefined) return undefined;
    const log = new EndingLog(store.log(id, tenantId), store.archive);
    const run = create(read.requested, { log, past: { id, createdAt, isRestored: true, facts: past } });
    setOrigin(run, read.origin);
    log.run = run;
    read.complete(run.prepared);
    return run;
  }

  async #read(
    { id, tenantId }: StoredRunHead,
    parts: readonly SourcePart[],
    { missingFiles, reserve }: ReadContext,
    isForSettledRun: boolean,
  ): Promise<ReadRun | undefined> {
    const { store, revive, executor } = this.#parts;
    const { stepRunner } = executor;
    const submission = await store.submission(id, { tenantId });
    if (submission === undefined) return undefined;
    const state = { isForSettledRun, isChecked: this.#hasChecked(submission) };
    // The run takes memory of its own for what it was given: it is not counted twice.
    reserve(await stepRunner.run(estimateBytesInSteps(submission), tenantId))();
    const requested = await toRequestedRun(submission, revive, state);
    const { rerun } = submission;
    const origin = readOrigin(submission);
    if (rerun === undefined) return { requested, origin, complete: () => undefined };
    const source = await stepRunner.run(StoredSource.read(rerun.run_id, parts), tenantId);
    if (!source.isComplete && !store.isOptional) return undefined;
    const findEarlier = await reviveEarlier(source, { ...submission, ...state, isChecked: false }, revive);
    missingFiles.create(rerun.run_id, source.files);
    const reused = { ...requested, source: source.toRunSource(requested.kind) } as RequestedRun;
    return { requested: reused, origin, complete: (prepared) => source.complete(prepared, findEarlier) };
  }

  #hasChecked({ checked_by }: StoredSubmission): boolean {
    const { checkedBy } = this.#parts;
    return checkedBy !== undefined && checked_by === checkedBy();
  }
}

/** @throws WavetrainError `internal` for a run whose rebuilding has ended the process again and again */
function assertNoCrashLoop({ crashesInVain }: PastFacts): void {
  if (crashesInVain < 2 * MAX_CRASHES_IN_VAIN) return;
  throw new WavetrainError('internal', `the process ended ${crashesInVain} times when it was rebuilt`);
}

/** Earlier versions have kept only what of the folder has started a run. */
function readOrigin(submission: StoredSubmission): RunOrigin {
  const { trigger, started_by, group, definition } = submission;
  const { is_of_folder: isOfFolder = trigger !== undefined || group !== undefined } = submission;
  if (started_by !== undefined) return { trigger, startedBy: started_by, isOfFolder, group };
  if (trigger === undefined) return { startedBy: { kind: 'anonymous', name: null } };
  const { id } = definition;
  return { trigger, startedBy: { kind: trigger, name: typeof id === 'string' ? id : null }, isOfFolder };
}

/** Makes a request of what was kept of one, without what it can reuse. Rejects as `revive` does. */
async function toRequestedRun(
  submission: StoredSubmission,
  revive: ReviveDefinition,
  state: Pick<RevivedValues, 'isForSettledRun' | 'isChecked'>,
): Promise<RequestedRun> {
  const {
    kind,
    definition,
    pipelines,
    rerun: _rerun,
    idempotency: _key,
    trigger: _trigger,
    started_by: _startedBy,
    is_of_folder: _isOfFolder,
    group: _group,
    submitted_keys,
    checked_by: _checkedBy,
    command: _command,
    ...values
  } = submission;
  const inputs = { ...values, submittedKeys: submitted_keys };
  const revived = await revive(
    { kind, definition, ...(pipelines && { pipelines }) },
    { ...values, ...state },
  );
  return revived.kind === 'plan'
    ? { kind: 'plan', inputs: { ...inputs, plan: revived.plan } }
    : { kind: 'pipeline', inputs: { ...inputs, pipeline: revived.pipeline } };
}

/** Divides what is kept of a run: the parts of what it may reuse come first. */
function separate(kept: readonly StoredFact[]): { readonly parts: SourcePart[]; readonly facts: Fact[] } {
  const parts: SourcePart[] = [];
  for (const each of kept) {
    if (!('part' in each)) break;
    parts.push(each);
  }
  return { parts, facts: kept.slice(parts.length) as Fact[] };
}

/** Checks the definitions that the earlier run of a rerun had, where they are others. Rejects as `revive` does. */
async function reviveEarlier(
  { plan, definition }: StoredSource,
  values: RevivedValues,
  revive: ReviveDefinition,
): Promise<(subPipeline: string | undefined) => RunInputs['pipeline'] | undefined> {
  const stored: StoredDefinition | undefined =
    plan === undefined ? definition && { kind: 'pipeline', definition } : { kind: 'plan', ...plan };
  const revived = stored && (await revive(stored, values));
  if (revived?.kind === 'plan') {
    const { subPipelines } = revived.plan;
    return (id) => (id === undefined ? undefined : subPipelines.get(id)?.pipeline);
  }
  return () => revived?.pipeline;
}
