import type { Clock } from '../../common/clock.js';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import { estimateBytesInSteps } from '../../common/json.js';
import { LinkedMap } from '../../common/queues/linked-map.js';
import type { MemoryPool } from '../../common/queues/memory-pool.js';
import { warnHost } from '../../common/warnings.js';
import type { RunSteps } from '../../common/steps.js';
import type { Fact } from '../../execution/history/fact.js';
import type { StandIns } from '../rerun/stand-ins.js';
import type { RestoreContext, RestoredRun, ReviveDefinitions, RunFactory } from '../run-factory.js';
import type { RunEntry } from '../run-entry.js';
import type { RunStore, StoredRunHead } from './run-store.js';

/** So many settled runs are rebuilt at once: one whose facts nobody waits for holds up no other. */
const MAX_REBUILDS = 16;

/** How long runs wait that did not fit into the memory. */
const RETRY_MS = 1000;

/** The registry into which runs are restored. */
export interface RestoringRegistry {
  isClosing(): boolean;
  enter(run: RestoredRun): RunEntry;
  goOn(entry: RunEntry): void;
  /** Receives a settled run that has come to another state than it had; a warning has named it. */
  leaveOut(entry: RunEntry): void;
  /** Called for a run that was not accepted, or cannot be rebuilt. */
  giveUp(runId: string): void;
  /** Called when the runs of a tenant are restored that had not settled. */
  tenantIsAtWork(tenantId: string): void;
  /** Called when all runs of a tenant are restored, or wait for memory, with those that have settled. */
  tenantIsComplete(settled: readonly RunEntry[]): void;
}

interface RestorationOptions {
  readonly store: RunStore;
  readonly revive: ReviveDefinitions;
  readonly factory: RunFactory;
  readonly registry: RestoringRegistry;
  readonly missingFiles: StandIns;
  readonly runSteps: RunSteps;
  readonly clock: Clock;
  readonly memory: MemoryPool | undefined;
}

/** A run that is not restored yet. */
interface PendingRun {
  readonly head: StoredRunHead;
  /** Resolves when it is there, or waits for memory, or will not come. */
  readonly restored: Promise<void>;
  readonly resolve: () => void;
  isStarted: boolean;
}

/** The runs of one tenant that are not restored yet. */
class Backlog {
  readonly tenantId: string;
  /** Somebody asks for them. */
  readonly asked = new LinkedMap<string, PendingRun>();
  /** Those that have not settled, in the order in which they were accepted. */
  readonly open = new LinkedMap<string, PendingRun>();
  /** The newest first: it is the last to be evicted. */
  readonly settled = new LinkedMap<string, PendingRun>();
  readonly restoredSettled: RunEntry[] = [];
  /** Settled runs that are being rebuilt. */
  readonly rebuilds = new Set<Promise<void>>();
  /** The next one waits for memory, and so do those behind it. */
  isBlocked = false;
  isAtWork = false;
  readonly complete: Promise<void>;
  #resolve = (): void => {};

  constructor(tenantId: string) {
    this.tenantId = tenantId;
    this.complete = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get size(): number {
    return this.open.size + this.settled.size;
  }

  get next(): PendingRun | undefined {
    return this.asked.first ?? this.open.first ?? this.settled.first;
  }

  delete(runId: string): void {
    for (const runs of [this.asked, this.open, this.settled]) runs.delete(runId);
  }

  onComplete(): void {
    this.#resolve();
  }
}

/**
 * Takes over the runs of a store, beside new requests (D68): a tenant with many of them, or with definitions that take long
 * to check, delays only itself. What does not fit into the memory waits in the store.
 */
export class Restoration {
  goingOn = 0;
  kept = 0;
  readonly #options: RestorationOptions;
  readonly #context: RestoreContext;
  readonly #backlogs = new LinkedMap<string, Backlog>();
  readonly #pending = new Map<string, PendingRun>();
  /** Of all tenants. */
  readonly #rebuilds = new Set<Promise<void>>();
  readonly #completing = new Set<Promise<void>>();
  #clearRetry: (() => void) | undefined;

  constructor(options: RestorationOptions) {
    this.#options = options;
    const { store, revive, missingFiles } = options;
    const reserve: RestoreContext['reserve'] = (facts, tenantId) => this.#reserve(facts, tenantId);
    this.#context = { store, revive, missingFiles, reserve };
  }

  /** Lists the runs. From then on, `whenRestored` and `whenComplete` know them. Rejects when the store cannot be read. */
  async list(onHead: (head: StoredRunHead) => void): Promise<void> {
    const settled: PendingRun[] = [];
    for await (const head of this.#options.store.heads()) {
      onHead(head);
      this.#options.missingFiles.keep(head.id);
      const pending = createPending(head);
      this.#pending.set(head.id, pending);
      if (head.hasSettled) settled.push(pending);
      else this.#backlogOf(head).open.add(head.id, pending);
    }
    for (const pending of settled.toReversed())
      this.#backlogOf(pending.head).settled.add(pending.head.id, pending);
  }

  /** The tenants with runs that have not settled. */
  get tenantsAtWork(): readonly string[] {
    return [...this.#backlogs].flatMap(({ tenantId, open }) => (open.size > 0 ? [tenantId] : []));
  }

  /** The number of runs that wait until there is memory for them. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * Resolves when a run is restored; undefined for one that is not pending. Its tenant gets it next.
   *
   * @param tenants whose runs may be waited for; null for all
   * @throws WavetrainError `not_ready` when it waits for memory
   */
  whenRestored(runId: string, tenants: readonly string[] | null): Promise<void> | undefined {
    const pending = this.#pending.get(runId);
    if (pending === undefined || tenants?.includes(pending.head.tenantId) === false) return undefined;
    const backlog = this.#backlogs.get(pending.head.tenantId);
    if (backlog?.isBlocked === true) throw waitsForMemory(runId);
    if (!pending.isStarted) backlog?.asked.add(runId, pending);
    return pending.restored.then(() => {
      if (this.#pending.has(runId)) throw waitsForMemory(runId);
    });
  }

  /** Resolves when all runs of some tenants are restored or wait for memory; undefined when they are. @param tenants null for all */
  whenComplete(tenants: readonly string[] | null): Promise<void> | undefined {
    const incomplete = [...this.#backlogs].filter(
      ({ tenantId, isBlocked }) => !isBlocked && (tenants === null || tenants.includes(tenantId)),
    );
    if (incomplete.length === 0) return undefined;
    return Promise.all(incomplete.map(({ complete }) => complete)).then(() => undefined);
  }

  /** Restores the runs, tenants in turn. Resolves when all of them are there or wait for memory; false when the registry is closed. */
  async run(): Promise<boolean> {
    for (let backlog = this.#next(); backlog !== undefined; backlog = this.#next()) {
      if (this.#options.registry.isClosing()) return false;
      await this.#restoreNextOf(backlog);
    }
    for (const backlog of this.#backlogs) this.#complete(backlog);
    await Promise.all(this.#completing);
    if (this.#options.registry.isClosing()) return false;
    this.#retryLater();
    return true;
  }

  /** Ends the wait for memory, and that of requests. */
  close(): void {
    this.#clearRetry?.();
    for (const { resolve } of this.#pending.values()) resolve();
    for (const backlog of this.#backlogs) backlog.onComplete();
  }

  #backlogOf({ tenantId }: StoredRunHead): Backlog {
    let backlog = this.#backlogs.get(tenantId);
    if (backlog === undefined) this.#backlogs.add(tenantId, (backlog = new Backlog(tenantId)));
    return backlog;
  }

  /** The tenants take turns; those that have not begun their work come first. */
  #next(): Backlog | undefined {
    let found: Backlog | undefined;
    for (const backlog of this.#backlogs) {
      if (backlog.isBlocked || backlog.next === undefined) continue;
      found ??= backlog;
      if (backlog.open.size + backlog.asked.size > 0) {
        found = backlog;
        break;
      }
    }
    if (found !== undefined && this.#backlogs.size > 1) {
      this.#backlogs.delete(found.tenantId);
      this.#backlogs.add(found.tenantId, found);
    }
    return found;
  }

  async #restoreNextOf(backlog: Backlog): Promise<void> {
    const { next } = backlog;
    if (next === undefined) return;
    next.isStarted = true;
    try {
      await this.#restore(next, backlog);
    } catch (error) {
      next.isStarted = false;
      if (errorCode(error) === 'queue_full') return this.#block(backlog);
      this.#giveUp(next);
      warnHost(`run ${next.head.id} cannot be rebuilt: ${errorMessage(error)}`);
    }
    backlog.delete(next.head.id);
    if (!backlog.isAtWork && backlog.open.size === 0) {
      backlog.isAtWork = true;
      this.#options.registry.tenantIsAtWork(backlog.tenantId);
    }
    if (backlog.size === 0) this.#complete(backlog);
  }

  async #restore(pending: PendingRun, backlog: Backlog): Promise<void> {
    const { factory, store, registry } = this.#options;
    const { head } = pending;
    const restored = await factory.restore(head, this.#context);
    if (registry.isClosing()) return;
    if (restored === undefined) {
      this.#giveUp(pending);
      store.remove(head.id);
      return;
    }
    const entry = registry.enter(restored);
    if (restored.run.wasSettled) return this.#startRebuild(entry, pending, backlog);
    this.goingOn++;
    this.kept++;
    registry.goOn(entry);
    this.#end(pending);
  }

  async #startRebuild(entry: RunEntry, pending: PendingRun, backlog: Backlog): Promise<void> {
    const rebuilt = this.#rebuild(entry, backlog).finally(() => {
      this.#rebuilds.delete(rebuilt);
      backlog.rebuilds.delete(rebuilt);
      this.#end(pending);
    });
    this.#rebuilds.add(rebuilt);
    backlog.rebuilds.add(rebuilt);
    if (this.#rebuilds.size === MAX_REBUILDS) await Promise.race(this.#rebuilds);
  }

  async #rebuild(entry: RunEntry, backlog: Backlog): Promise<void> {
    await entry.run.rebuild();
    if (!entry.run.isSettled) return this.#options.registry.leaveOut(entry);
    this.kept++;
    backlog.restoredSettled.push(entry);
  }

  #giveUp(pending: PendingRun): void {
    this.#options.registry.giveUp(pending.head.id);
    this.#end(pending);
  }

  #end({ head, resolve }: PendingRun): void {
    this.#pending.delete(head.id);
    resolve();
  }

  /** Call for a tenant whose runs are all restored, or wait for memory. */
  #complete(backlog: Backlog): void {
    const completing = this.#completeRebuilds(backlog).finally(() => this.#completing.delete(completing));
    this.#completing.add(completing);
  }

  async #completeRebuilds(backlog: Backlog): Promise<void> {
    await Promise.all(backlog.rebuilds);
    this.#options.registry.tenantIsComplete(backlog.restoredSettled.splice(0));
    if (backlog.size === 0) this.#backlogs.delete(backlog.tenantId);
    backlog.onComplete();
  }

  #block(backlog: Backlog): void {
    backlog.isBlocked = true;
    for (let { first } = backlog.asked; first !== undefined; { first } = backlog.asked) {
      backlog.asked.delete(first.head.id);
      first.resolve();
    }
    const waiting = backlog.size === 1 ? '1 run waits' : `${backlog.size} runs wait`;
    warnHost(
      `${waiting} in ${this.#options.store.place} until there is memory for more: wait for other runs, or raise SERVICE_MEMORY`,
    );
  }

  /** Tries again when the memory that others have given back may be enough. */
  #retryLater(): void {
    this.#clearRetry = undefined;
    if (this.#backlogs.size === 0) return;
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => {
      for (const backlog of this.#backlogs) backlog.isBlocked = false;
      void this.run();
    }, RETRY_MS);
    this.#clearRetry = () => clock.clearTimeout(timer);
  }

  async #reserve(facts: readonly Fact[], tenantId: string): Promise<() => void> {
    const { memory, runSteps } = this.#options;
    if (memory === undefined) return () => {};
    const bytes = await runSteps(estimateBytesInSteps(facts), tenantId);
    if (!memory.tryReserveFree(tenantId, bytes)) {
      throw new WavetrainError('queue_full', 'there is no memory for the facts of the run', {
        fault: 'service',
      });
    }
    return () => memory.release(tenantId, bytes);
  }
}

function createPending(head: StoredRunHead): PendingRun {
  let resolve = (): void => {};
  const restored = new Promise<void>((done) => {
    resolve = done;
  });
  return { head, restored, resolve, isStarted: false };
}

function waitsForMemory(runId: string): WavetrainError {
  const message = `run ${runId} is kept, and waits until there is memory for it: try again when other runs have ended`;
  return new WavetrainError('not_ready', message, { fault: 'service' });
}
