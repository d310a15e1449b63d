import { errorCode, errorMessage, RunBusyError } from '../../common/errors.js';
import { warnHost } from '../../common/warnings.js';
import { LinkedMap } from '../../common/memory/linked-map.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import { MAX_NAMED_RUNS } from '../../common/wire/task.js';
import type { RunGroup } from '../../execution/prepare/run-group.js';
import type { LiveRunEntry } from '../run-entry.js';

/** The runs of a group that have not settled, in the order in which they came. */
interface Group {
  /** Runs that the group does not hold back any more: they are running, or wait for a slot. */
  readonly atWork: LinkedMap<string, LiveRunEntry>;
  readonly waiting: LinkedMap<string, LiveRunEntry>;
  /** Of both: those that a newer run has had cancelled, and that have not settled. */
  readonly ending: Set<LiveRunEntry>;
}

/**
 * Holds the runs of definitions with `max_running` to that number, before they wait for a slot (D81). A group is there while
 * runs of it are, so that callers can make no more groups than runs. Every operation takes constant time, but for the runs
 * that it has cancelled, each of them once.
 */
export class ConcurrencyGroups {
  readonly #groups = new Map<string, Group>();
  /** How many runs wait, by tenant; only of tenants of which some do. */
  readonly #waiting = new Map<string, number>();
  readonly #cancel: (runId: string) => Promise<unknown>;

  /** @param cancel cancels a run that has not settled */
  constructor(cancel: (runId: string) => Promise<unknown>) {
    this.#cancel = cancel;
  }

  /** Call before a run is created. @throws WavetrainError `busy` for one that does not wait */
  assertRoom(tenantId: string, { key, limit, on_busy: onBusy }: RunGroup): void {
    const group = onBusy === 'skip' ? this.#groups.get(toKey(tenantId, key)) : undefined;
    const first = group?.atWork.first ?? group?.waiting.first;
    if (group === undefined || first === undefined) return;
    if (group.atWork.size + group.waiting.size >= limit) throw new RunBusyError(first.run.id, limit);
  }

  /** Returns true when the run may wait for a slot; otherwise `leave` returns it when it may. */
  enter(entry: LiveRunEntry): boolean {
    const { run } = entry;
    if (run.group === null) return true;
    const group = this.#groupOf(run.tenantId, run.group);
    // Another process has begun it.
    if (run.hasBegun) {
      if (run.status === 'cancelled') group.ending.add(entry);
      return group.atWork.add(run.id, entry);
    }
    if (run.group.on_busy === 'cancel_running') this.#supersede(group, run.group.limit);
    if (group.waiting.size === 0 && hasRoom(group, run.group)) return group.atWork.add(run.id, entry);
    group.waiting.add(run.id, entry);
    this.#count(run.tenantId, 1);
    return false;
  }

  /** Call when a run has settled. Returns those that may wait for a slot now. */
  leave(entry: LiveRunEntry): readonly LiveRunEntry[] {
    const { id, tenantId, group: of } = entry.run;
    const group = of === null ? undefined : this.#groups.get(toKey(tenantId, of.key));
    if (of === null || group === undefined) return [];
    group.atWork.delete(id);
    group.ending.delete(entry);
    if (group.waiting.delete(id)) this.#count(tenantId, -1);
    const next = this.#takeNext(group);
    if (group.atWork.size + group.waiting.size === 0) this.#groups.delete(toKey(tenantId, of.key));
    return next;
  }

  #takeNext(group: Group): LiveRunEntry[] {
    const taken: LiveRunEntry[] = [];
    for (let { first } = group.waiting; first !== undefined; { first } = group.waiting) {
      const { run } = first;
      if (group.ending.has(first) || run.group === null || !hasRoom(group, run.group)) break;
      group.waiting.delete(run.id);
      this.#count(run.tenantId, -1);
      group.atWork.add(run.id, first);
      taken.push(first);
    }
    return taken;
  }

  /** The number of runs that wait for their group. @param tenants undefined for all of them */
  waitingOf(tenants: Iterable<string> | undefined): number {
    let runs = 0;
    for (const tenantId of tenants ?? this.#waiting.keys()) runs += this.#waiting.get(tenantId) ?? 0;
    return runs;
  }

  /** Returns the wait of a run that its group holds back; undefined for any other one. */
  waitOf({ run }: LiveRunEntry): Omit<WaitingFor, 'since'> | undefined {
    const group = run.group === null ? undefined : this.#groups.get(toKey(run.tenantId, run.group.key));
    if (run.group === null || group?.waiting.has(run.id) !== true) return undefined;
    const { limit, value } = run.group;
    const running: string[] = [];
    for (const { run: other } of listBefore(group, run.id)) {
      if (running.push(other.id) === MAX_NAMED_RUNS) break;
    }
    return { reason: 'max_running', limit, ...(value !== '' && { key: value }), running };
  }

  /** Removes and returns the runs that wait for their groups. */
  clear(): LiveRunEntry[] {
    const waiting = [...this.#groups.values()].flatMap((group) => [...group.waiting]);
    for (const { waiting: runs } of this.#groups.values()) for (const { run } of runs) runs.delete(run.id);
    this.#waiting.clear();
    return waiting;
  }

  /** Has all runs of the group cancelled when there is no room for one more of them: the newest goes on. */
  #supersede({ atWork, waiting, ending }: Group, limit: number): void {
    if (atWork.size + waiting.size - ending.size < limit) return;
    for (const entry of [...atWork, ...waiting]) {
      if (ending.has(entry)) continue;
      ending.add(entry);
      this.#cancel(entry.run.id).catch((error: unknown) => warnOfCancel(entry.run.id, error));
    }
  }

  #groupOf(tenantId: string, { key }: RunGroup): Group {
    const name = toKey(tenantId, key);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { atWork: new LinkedMap(), waiting: new LinkedMap(), ending: new Set() };
      this.#groups.set(name, group);
    }
    return group;
  }

  #count(tenantId: string, by: number): void {
    const runs = (this.#waiting.get(tenantId) ?? 0) + by;
    if (runs === 0) this.#waiting.delete(tenantId);
    else this.#waiting.set(tenantId, runs);
  }
}

/** The runs of a group that come before one that waits. */
function* listBefore({ atWork, waiting }: Group, runId: string): Iterable<LiveRunEntry> {
  yield* atWork;
  for (const entry of waiting) {
    if (entry.run.id === runId) return;
    yield entry;
  }
}

/** One that has others cancelled begins when all of them have settled. */
function hasRoom({ atWork, ending }: Group, { limit, on_busy: onBusy }: RunGroup): boolean {
  return atWork.size < limit && (onBusy !== 'cancel_running' || ending.size === 0);
}

/** Refusals that need no warning: the older run has ended meanwhile, or is left to the next process. */
const EXPECTED: readonly (string | undefined)[] = ['run_not_found', 'run_already_terminal', 'shutting_down'];

/** The newer run waits until the older one has settled in any case. */
function warnOfCancel(runId: string, error: unknown): void {
  if (EXPECTED.includes(errorCode(error))) return;
  warnHost(
    `run ${runId} cannot be cancelled for a newer one (on_busy: cancel_running): ${errorMessage(error)}`,
  );
}

function toKey(tenantId: string, key: string): string {
  return `${tenantId}\n${key}`;
}
