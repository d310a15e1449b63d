import type { LocalExecutorOptions } from '../../../lib/execution/executor-options.js';
import { expect } from 'chai';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { PastFacts } from '../../../lib/execution/history/past-facts.js';
import type { FactLog } from '../../../lib/execution/history/run-history.js';
import { type AnyRun, LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { type RunRecord, toRunRecord } from '../../../lib/runs/record.js';
import { ToolError } from '../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { defineTool, type Tool } from '../../../lib/tools/tool.js';
import { parsePlan } from '../../support/definitions/parse-plan.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';

/** Keeps facts in memory. A turn is one commit, as in a store. */
export class MemoryFactLog implements FactLog {
  readonly facts: Fact[] = [];
  /** The lengths of the list at its commits. */
  readonly commits: number[] = [];
  #isScheduled = false;

  constructor(facts: readonly Fact[] = []) {
    this.facts.push(...facts);
  }

  append(fact: Fact): void {
    // As JSON: nothing else reaches a disk.
    this.facts.push(JSON.parse(JSON.stringify(fact)) as Fact);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.commits.push(this.facts.length);
    });
  }

  committed(): Promise<void> {
    return Promise.resolve();
  }
}

/** A call of the tool `script`. */
export interface ScriptedCall {
  readonly key: string;
  readonly attempt: number;
  readonly inputs: JsonObject;
}

/** A tool that answers after `ms`, or at once after 0, and fails its first `fails` attempts. */
export function createScript(calls: ScriptedCall[]): Tool {
  return defineTool({
    name: 'script',
    description: 'does what its inputs say',
    inputs: {},
    openInputs: true,
    run: async (inputs, { clock, blackboard, log, task_id, item_index, attempt, signal }) => {
      const { ms = 1, fails = 0, value = null, key, final = false, counts = false } = inputs as Script;
      calls.push({ key: `${task_id}[${item_index}]`, attempt, inputs });
      log(`attempt ${attempt}`);
      if (ms > 0) {
        await new Promise<void>((resolve, reject) => {
          clock.setTimeout(resolve, ms);
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        });
      }
      if (attempt <= fails) throw final ? ToolError.nonRetryable('broke for good') : new Error('broke');
      if (key !== undefined) blackboard.write(key, value ?? null, true);
      return counts ? attempt : (value ?? null);
    },
  });
}

interface Script {
  readonly ms?: number;
  readonly fails?: number;
  readonly final?: boolean;
  /** Returns the number of the attempt instead of the value. */
  readonly counts?: boolean;
  readonly value?: never;
  readonly key?: string;
}

/** A tool that runs pipelines one after the other, each with the output of the one before, and fails its first attempts. */
const inSequence = defineTool({
  name: 'in_sequence',
  description: 'runs pipelines one after the other',
  inputs: {},
  openInputs: true,
  run: async (inputs, { clock, runPipeline, attempt }) => {
    const { pipelines = [], pause = 1, fails = 0, counts = false } = inputs as Sequence;
    let v: Json = null;
    for (const pipeline of pipelines) {
      const { outputs } = await runPipeline({ pipeline, inputs: { v } });
      v = outputs['x'] ?? null;
      await new Promise<void>((resolve) => clock.setTimeout(resolve, pause));
    }
    if (attempt <= fails) throw new Error('broke after its pipelines');
    return counts ? attempt : v;
  },
});

interface Sequence {
  readonly pipelines?: readonly JsonObject[];
  readonly pause?: number;
  readonly fails?: number;
  readonly counts?: boolean;
}

/** Lists for fan-outs. */
const INPUTS = '{items1: [0], items2: [0, 1], items3: [0, 1, 2], items4: [0, 1, 2, 3]}';
/** The places of the pool that tasks may name. */
const POOLS = new Map([['erp', 1]]);
const START = Date.UTC(2026, 0, 1);

/** A run whose facts are kept, in a process of its own as far as it can tell. */
export class KeptTestRun {
  readonly clock: ManualClock;
  readonly log: MemoryFactLog;
  readonly calls: ScriptedCall[] = [];
  readonly run: AnyRun;

  /** @param definition a YAML flow list of tasks, or the text of a plan */
  constructor(
    definition: string,
    facts: readonly Fact[] = [],
    ownTools: readonly Tool[] = [],
    options: Pick<LocalExecutorOptions, 'blackboard' | 'runOutputLimitBytes'> & {
      readonly clock?: ManualClock;
      /** Further fields of the pipeline, each followed by a comma. */
      readonly head?: string;
    } = {},
  ) {
    this.clock = options.clock ?? new ManualClock(facts.at(-1)?.at ?? START);
    this.log = new MemoryFactLog(facts);
    const { head = '', ...executorOptions } = options;
    const executor = new LocalExecutor({
      random: () => 0.5,
      pools: POOLS,
      ...executorOptions,
      clock: this.clock,
    });
    const kept = {
      log: this.log,
      past: { id: 'kept', createdAt: START, isRestored: facts.length > 0, facts: PastFacts.of(facts) },
    };
    const tools = [createScript(this.calls), inSequence, ...ownTools];
    if (definition.startsWith('{id: plan')) {
      const plan = parsePlan(definition, { tools });
      this.run = executor.createPlanRun({ plan, collect_events: true }, undefined, undefined, kept);
    } else {
      const pipeline = parsePipeline(
        `{id: spec, goal: be checked, inputs: ${INPUTS}, ${head} tasks: [${definition}]}`,
        { tools },
      );
      this.run = executor.createRun({ pipeline, collect_events: true }, undefined, undefined, kept);
    }
  }

  /** Begins, or goes on, and lets time pass until the run has settled. @param afterTurn is called after each turn */
  async runToEnd(afterTurn: (turn: number) => void = () => undefined): Promise<void> {
    await this.begin();
    for (let turn = 0; !this.run.isSettled; turn++) {
      if (turn > 1000)
        throw new Error(`the run hangs: ${JSON.stringify(this.run.actor.getPersistedSnapshot())}`);
      afterTurn(turn);
      await settle();
      this.clock.advance(1);
      await settle();
    }
    await this.run.settled;
  }

  async begin(): Promise<void> {
    void this.run.rebuild();
    await settle();
    if (this.run.startedAt === null && !this.run.isSettled) void this.run.begin();
  }

  get record(): RunRecord {
    return toRunRecord(this.run);
  }

  get events(): LiveEvent[] {
    return this.log.facts.flatMap((fact) => (fact.kind === 'event' ? [fact.event] : []));
  }
}

/**
 * Describes what is equal in a run that was rebuilt and in one that was not disturbed: all but times and the order
 * within a wave.
 */
export function describeRun({ record, events }: KeptTestRun): unknown {
  const { status, error, result, failures, progress, sub_pipelines, settled } = record;
  return {
    status,
    settled,
    error,
    result: result && { ...result, events: null, sub_results: describeSubResults(result) },
    progress,
    sub_pipelines,
    failures: failures.map((failure) => JSON.stringify(failure)).toSorted(),
    collected: describeEvents(record.events ?? []),
    events: describeEvents(events.filter(({ kind }) => kind !== 'log')),
  };
}

function describeSubResults(result: NonNullable<RunRecord['result']>): unknown {
  if (result.sub_results === undefined) return null;
  return Object.entries(result.sub_results).map(([id, { outputs }]) => [id, outputs]);
}

function describeEvents(events: readonly LiveEvent[]): string[] {
  return events
    .map((event) => JSON.stringify({ ...event, seq: 0, time: '', duration_ms: 0, delay_ms: 0 }))
    .toSorted();
}

/** No event is missing, and none is there twice. */
export function expectNoGap({ events }: KeptTestRun): void {
  expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, at) => at + 1));
}
