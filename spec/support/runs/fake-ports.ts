import type { Abortable, EventLoopBudget, Expansion, RunPorts, Slot } from '../../../machines/ports.js';
import { SKIPPED, type TaskResult } from '../../../machines/types.js';

/** An invocation that the spec settles, suspends and resumes. */
export interface PendingInvocation {
  readonly taskId: string;
  readonly item: number | undefined;
  readonly slot: Slot;
  aborted: boolean;
}

/** Ports that record every call and leave the invocations to the spec. */
export class FakeRunPorts implements RunPorts {
  readonly log: string[] = [];
  readonly pending: PendingInvocation[] = [];
  readonly expansions = new Map<string, Expansion | 'skip' | { readonly error: string }>();
  /** Publishes immediately, unless the spec replaces it. */
  publication: (taskId: string, result: TaskResult, onPublished: (result: TaskResult) => void) => void = (
    _,
    result,
    onPublished,
  ) => onPublished(result);
  isExhausted = false;
  readonly deferred: (() => void)[] = [];

  readonly eventLoopBudget: EventLoopBudget = {
    exhausted: () => this.isExhausted,
    defer: (next) => {
      this.deferred.push(next);
    },
  };

  expand(taskId: string): { ok: true; value: Expansion } | TaskResult {
    this.log.push(`expand ${taskId}`);
    const expansion = this.expansions.get(taskId);
    if (expansion === 'skip') return SKIPPED;
    if (expansion !== undefined && 'error' in expansion) return { ok: false, error: expansion.error };
    return { ok: true, value: expansion ?? { items: undefined, concurrency: Number.POSITIVE_INFINITY } };
  }

  invoke(taskId: string, item: number | undefined, slot: Slot): Abortable {
    this.log.push(`invoke ${formatName(taskId, item)}`);
    const invocation: PendingInvocation = { taskId, item, slot, aborted: false };
    this.pending.push(invocation);
    const abort = (): void => {
      this.log.push(`abort ${formatName(taskId, item)}`);
      invocation.aborted = true;
      this.settle(taskId, item, { ok: false, error: 'aborted' });
    };
    return { abort };
  }

  publish(taskId: string, result: TaskResult, onPublished: (result: TaskResult) => void): Abortable {
    this.log.push(`publish ${taskId}${result.ok ? '' : ` (${result.error})`}`);
    this.publication(taskId, result, onPublished);
    const abort = (): void => {
      this.log.push(`cancel publication of ${taskId}`);
      onPublished({ ok: false, error: 'publication cancelled' });
    };
    return { abort };
  }

  succeed(taskId: string, item?: number): void {
    this.settle(taskId, item, { ok: true });
  }

  fail(taskId: string, item?: number, error = 'no luck'): void {
    this.settle(taskId, item, { ok: false, error });
  }

  settle(taskId: string, item: number | undefined, result: TaskResult): void {
    const index = this.pending.findIndex((one) => one.taskId === taskId && one.item === item);
    const [invocation] = this.pending.splice(index, 1);
    if (index < 0 || invocation === undefined)
      throw new Error(`${formatName(taskId, item)} is not in flight`);
    invocation.slot.settle(result);
  }

  find(taskId: string, item?: number): PendingInvocation {
    const found = this.pending.find((one) => one.taskId === taskId && one.item === item);
    if (found === undefined) throw new Error(`${formatName(taskId, item)} is not in flight`);
    return found;
  }

  /** Names of the invocations in flight. */
  get inFlight(): string[] {
    return this.pending.map(({ taskId, item }) => formatName(taskId, item));
  }
}

function formatName(taskId: string, item: number | undefined): string {
  return item === undefined ? taskId : `${taskId}[${item}]`;
}
