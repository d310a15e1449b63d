import type { Clock } from '../../common/clock.js';
import { RUN_TIMEOUT } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import type { MemoryPool } from '../../common/memory/memory-pool.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { LiveEvent, TaskEvent } from '../../execution/events/event.js';
import type { EventLog } from '../event-log.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { ReadableRun } from '../../execution/run/readable-run.js';
import { type ActorStatus, CREATED, RESUMED } from './entry.js';
import type { OpenInspection } from './inspection.js';
import { InspectionLog } from './inspection-log.js';
import { idOfFirstTransition, idOfLogicTransition } from './transition-id.js';

interface SettledRun {
  readonly run: Pick<ReadableRun, 'kind' | 'tenantId'>;
  readonly log: EventLog;
}

/**
 * The entries of a settled run that nobody watched: they are made of its events (D29), once for all who look at it at the
 * same time or soon after each other, such as a reader of one page after the other.
 */
export class RebuiltInspection {
  readonly #entry: SettledRun;
  readonly #clock: Clock;
  readonly #memory: MemoryPool | undefined;
  #viewers = 0;
  #log: Promise<InspectionLog> | undefined;
  #heldBytes = 0;
  #timer: unknown;

  constructor(entry: SettledRun, clock: Clock, memory: MemoryPool | undefined) {
    this.#entry = entry;
    this.#clock = clock;
    this.#memory = memory;
  }

  /** Adds a viewer. Rejects with `memory_full` when there is no room for the entries. */
  async open(): Promise<OpenInspection> {
    this.#viewers++;
    this.#clock.clearTimeout(this.#timer);
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      if (--this.#viewers > 0) return;
      this.#timer = this.#clock.setTimeout(() => this.forget(), INSPECTION_LIMITS.lingerMs);
    };
    try {
      this.#log ??= this.#rebuild();
      return { log: await this.#log, origin: 'events', close };
    } catch (error) {
      this.#viewers--;
      throw error;
    }
  }

  /** Gives the memory back, unless somebody looks at the entries still. */
  forget(): void {
    this.#clock.clearTimeout(this.#timer);
    if (this.#viewers > 0) return;
    this.#log = undefined;
    this.#release();
  }

  async #rebuild(): Promise<InspectionLog> {
    const { run, log } = this.#entry;
    const hold = (bytes: number): void => {
      this.#memory?.reserve(run.tenantId, bytes, 'response');
      this.#heldBytes += bytes;
    };
    try {
      return await runInSlices(rebuild(log, run.kind, hold), run.tenantId);
    } catch (error) {
      this.#log = undefined;
      this.#release();
      throw error;
    }
  }

  #release(): void {
    this.#memory?.release(this.#entry.run.tenantId, this.#heldBytes);
    this.#heldBytes = 0;
  }
}

const EVENTS_PER_STEP = 200;

/** Makes the entries of a run that has settled. `hold` takes the memory, and throws when there is none. */
function* rebuild(
  events: EventLog,
  kind: 'pipeline' | 'plan',
  hold: (bytes: number) => void,
): Steps<InspectionLog> {
  const dropped = Math.max(0, events.lastSeq - events.size);
  const log = new InspectionLog(undefined, INSPECTION_LIMITS, dropped);
  const rebuilder = new Rebuilder(log, kind === 'plan' ? 'plan' : 'run');
  let heldBytes = 0;
  for (let seq = dropped; ; ) {
    const page = events.readAfter(seq, EVENTS_PER_STEP).events;
    for (const event of page) rebuilder.add(event);
    hold(Math.max(0, log.bytes - heldBytes));
    heldBytes = Math.max(heldBytes, log.bytes);
    const last = page.at(-1);
    if (last === undefined) break;
    seq = last.seq;
    yield;
  }
  rebuilder.finish();
  log.close();
  return log;
}

const END_STATES = { finish: 'succeeded', fail: 'failed', skip: 'skipped' } as const;

/** The state into which an event brings an actor. */
interface Change {
  readonly event: string;
  /** Path of the actor that must have sent the event; undefined for none. */
  readonly source?: string;
  readonly state: string;
  readonly status?: ActorStatus;
  readonly data?: JsonObject;
}

/** Returns the event that ends a run, with the path of the wave or of the sub-runs that have sent it. */
function settledEvent(path: string, src: 'run' | 'plan'): Required<Pick<Change, 'event' | 'source'>> {
  return src === 'plan'
    ? { event: 'sub-runs.settled', source: `${path}/sub-runs` }
    : { event: 'wave.settled', source: `${path}/wave` };
}

/** The event by which a run goes on; undefined when a wave has settled before. */
function eventToRunning(from: string | undefined): { readonly event: string } | undefined {
  if (from === 'queued') return { event: 'begin' };
  // The events of a run do not say whether it was "continue" or "step".
  return from === 'paused' ? { event: RESUMED } : undefined;
}

type StatusEvent = Extract<LiveEvent, { kind: 'run' | 'sub_pipeline' }>;

/** Infers from the events of a run what its actors did. Nested runs have actors of their own, which it leaves out. */
class Rebuilder {
  readonly #log: InspectionLog;
  readonly #root: 'run' | 'plan';
  /** States by path, of actors that have not ended. */
  readonly #states = new Map<string, string>();
  #time = '';
  /** True when the time of a sub-pipeline was over. */
  #hasTimedOutPart = false;

  constructor(log: InspectionLog, root: 'run' | 'plan') {
    this.#log = log;
    this.#root = root;
  }

  add(event: LiveEvent): void {
    if ('within' in event && event.within !== undefined) return;
    this.#time = event.time;
    const run =
      'sub_pipeline' in event && event.sub_pipeline !== undefined
        ? `${this.#root}/sub-runs/${event.sub_pipeline}`
        : this.#root;
    switch (event.kind) {
      case 'run':
        return this.#addStatus(run, this.#root, event);
      case 'sub_pipeline':
        // A skipped one has no actor.
        if (event.status === 'skipped') return undefined;
        return this.#addStatus(run, 'run', event);
      case 'wave': {
        const { wave, phase, tasks } = event;
        const isStart = phase === 'start';
        const change = isStart
          ? { event: 'wave.begin', source: run, state: 'settling' }
          : { event: 'wave.report', state: 'idle' };
        return this.#write(`${run}/wave`, 'wave', { ...change, data: { wave, tasks } });
      }
      case 'start':
      case 'finish':
      case 'fail':
      case 'skip':
        return this.#addTask(`${run}/wave/${event.task_id}`, event);
      case 'item':
      case 'retry':
        return this.#addPart(`${run}/wave/${event.task_id}`, event);
      case 'round':
        return this.#addRound(`${run}/wave/${event.task_id}`, event);
      case 'log':
      case 'text':
      case 'usage':
        return undefined;
    }
  }

  /** A cancelled run drains until its last event. */
  finish(): void {
    for (const [path, state] of this.#states) {
      if (state !== 'draining') continue;
      const src = path === this.#root ? this.#root : 'run';
      this.#write(path, src, { ...settledEvent(path, src), state: 'cancelled', status: 'done' });
    }
  }

  #addStatus(path: string, src: 'run' | 'plan', event: StatusEvent): void {
    const { status, paused, error } = event;
    const from = this.#states.get(path);
    if (status === 'queued') {
      const source = path === this.#root ? {} : { source: `${this.#root}/sub-runs` };
      return this.#write(path, src, { event: CREATED, ...source, state: status });
    }
    if (status === 'running') {
      // A plan whose sub-runs pause is at work still: its machine has no other state.
      if (src === 'plan' && from === status) return;
      const cause = eventToRunning(from) ?? settledEvent(path, src);
      return this.#write(path, src, { ...cause, state: paused === true ? 'paused' : status });
    }
    if (status === 'cancelled') {
      const isDraining = from === 'running';
      const end = isDraining ? { state: 'draining' } : { state: status, status: 'done' as const };
      return this.#write(path, src, { event: 'cancel', ...end });
    }
    if (this.#isTimeout(src, event)) this.#write(path, src, { event: 'timeout', state: 'aborting' });
    const data = error === undefined ? {} : { error };
    this.#write(path, src, { ...settledEvent(path, src), state: status, status: 'done', data });
  }

  /** True when the time of a run was over (D81): of a plan, not when it was that of a sub-pipeline before. */
  #isTimeout(src: 'run' | 'plan', { kind, error_code: code, failed_task: task }: StatusEvent): boolean {
    if (code !== RUN_TIMEOUT || task !== undefined) return false;
    const isOwn = src === 'run' || !this.#hasTimedOutPart;
    if (kind === 'sub_pipeline') this.#hasTimedOutPart = true;
    return isOwn;
  }

  #addTask(path: string, event: TaskEvent): void {
    const { kind, error, reason, duration_ms: durationMs } = event;
    const fanOut = `${path}/fan-out`;
    if (kind === 'start' || kind === 'skip') this.#createTask(path, fanOut, event);
    if (kind === 'start') return;
    const state = END_STATES[kind];
    const data = {
      ...(durationMs !== undefined && { duration_ms: durationMs }),
      ...(error !== undefined && { error }),
      ...(reason !== undefined && { reason }),
    };
    const end = { state, status: 'done', data } as const;
    if (this.#states.has(fanOut)) this.#write(fanOut, 'fan-out', { event: 'fan-out.settled', ...end });
    this.#write(path, 'task', { event: 'task.settled', ...end });
  }

  #createTask(path: string, fanOut: string, { tool, items }: TaskEvent): void {
    const state = items === undefined ? 'invoking' : 'fanning out';
    const source = path.slice(0, path.lastIndexOf('/'));
    this.#write(path, 'task', { event: CREATED, source, state, data: { tool } });
    if (items !== undefined)
      this.#write(fanOut, 'fan-out', { event: CREATED, source: path, state: 'invoking', data: { items } });
  }

  #addPart(task: string, event: Extract<LiveEvent, { kind: 'item' | 'retry' }>): void {
    const { attempt, item, error } = event;
    const path = item === undefined ? task : `${task}/fan-out/${item}`;
    const src = item === undefined ? 'task' : 'item';
    const data = { attempt, ...(error !== undefined && { error }) };
    if (event.kind === 'retry')
      return this.#write(path, src, { event: `${src}.waits`, state: 'waiting', data });
    const state = END_STATES[event.phase];
    this.#write(path, src, { event: `${src}.settled`, state, status: 'done', data });
  }

  /** The last round ends with its task. */
  #addRound(task: string, { round, delay_ms }: Extract<LiveEvent, { kind: 'round' }>): void {
    if (delay_ms === undefined) return;
    this.#write(task, 'task', { event: 'task.waits', state: 'waiting', data: { round } });
  }

  #write(path: string, src: string, { event, source, state, status = 'active', data = {} }: Change): void {
    const from = event === CREATED ? null : (this.#states.get(path) ?? null);
    if (status === 'active') this.#states.set(path, state);
    else this.#states.delete(path);
    const snapshot: Json = { status, value: state, ...data };
    this.#log.write({
      time: this.#time,
      actor: path,
      src,
      event,
      data: event === CREATED ? null : data,
      source: source ?? null,
      from,
      state,
      transition:
        event === CREATED ? idOfFirstTransition(src, state) : idOfLogicTransition(src, from, event, state),
      status,
      snapshot,
    });
  }
}
