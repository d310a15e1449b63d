import type { RunStatus } from '../../../machines/types.js';
import type { Clock } from '../../common/clock.js';
import type { Json, JsonObject } from '../../common/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import type { MemoryPool } from '../../common/queues/memory-pool.js';
import type { Steps } from '../../common/steps.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { EventLog } from '../event-log.js';
import { runInTurns } from '../fair-yield.js';
import type { RunEntry } from '../run-entry.js';
import { type ActorStatus, CREATED } from './entry.js';
import type { OpenInspection } from './inspection.js';
import { InspectionLog } from './inspection-log.js';
import { idOfFirstTransition, idOfLogicTransition } from './transition-id.js';

/**
 * Opens the inspection of a run. One that has settled and that nobody watched was not recorded: its entries are made of its
 * events, for as long as the view is open.
 *
 * Rejects with `memory_full` when there is no room for these.
 */
export async function openInspection(
  entry: RunEntry,
  clock: Clock,
  memory: MemoryPool | undefined,
): Promise<OpenInspection> {
  const inspection = entry.inspection(clock);
  if (inspection.hasEntries) return inspection.open();
  const { tenantId, kind } = entry.run;
  let heldBytes = 0;
  const hold = (bytes: number): void => {
    memory?.reserve(tenantId, bytes, 'response');
    heldBytes += bytes;
  };
  const release = (): void => {
    memory?.release(tenantId, heldBytes);
    heldBytes = 0;
  };
  try {
    const log = await runInTurns(rebuild(entry.log, kind, hold), tenantId);
    return { log, origin: 'events', close: release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Events that are read in one step. */
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

/** The states of tasks and of items at their end. */
const END_STATES = { finish: 'succeeded', fail: 'failed' } as const;

/** What becomes of an actor by an event. */
interface Change {
  readonly event: string;
  readonly state: string;
  readonly status?: ActorStatus;
  readonly data?: JsonObject;
}

/** Infers from the events of a run what its actors did. Nested runs have actors of their own, which it leaves out. */
class Rebuilder {
  readonly #log: InspectionLog;
  readonly #root: 'run' | 'plan';
  /** States by path, of actors that have not ended. */
  readonly #states = new Map<string, string>();
  #time = '';

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
        return this.#addStatus(run, 'run', event);
      case 'wave': {
        const { wave, phase, tasks } = event;
        const isStart = phase === 'start';
        const change = isStart
          ? { event: 'wave.begin', state: 'settling' }
          : { event: 'wave.report', state: 'idle' };
        return this.#write(`${run}/wave`, 'wave', { ...change, data: { wave, tasks } });
      }
      case 'start':
      case 'finish':
      case 'fail':
        return this.#addTask(`${run}/wave/${event.task_id}`, event);
      case 'item':
      case 'retry':
        return this.#addPart(`${run}/wave/${event.task_id}`, event);
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
      this.#write(path, src, { event: this.#settledEvent(src), state: 'cancelled', status: 'done' });
    }
  }

  #addStatus(
    path: string,
    src: 'run' | 'plan',
    {
      status,
      paused,
      error,
    }: { readonly status: RunStatus; readonly paused?: true; readonly error?: string },
  ): void {
    const from = this.#states.get(path);
    if (status === 'queued') return this.#write(path, src, { event: CREATED, state: status });
    if (status === 'running') {
      const event = from === 'paused' ? 'continue' : from === 'queued' ? 'begin' : this.#settledEvent(src);
      return this.#write(path, src, { event, state: paused === true ? 'paused' : status });
    }
    if (status === 'cancelled') {
      const isDraining = from === 'running';
      const end = isDraining ? { state: 'draining' } : { state: status, status: 'done' as const };
      return this.#write(path, src, { event: 'cancel', ...end });
    }
    const data = error === undefined ? {} : { error };
    this.#write(path, src, { event: this.#settledEvent(src), state: status, status: 'done', data });
  }

  #settledEvent(src: 'run' | 'plan'): string {
    return src === 'plan' ? 'sub-runs.settled' : 'wave.settled';
  }

  #addTask(path: string, event: Extract<LiveEvent, { kind: 'start' | 'finish' | 'fail' }>): void {
    const { kind, tool, items, error, duration_ms: durationMs } = event;
    const fanOut = `${path}/fan-out`;
    if (kind === 'start') {
      const state = items === undefined ? 'invoking' : 'fanning out';
      this.#write(path, 'task', { event: CREATED, state, data: { tool } });
      if (items !== undefined)
        this.#write(fanOut, 'fan-out', { event: CREATED, state: 'invoking', data: { items } });
      return;
    }
    const state = END_STATES[kind];
    const data = {
      ...(durationMs !== undefined && { duration_ms: durationMs }),
      ...(error !== undefined && { error }),
    };
    const end = { state, status: 'done', data } as const;
    if (this.#states.has(fanOut)) this.#write(fanOut, 'fan-out', { event: 'fan-out.settled', ...end });
    this.#write(path, 'task', { event: 'task.settled', ...end });
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

  #write(path: string, src: string, { event, state, status = 'active', data = {} }: Change): void {
    const from = event === CREATED ? null : (this.#states.get(path) ?? null);
    if (status === 'active') this.#states.set(path, state);
    else this.#states.delete(path);
    const snapshot: Json = { status, value: state, ...data };
    this.#log.append({
      time: this.#time,
      actor: path,
      src,
      event,
      data: event === CREATED ? null : data,
      source: null,
      from,
      state,
      transition:
        event === CREATED ? idOfFirstTransition(src, state) : idOfLogicTransition(src, from, event, state),
      status,
      snapshot,
    });
  }
}
