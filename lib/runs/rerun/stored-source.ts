import type { TaskFailure } from '../../common/errors.js';
import { type Json, type JsonObject, setOwn } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { PublishedFile } from '../../execution/invocation/files/published-file.js';
import type { AnyRun } from '../../execution/local-executor.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import type {
  ItemOutcomes,
  PlanRerunSource,
  RerunSource,
  RunDefinition,
} from '../../execution/prepare/rerun-source.js';
import type { TaskOutcome } from '../../execution/results.js';
import type { Write } from '../../execution/session/session-overrides.js';
import type { EarlierPlan, OutcomeBegins, SourceBegins, SourcePart, StoredGiven } from './source-parts.js';

type Growing<T> = { -readonly [K in keyof T]: T[K] };

/** The source of a pipeline, or of a sub-pipeline, that is being read. */
interface ReadSource extends Growing<Omit<RerunSource, 'outcomes' | 'items' | 'changedKeys' | 'runId'>> {
  readonly stored: StoredGiven | undefined;
  readonly outcomes: Map<string, TaskOutcome>;
  readonly items: Map<string, ItemOutcomes>;
  readonly runId: string;
  readonly changedKeys: Set<string>;
}

/** Everything that a rerun may reuse, read from the parts that were kept of it (D68). */
export class StoredSource {
  readonly #runId: string;
  /** By sub-pipeline; a pipeline has the key undefined. */
  readonly #sources = new Map<string | undefined, ReadSource>();
  /** One set for all sub-pipelines of a plan. */
  readonly #changedKeys = new Set<string>();
  readonly files: PublishedFile[] = [];
  /** The plan of the earlier run; undefined when the rerun has the same. */
  plan: EarlierPlan | undefined;
  /** False when a process has ended before all of it was kept: the rerun was not accepted then. */
  isComplete = false;

  constructor(runId: string) {
    this.#runId = runId;
  }

  static *read(runId: string, parts: readonly SourcePart[]): Steps<StoredSource> {
    const read = new StoredSource(runId);
    let source: ReadSource | undefined;
    let outcome: ReadOutcome | undefined;
    for (const part of parts) {
      yield;
      if (part.part === 'plan') read.plan = part;
      else if (part.part === 'source') source = read.#begin(part);
      else if (part.part === 'outcome' || part.part === 'item_outcomes') outcome = beginOutcome(part, source);
      else if (part.part === 'files') addAll(read.files, part.files);
      else if (part.part === 'complete') read.isComplete = true;
      else if (outcome === undefined) continue;
      else if (part.part === 'writes') addAll(outcome.task.writes, part.writes);
      else if (part.part === 'collected') addAll((outcome.task.collected ??= []), part.collected);
      else if (part.part === 'items') addItems(part.items, outcome);
    }
    return read;
  }

  /** Returns the source with which the rerun is created. @param kind of the rerun */
  toRunSource(kind: 'pipeline' | 'plan'): RerunSource | PlanRerunSource {
    if (kind === 'pipeline') return this.#sources.get(undefined) ?? this.#begin(NOTHING);
    return { runId: this.#runId, subRuns: this.#sources as ReadonlyMap<string, RerunSource> };
  }

  /** The definition of the earlier run of a pipeline; undefined when the rerun has the same. */
  get definition(): JsonObject | undefined {
    return this.#sources.get(undefined)?.stored?.definition;
  }

  /**
   * Completes it with what the rerun itself was given. Call when the rerun was created, before it begins.
   *
   * @param findEarlier finds the pipeline that the earlier run had; undefined where the rerun has the same
   */
  complete(
    prepared: AnyRun['prepared'],
    findEarlier: (subPipeline: string | undefined) => RunDefinition['pipeline'] | undefined,
  ): void {
    for (const [id, source] of this.#sources) {
      const now = findPrepared(prepared, id);
      if (source.stored === undefined || now === undefined) continue;
      source.given = toDefinition(source.stored, now, findEarlier(id));
    }
  }

  #begin({
    sub_pipeline: id,
    forced,
    failed,
    aborted,
    named,
    calls = [],
    given_bytes: givenBytes,
    given,
  }: SourceBegins): ReadSource {
    const source = {
      runId: this.#runId,
      stored: given,
      given: undefined,
      givenBytes,
      forced: new Map(forced.flatMap(([reason, tasks]) => tasks.map((task) => [task, reason] as const))),
      named: new Set(named),
      calls: new Map(
        calls.map(([task, succeeded, items]) => [task, { succeeded, ...(items !== undefined && { items }) }]),
      ),
      failed: new Set(failed),
      aborted: new Set(aborted),
      outcomes: new Map<string, TaskOutcome>(),
      items: new Map<string, ItemOutcomes>(),
      changedKeys: this.#changedKeys,
    };
    this.#sources.set(id, source);
    return source;
  }
}

/** The source of a rerun whose process ended before it could keep one. */
const NOTHING: SourceBegins = { part: 'source', forced: [], failed: [], given_bytes: 0 };

function findPrepared(prepared: AnyRun['prepared'], id: string | undefined): PreparedRun | undefined {
  if ('subRuns' in prepared) return id === undefined ? undefined : prepared.subRuns.get(id);
  return prepared;
}

function toDefinition(
  { params, inputs, session, goal, changed_secrets: changedSecrets = [] }: StoredGiven,
  now: RunDefinition,
  pipeline = now.pipeline,
): RunDefinition {
  const secretDigests = new Map(now.secretDigests);
  for (const name of changedSecrets) secretDigests.set(name, 'another value');
  return {
    pipeline,
    params: toValues(params, now.params),
    inputs: toValues(inputs, now.inputs),
    session: toValues(session, now.session),
    goal: goal ?? now.goal,
    secretDigests,
  };
}

function toValues(stored: StoredGiven['inputs'], now: JsonObject): JsonObject {
  if (stored === undefined) return now;
  const values: JsonObject = {};
  for (const [key, ...value] of stored) setOwn(values, key, value.length === 0 ? now[key] : value[0]);
  return values;
}

/** The outcome of a task, or of items of one, that is being read. */
interface ReadOutcome {
  readonly outputs: (Json | undefined)[];
  readonly itemWrites: (readonly Write[] | undefined)[] | undefined;
  readonly task: { readonly writes: Write[]; collected?: TaskFailure[] };
}

function beginOutcome(begins: OutcomeBegins, source: ReadSource | undefined): ReadOutcome {
  const { part, task, bytes: sizeBytes, output = null, length, has_item_writes: hasItemWrites } = begins;
  const outputs = Array.from({ length: length ?? 0 }, (): Json | undefined => undefined);
  if (part === 'outcome') {
    const outcome = { output: length === undefined ? output : (outputs as Json), writes: [], sizeBytes };
    source?.outcomes.set(task, outcome);
    return { outputs, itemWrites: undefined, task: outcome };
  }
  const itemWrites = hasItemWrites && outputs.map(() => undefined);
  source?.items.set(task, { outputs, writes: itemWrites, sizeBytes });
  return { outputs, itemWrites, task: { writes: [] } };
}

function addItems(
  items: Extract<SourcePart, { readonly part: 'items' }>['items'],
  { outputs, itemWrites }: ReadOutcome,
): void {
  for (const [item, output, writes] of items) {
    outputs[item] = output;
    if (itemWrites !== undefined) itemWrites[item] = writes;
  }
}

/** There may be more than a call can have arguments. */
function addAll<T>(list: T[], more: readonly T[]): void {
  for (const each of more) list.push(each);
}
