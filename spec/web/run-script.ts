import type { Json } from '../../lib/common/json/json.js';
import type { ActorStatus, InspectionEntry } from '../../lib/runs/inspection/entry.js';

const START = Date.parse('2026-01-01T12:00:00.000Z');

/** The parts of an entry besides its actor, its event and its state. */
export interface EntryExtras {
  readonly source?: string | null;
  readonly data?: Json;
  readonly status?: ActorStatus;
  readonly snapshot?: Record<string, Json>;
  readonly transition?: string;
}

/** Writes the entries of a run as a recorder would: numbers, times and states before follow by themselves. */
export class RunScript {
  readonly entries: InspectionEntry[] = [];
  readonly #states = new Map<string, { readonly state: string; readonly src: string }>();
  #time = START;

  create(actor: string, src: string, state: string, extras: EntryExtras = {}): this {
    this.#states.set(actor, { state: '', src });
    const slash = actor.lastIndexOf('/');
    const source = slash < 0 ? null : actor.slice(0, slash);
    return this.#add(actor, '@created', state, { source, ...extras }, null);
  }

  send(actor: string, event: string, state: string, extras: EntryExtras = {}): this {
    return this.#add(actor, event, state, extras, this.#states.get(actor)?.state ?? null);
  }

  /** Lets a task run and succeed. */
  succeed(task: string, output: Json = 'done'): this {
    const result = { ok: true, value: output };
    return this.create(task, 'task', 'invoking')
      .send(task, 'task.settled', 'succeeded', { source: task, status: 'done', data: { result } })
      .settled(task);
  }

  /** Tells the wave that one of its tasks has settled. */
  settled(task: string): this {
    const wave = task.slice(0, task.lastIndexOf('/'));
    return this.send(wave, 'xstate.done.actor', 'settling', { source: task, data: { actorId: task } });
  }

  #add(actor: string, event: string, state: string, extras: EntryExtras, from: string | null): this {
    const { source = null, data = {}, status = 'active', snapshot = {}, transition = null } = extras;
    const src = this.#states.get(actor)?.src ?? actor;
    this.#states.set(actor, { state, src });
    this.#time += 7 + ((this.entries.length * 37) % 90);
    const time = new Date(this.#time).toISOString();
    const seq = this.entries.length + 1;
    this.entries.push({
      seq,
      time,
      actor,
      src,
      event,
      data,
      source,
      from,
      state,
      transition,
      status,
      snapshot: { status, value: state, ...snapshot },
    });
    return this;
  }
}

/** A run of two waves with a fan-out, of which an item is repeated; it pauses before the second wave. */
export function writePausedRun(items = 8): RunScript {
  const script = new RunScript();
  const context = (wavesExecuted: number): Record<string, Json> => ({
    context: { waves: [['fetch', 'each'], ['summary']], wavesExecuted, failed: [] },
  });
  script.create('run', 'run', 'queued', { snapshot: context(0) });
  script.create('run/wave', 'wave', 'idle', { snapshot: { unsettled: 0, wavesExecuted: 0 } });
  script.send('run', 'begin', 'running', { snapshot: context(0) });
  script.send('run/wave', 'wave.begin', 'starting', {
    source: 'run',
    data: { taskIds: ['fetch', 'each'] },
    snapshot: { unsettled: 2, wavesExecuted: 0, taskIds: ['fetch', 'each'] },
  });
  script.succeed('run/wave/fetch', { rows: items });
  script.create('run/wave/each', 'task', 'fanning out');
  script.create('run/wave/each/fan-out', 'fan-out', 'invoking', { snapshot: { total: items, settled: 0 } });
  for (let item = 0; item < items; item++) {
    const path = `run/wave/each/fan-out/${item}`;
    script.create(path, 'item', 'invoking');
    if (item === 3) script.send(path, 'item.waits', 'waiting').send(path, 'item.resumes', 'invoking');
    if (item < items - 2) {
      const ok = item !== 5;
      const result = ok ? { ok, value: `summary ${item}` } : { ok, error: 'the page is empty' };
      script.send(path, 'item.settled', ok ? 'succeeded' : 'failed', {
        source: 'run/wave/each/fan-out',
        status: 'done',
        data: { result },
      });
    }
  }
  for (const item of [items - 2, items - 1]) {
    script.send(`run/wave/each/fan-out/${item}`, 'item.settled', 'succeeded', { status: 'done' });
  }
  script.send('run/wave/each/fan-out', 'fan-out.settled', 'succeeded', {
    status: 'done',
    snapshot: { total: items, settled: items },
  });
  script.send('run/wave/each', 'task.settled', 'succeeded', { status: 'done' }).settled('run/wave/each');
  script.send('run/wave', 'wave.report', 'idle', { snapshot: { unsettled: 0, wavesExecuted: 1 } });
  return script.send('run', 'wave.settled', 'paused', {
    source: 'run/wave',
    data: { wavesExecuted: 1, failed: [] },
    snapshot: context(1),
    // The transition `[pausesBeforeWave]`: another with the guard of a failure leads to the same state.
    transition: 'run:7',
  });
}

/** Lets a run that {@link writePausedRun} wrote go on to its end. */
export function writeEnd(script: RunScript): RunScript {
  return script
    .send('run', 'continue', 'running')
    .send('run/wave', 'wave.begin', 'starting', { source: 'run', data: { taskIds: ['summary'] } })
    .succeed('run/wave/summary', 'all is well')
    .send('run/wave', 'wave.report', 'idle')
    .send('run', 'wave.settled', 'succeeded', {
      source: 'run/wave',
      status: 'done',
      data: { wavesExecuted: 2, failed: [] },
    });
}
