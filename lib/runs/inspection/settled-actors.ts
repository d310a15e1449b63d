import type { AnyActorRef } from 'xstate';
import { itemActorsOf, MAX_NAMED_ITEMS } from '../../../machines/fan-out/item-actors.js';
import { HANDLERS_ID } from '../../../machines/sub-runs.js';
import { toIsoTime } from '../../common/clock.js';
import type { JsonObject } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import type { AnyRun } from '../../execution/local-executor.js';
import type { PipelineRun } from '../../execution/run/pipeline-run.js';
import { type TaskTrace, UNKNOWN_TIME } from '../../execution/run/task-trace.js';
import type { ActorStatus } from './entry.js';

/** An actor that had ended before recording began, as its last snapshot was. */
export interface SettledActor {
  readonly path: string;
  readonly src: string;
  readonly snapshot: SettledSnapshot;
  /** When the actor was at work, as far as that is known. */
  readonly data: JsonObject;
}

type SettledSnapshot = JsonObject & { readonly status: ActorStatus; readonly value: string };

/** Undefined in place of an actor: much was looked at, so this is the time for a pause. */
type Listed = Generator<SettledActor | undefined, void, undefined>;

/** Tasks and items that are looked at before a pause. */
const LOOKED_AT_PER_STEP = 1000;

/**
 * Lists the tasks, items and sub-runs of a run that have settled (D59), for a recorder that begins later: their actors are
 * not there any more, but the run knows how they ended.
 */
export class SettledActors {
  readonly #run: AnyRun;
  readonly #since: number;
  #left: number = INSPECTION_LIMITS.settledActors;
  #lookedAt = 0;
  /** The run has settled: what has not, was stopped. */
  #isOver = false;

  /** @param since milliseconds since 1970: what has settled before is left out */
  constructor(run: AnyRun, since = Number.NEGATIVE_INFINITY) {
    this.#run = run;
    this.#since = since;
  }

  /** Lists what has settled directly below an actor at work. */
  *below(actor: AnyActorRef, path: string): Listed {
    // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
    const parent = actor._parent;
    if (actor.src === 'sub-runs') yield* this.#listSubRuns(path);
    else if (actor.src === 'wave' && parent !== undefined) {
      const run = this.#findRun(parent);
      if (run !== undefined) yield* this.#listTasks(run, path);
    } else if (actor.src === 'fan-out' && parent !== undefined) {
      // A task belongs to a wave, and that to a run.
      // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for the parent
      const trace = this.#findRun(parent._parent?._parent)?.work.getTrace(parent.id);
      if (trace !== undefined) yield* this.#listItems(trace, path);
    }
  }

  /** Lists the actors of a settled run, the run last. Stopped actors are listed too, although they have not settled. */
  *ofSettledRun(rootName: string): Listed {
    const run = this.#run;
    this.#isOver = true;
    if (run.kind === 'plan') {
      yield* this.#listSubRuns(`${rootName}/sub-runs`);
      yield* this.#list('sub-runs', `${rootName}/sub-runs`, STOPPED, {});
    } else if (run.startedAt !== null) {
      yield* this.#listTasks(run, `${rootName}/wave`);
      yield* this.#list('wave', `${rootName}/wave`, STOPPED, {});
    }
    this.#left = Math.max(1, this.#left);
    const data = toTimes(run.startedAt ?? undefined, run.finishedAt ?? undefined);
    const end = { status: 'done', value: run.status } as const;
    yield* this.#list(run.kind === 'plan' ? 'plan' : 'run', rootName, end, data);
  }

  #findRun(actor: AnyActorRef | undefined): PipelineRun | undefined {
    const run = this.#run;
    if (run.kind === 'pipeline') return run;
    return actor?.id === HANDLERS_ID ? run.subRuns.handlers : run.subRuns.begun.get(actor?.id ?? '');
  }

  *#listSubRuns(path: string): Listed {
    if (this.#run.kind !== 'plan') return;
    const { begun, handlers } = this.#run.subRuns;
    const runs = handlers === undefined ? begun : [...begun, [HANDLERS_ID, handlers] as const];
    for (const [id, run] of runs) {
      if (this.#isPause()) yield undefined;
      if (!run.isSettled || !this.#isWanted(run.finishedAt ?? undefined)) continue;
      const data = toTimes(run.startedAt ?? undefined, run.finishedAt ?? undefined);
      const runPath = `${path}/${id}`;
      yield* this.#list('run', runPath, { status: 'done', value: run.status }, data);
      yield* this.#list('wave', `${runPath}/wave`, STOPPED, data);
      yield* this.#listTasks(run, `${runPath}/wave`);
    }
  }

  *#listTasks({ work, prepared }: PipelineRun, path: string): Listed {
    for (const id of prepared.pipeline.allWaves.flat()) {
      if (this.#isPause()) yield undefined;
      const trace = work.getTrace(id);
      if (trace === undefined || !this.#isEnded(trace.settledAt)) continue;
      const taskPath = `${path}/${id}`;
      const data = toTimes(trace.startedAt, trace.settledAt);
      const end = trace.settledAt === undefined ? STOPPED : toEnd(trace.hasFailed, trace.error?.message);
      yield* this.#list('task', taskPath, end, data);
      if (trace.itemOutputs === undefined) continue;
      yield* this.#list('fan-out', `${taskPath}/fan-out`, end, data);
      yield* this.#listItems(trace, `${taskPath}/fan-out`);
    }
  }

  *#listItems(trace: TaskTrace, path: string): Listed {
    // Once the run or the task is over, an item that has not settled never will.
    const isOver = this.#isOver || trace.settledAt !== undefined;
    for (const { id, src, from, to } of itemActorsOf(trace.itemOutputs?.length ?? 0)) {
      const failed: number[] = [];
      let settled = 0;
      let settledAt = 0;
      for (let item = from; item < to; item++) {
        if (this.#isPause()) yield undefined;
        const time = trace.itemSettledAt(item);
        // One item at work is enough to know that its chunk is at work.
        if (time === undefined && !isOver) break;
        if (time === undefined) continue;
        settled++;
        settledAt = Math.max(settledAt, time);
        if (trace.endedAttempts(item)?.error !== undefined) failed.push(item);
      }
      const isWhole = settled === to - from;
      const startedAt = trace.callStartedAt(from);
      // Of a fan-out that has failed, some items were not begun.
      if (!isWhole && (!isOver || (settled === 0 && startedAt === undefined))) continue;
      if (!this.#isWanted(settled === 0 ? undefined : settledAt)) continue;
      const data = toTimes(startedAt, settled === 0 ? undefined : settledAt);
      if (src === 'item') {
        const end = isWhole ? toEnd(failed.length > 0, trace.endedAttempts(from)?.error?.message) : STOPPED;
        yield* this.#list(src, `${path}/${id}`, end, data);
      } else {
        const failedItems = failed.slice(0, MAX_NAMED_ITEMS);
        const counts = { from, to, settled, failed: failed.length, failed_items: failedItems };
        const end = isWhole ? ({ status: 'done', value: 'settled' } as const) : STOPPED;
        yield* this.#list(src, `${path}/${id}`, { ...end, ...counts }, data);
      }
    }
  }

  *#list(src: string, path: string, snapshot: SettledSnapshot, data: JsonObject): Listed {
    if (this.#left-- > 0) yield { path, src, snapshot, data };
  }

  #isPause(): boolean {
    return ++this.#lookedAt % LOOKED_AT_PER_STEP === 0;
  }

  #isEnded(settledAt: number | undefined): boolean {
    return settledAt === undefined ? this.#isOver && this.#left > 0 : this.#isWanted(settledAt);
  }

  #isWanted(settledAt: number | undefined): boolean {
    if (this.#left <= 0) return false;
    return settledAt === undefined || settledAt === UNKNOWN_TIME || settledAt >= this.#since;
  }
}

const STOPPED = { status: 'stopped', value: 'stopped' } as const;

function toEnd(hasFailed: boolean, error: string | undefined): SettledSnapshot {
  if (!hasFailed) return { status: 'done', value: 'succeeded', output: { ok: true } };
  return { status: 'done', value: 'failed', output: { ok: false, ...(error !== undefined && { error }) } };
}

function toTimes(startedAt: number | undefined, finishedAt: number | undefined): JsonObject {
  const isKnown = (time: number | undefined): time is number => time !== undefined && time !== UNKNOWN_TIME;
  return {
    ...(isKnown(startedAt) && { started_at: toIsoTime(startedAt) }),
    ...(isKnown(finishedAt) && { finished_at: toIsoTime(finishedAt) }),
  };
}
