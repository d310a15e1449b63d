import type { Clock } from '../../../common/clock.js';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import { LinkedMap } from '../../../common/memory/linked-map.js';
import type { MemoryPool } from '../../../common/memory/memory-pool.js';
import { formatMebibytes } from '../../../common/text.js';
import { warnHost } from '../../../common/warnings.js';
import type { Admission } from '../../queue/admission.js';
import type { IdempotencyStore } from '../../idempotency.js';
import type { MissingRunFiles } from '../../rerun/missing-run-files.js';
import type { Retention } from '../../retention.js';
import type { LiveRunEntry, RunEntry, RunObservers } from '../../run-entry.js';
import type { RunIndex } from '../../views/run-index.js';
import { Backlog, PendingRun } from './backlog.js';
import { toRunEnd } from '../ending-log.js';
import type { RunArchive, StoredRunHead } from '../run-archive.js';
import type { RunStore } from '../run-store.js';
import type { RestoredRun, StoredRunReader } from './stored-run-reader.js';

/** So many settled runs are rebuilt at once: one whose facts nobody waits for holds up no other. */
const MAX_REBUILDS = 16;

/** How long runs wait that did not fit into the memory, before they are tried again. */
const RETRY_MS = 1000;

/** How many runs of a store can be found again, how many of them go on, and how many more wait until there is memory. */
export interface RestoredRuns {
  readonly kept: number;
  readonly goingOn: number;
  readonly waiting: number;
}

interface RestorationOptions {
  readonly store: RunStore;
  readonly reader: StoredRunReader;
  readonly missingFiles: MissingRunFiles;
  readonly runs: RunIndex;
  readonly keys: IdempotencyStore;
  readonly admission: Admission;
  readonly retention: Retention<RunEntry>;
  readonly clock: Clock;
  readonly memory: MemoryPool | undefined;
  readonly enter: (run: RestoredRun) => LiveRunEntry;
  readonly observers: RunObservers;
  readonly isClosing: () => boolean;
}

/**
 * Takes over the runs of a store, beside new requests (D68): a tenant with many of them, or with definitions that take long
 * to check, delays only itself. Runs that do not fit into the memory wait in the store.
 */
export class Restoration {
  goingOn = 0;
  kept = 0;
  readonly #options: RestorationOptions;
  readonly #backlogs = new LinkedMap<string, Backlog>();
  readonly #pending = new Map<string, PendingRun>();
  readonly #rebuilds = new Set<Promise<void>>();
  #warnedOf = 0;
  #clearRetry: (() => void) | undefined;
  #running: Promise<boolean> | undefined;

  constructor(options: RestorationOptions) {
    this.#options = options;
  }

  /** From then on, the other methods know the runs. Rejects when the store cannot be read. */
  async list(): Promise<void> {
    const { store, missingFiles, runs, keys, admission } = this.#options;
    keys.restoreForgotten(await store.keys());
    const settled: PendingRun[] = [];
    for await (const head of store.heads()) {
      runs.reserve(head.id);
      if (head.idempotency) keys.restore(head.tenantId, head.idempotency, head.id);
      missingFiles.keep(head.id);
      const pending = new PendingRun(head);
      this.#pending.set(head.id, pending);
      if (head.hasSettled) settled.push(pending);
      else this.#addOpen(pending);
    }
    for (const pending of settled.toReversed()) {
      const backlog = this.#backlogOf(pending.head);
      backlog.settled.add(pending.head.id, pending);
      backlog.migrating++;
    }
    for (const { tenantId, open, hasPriorities } of this.#backlogs) {
      if (open.size > 0) admission.awaitRestored(tenantId, hasPriorities);
    }
  }

  #addOpen(pending: PendingRun): void {
    const { head } = pending;
    const backlog = this.#backlogOf(head);
    backlog.open.add(head.id, pending);
    if (head.priority !== 0) backlog.hasPriorities = true;
  }

  get waiting(): number {
    return this.#pending.size;
  }

  isWaiting(runId: string): boolean {
    return this.#pending.has(runId);
  }

  /**
   * Waits until a run is restored, and restores it as the next one of its tenant. Does nothing for a run that is not in the
   * store. Rejects with `not_ready` when the run waits for memory, and with `shutting_down`.
   *
   * @param tenants whose runs may be waited for; null for all
   */
  async whenRestored(runId: string, tenants: readonly string[] | null): Promise<void> {
    const pending = this.#pending.get(runId);
    if (pending === undefined || tenants?.includes(pending.head.tenantId) === false) return;
    const backlog = this.#backlogOf(pending.head);
    this.#assertOpen();
    if (backlog.isBlocked) throw waitsForMemory(runId);
    if (!pending.isStarted) backlog.asked.add(runId, pending);
    await pending.attempted;
    this.#assertOpen();
    if (this.#pending.has(runId)) throw waitsForMemory(runId);
  }

  /** The settled runs of some tenants that no list has yet. @param tenants undefined for all */
  countMigrating(tenants: readonly string[] | undefined): number {
    let runs = 0;
    for (const { tenantId, migrating } of this.#backlogs) {
      if (tenants === undefined || tenants.includes(tenantId)) runs += migrating;
    }
    return runs;
  }

  /**
   * Waits until the runs of some tenants that have not settled are restored, or wait for memory. A store with an archive may
   * have settled ones of an earlier version, which take long: lists say how many are missing. Rejects with `shutting_down`.
   *
   * @param tenants null for all
   */
  async whenListable(tenants: readonly string[] | null): Promise<void> {
    if (this.#options.store.archive === undefined) return this.whenComplete(tenants);
    return this.#wait(tenants, ({ open, openComplete }) => (open.size === 0 ? undefined : openComplete));
  }

  /** Waits until all runs of some tenants are restored, or wait for memory. Rejects with `shutting_down`. @param tenants null for all */
  async whenComplete(tenants: readonly string[] | null): Promise<void> {
    return this.#wait(tenants, ({ complete }) => complete);
  }

  async #wait(
    tenants: readonly string[] | null,
    waitFor: (backlog: Backlog) => Promise<void> | undefined,
  ): Promise<void> {
    const waits = [...this.#backlogs].flatMap((backlog) => {
      const isAsked = tenants === null || tenants.includes(backlog.tenantId);
      return backlog.isBlocked || !isAsked ? [] : (waitFor(backlog) ?? []);
    });
    if (waits.length === 0) return;
    this.#assertOpen();
    await Promise.all(waits);
    this.#assertOpen();
  }

  /** Restores the runs, tenants in turn. Resolves when all of them are there or wait for memory; with false when the registry closes. */
  run(): Promise<boolean> {
    const running = this.#run();
    this.#running = running;
    const settle = (): void => void (this.#running = undefined);
    running.then(settle, settle);
    return running;
  }

  async #run(): Promise<boolean> {
    const { isClosing } = this.#options;
    for (let backlog = this.#next(); backlog !== undefined; backlog = this.#next()) {
      if (isClosing()) return false;
      await this.#restoreNextOf(backlog);
    }
    await Promise.all(this.#rebuilds);
    if (isClosing()) return false;
    if (this.#pending.size === 0) this.#options.missingFiles.forget();
    else this.#waitForMemory();
    return true;
  }

  /** Ends the wait for memory and that of requests. Returns what to wait for until nothing is read from the store any more. */
  close(): Promise<unknown> | undefined {
    this.#clearRetry?.();
    for (const pending of this.#pending.values()) pending.onAttempted();
    for (const backlog of this.#backlogs) backlog.onComplete();
    return this.#running?.catch(() => undefined);
  }

  #assertOpen(): void {
    if (!this.#options.isClosing()) return;
    throw new WavetrainError('shutting_down', 'the server is shutting down', { fault: 'service' });
  }

  #backlogOf({ tenantId }: StoredRunHead): Backlog {
    let backlog = this.#backlogs.get(tenantId);
    if (backlog === undefined) this.#backlogs.add(tenantId, (backlog = new Backlog(tenantId)));
    return backlog;
  }

  /** Returns the tenant whose turn it is; tenants with runs that have not settled come before the others. */
  #next(): Backlog | undefined {
    let found: Backlog | undefined;
    for (const backlog of this.#backlogs) {
      if (backlog.isBlocked || backlog.next === undefined) continue;
      found ??= backlog;
      if (backlog.open.size + backlog.asked.size === 0) continue;
      found = backlog;
      break;
    }
    if (found !== undefined && this.#backlogs.delete(found.tenantId))
      this.#backlogs.add(found.tenantId, found);
    return found;
  }

  async #restoreNextOf(backlog: Backlog): Promise<void> {
    const { isClosing, admission } = this.#options;
    const { next } = backlog;
    if (next === undefined) return;
    next.isStarted = true;
    try {
      await this.#restore(next, backlog);
    } catch (error) {
      if (isClosing()) return;
      next.isStarted = false;
      if (errorCode(error) === 'queue_full') return this.#block(backlog, next);
      this.#drop(next);
      warnHost(`run ${next.head.id} cannot be rebuilt: ${errorMessage(error)}`);
    }
    if (isClosing()) return;
    const hadOpen = backlog.open.size > 0;
    backlog.delete(next.head.id);
    if (hadOpen && backlog.open.size === 0) {
      admission.releaseHeld(backlog.tenantId);
      backlog.onOpenComplete();
    }
    if (backlog.size === 0) this.#complete(backlog);
  }

  async #restore(pending: PendingRun, backlog: Backlog): Promise<void> {
    const { reader, store, missingFiles, admission, enter, observers, isClosing } = this.#options;
    // Before anything is read of a run for which there was too little memory.
    if (pending.neededBytes > 0) this.#reserve(pending, pending.neededBytes)();
    const reserve = (bytes: number): (() => void) => this.#reserve(pending, bytes);
    const restored = await reader.restore(pending.head, { missingFiles, reserve });
    if (restored === undefined) {
      this.#drop(pending);
      return store.remove(pending.head.id);
    }
    if (isClosing()) return restored.release();
    const entry = enter(restored);
    if (restored.run.wasSettled) return this.#startRebuild(entry, pending, backlog, restored.release);
    this.goingOn++;
    this.kept++;
    entry.announce(undefined, observers);
    admission.admit(entry, true);
    // The facts of the run are in memory until they are replayed.
    void Promise.resolve(restored.run.rebuilding).then(restored.release);
    this.#end(pending);
  }

  async #startRebuild(
    entry: LiveRunEntry,
    pending: PendingRun,
    backlog: Backlog,
    release: () => void,
  ): Promise<void> {
    const rebuilt = this.#rebuild(entry, backlog).finally(() => {
      release();
      this.#rebuilds.delete(rebuilt);
      backlog.rebuilds.delete(rebuilt);
      this.#end(pending);
    });
    this.#rebuilds.add(rebuilt);
    backlog.rebuilds.add(rebuilt);
    if (this.#rebuilds.size === MAX_REBUILDS) await Promise.race(this.#rebuilds);
  }

  async #rebuild(entry: LiveRunEntry, backlog: Backlog): Promise<void> {
    await entry.run.rebuild();
    if (!entry.run.isSettled) return this.#skip(entry);
    this.kept++;
    const { archive } = this.#options.store;
    if (archive === undefined) backlog.restoredSettled.push(entry);
    else await this.#moveToArchive(entry, archive);
  }

  /** Keeps the end of a run that an earlier version of the tables, or a crash, has left without one. */
  async #moveToArchive(entry: LiveRunEntry, archive: RunArchive): Promise<void> {
    const { store, runs, retention } = this.#options;
    const { id, tenantId } = entry.run;
    archive.end(toRunEnd(entry.run));
    await store.log(id, tenantId).committed();
    // Somebody may have deleted the run meanwhile.
    if (runs.get(id) !== entry) return;
    runs.moveToCache(entry);
    retention.add(entry);
  }

  /** A warning has named the run, which has come to another state than it had. It stays in the store. */
  #skip(entry: LiveRunEntry): void {
    const { id, status } = entry.run;
    this.#options.runs.delete(entry);
    this.#options.keys.forgetRun(id, status);
    entry.drop();
  }

  /** The run was not accepted, or cannot be rebuilt. */
  #drop(pending: PendingRun): void {
    this.#options.runs.release(pending.head.id);
    this.#options.keys.releaseKey(pending.head.id);
    this.#end(pending);
  }

  #end(pending: PendingRun): void {
    if (this.#pending.delete(pending.head.id) && pending.head.hasSettled)
      this.#backlogOf(pending.head).migrating--;
    pending.onAttempted();
  }

  /** Call for a tenant whose runs are all restored, or wait for memory. */
  #complete(backlog: Backlog): void {
    const { runs, retention } = this.#options;
    void Promise.all(backlog.rebuilds).then(() => {
      const settled = backlog.restoredSettled.splice(0);
      // Some may have been deleted meanwhile.
      retention.restore(settled.filter((entry) => runs.get(entry.run.id) === entry));
      if (backlog.size === 0) this.#backlogs.delete(backlog.tenantId);
      backlog.onComplete();
    });
  }

  /** The runs of the tenant wait for memory, and its new runs do not wait for them. */
  #block(backlog: Backlog, tried: PendingRun): void {
    backlog.isBlocked = true;
    tried.onAttempted();
    for (let { first } = backlog.asked; first !== undefined; { first } = backlog.asked) {
      backlog.asked.delete(first.head.id);
      first.onAttempted();
    }
    this.#options.admission.releaseHeld(backlog.tenantId);
    this.#complete(backlog);
  }

  /** Warns of the runs that wait, and tries again when there may be memory for one of them. */
  #waitForMemory(): void {
    const { clock, store, isClosing } = this.#options;
    if (this.waiting !== this.#warnedOf) {
      const waiting = this.waiting === 1 ? '1 run waits' : `${this.waiting} runs wait`;
      const advice = 'wait until other runs have ended, or raise SERVICE_MEMORY';
      warnHost(`${waiting} in ${store.place} until there is memory: ${advice}`);
    }
    this.#warnedOf = this.waiting;
    const timer = clock.setTimeout(() => {
      if (isClosing()) return;
      for (const backlog of this.#backlogs) backlog.isBlocked = false;
      void this.run();
    }, RETRY_MS);
    this.#clearRetry = () => clock.clearTimeout(timer);
  }

  /**
   * Takes memory for a run, and returns a function that gives it back. A run that goes on may evict settled ones, as a new one
   * does; a settled one takes free memory only.
   *
   * @throws WavetrainError `queue_full` when there is too little, `memory_full` when there never can be enough
   */
  #reserve(pending: PendingRun, bytes: number): () => void {
    const { memory } = this.#options;
    if (memory === undefined) return () => {};
    const { tenantId, hasSettled } = pending.head;
    if (bytes > memory.totalBytes) {
      const message = `it takes ${formatMebibytes(bytes)}, more than all of SERVICE_MEMORY`;
      throw new WavetrainError('memory_full', message, { fault: 'service' });
    }
    pending.neededBytes = Math.max(pending.neededBytes, bytes);
    const isReserved = hasSettled
      ? memory.tryReserveFree(tenantId, bytes)
      : memory.tryReserve(tenantId, bytes);
    if (isReserved) return () => memory.release(tenantId, bytes);
    throw new WavetrainError('queue_full', 'there is too little memory', { fault: 'service' });
  }
}

function waitsForMemory(runId: string): WavetrainError {
  const message = `run ${runId} is kept, and waits until there is memory for it: try again when other runs have ended`;
  return new WavetrainError('not_ready', message, { fault: 'service' });
}
