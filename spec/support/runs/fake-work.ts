import type { Abort, Expansion, Pace, Place, Settlement, Work } from '../../../machines/types.js';

/** One invocation that a spec settles, lets wait and resumes by hand. */
export interface HeldInvocation {
  readonly taskId: string;
  readonly item: number | undefined;
  readonly place: Place;
  aborted: boolean;
}

/** The outside of the machines, held by the hand. */
export class FakeWork implements Work {
  readonly log: string[] = [];
  readonly held: HeldInvocation[] = [];
  readonly expansions = new Map<string, Expansion | { readonly error: string }>();
  /** Published in the same turn, unless a spec takes that into its own hand. */
  publication: (taskId: string, settlement: Settlement, published: (settlement: Settlement) => void) => void =
    (_, settlement, published) => published(settlement);
  isOverdue = false;
  readonly postponed: (() => void)[] = [];

  readonly pace: Pace = {
    overdue: () => this.isOverdue,
    later: (next) => {
      this.postponed.push(next);
    },
  };

  expand(taskId: string): { ok: true; value: Expansion } | { ok: false; error: string } {
    this.log.push(`expand ${taskId}`);
    const expansion = this.expansions.get(taskId);
    if (expansion !== undefined && 'error' in expansion) return { ok: false, error: expansion.error };
    return { ok: true, value: expansion ?? { items: undefined, concurrency: Number.POSITIVE_INFINITY } };
  }

  invoke(taskId: string, item: number | undefined, place: Place): Abort {
    this.log.push(`invoke ${name(taskId, item)}`);
    const invocation: HeldInvocation = { taskId, item, place, aborted: false };
    this.held.push(invocation);
    return () => {
      this.log.push(`abort ${name(taskId, item)}`);
      invocation.aborted = true;
      this.settle(taskId, item, { ok: false, error: 'aborted' });
    };
  }

  publish(taskId: string, settlement: Settlement, published: (settlement: Settlement) => void): Abort {
    this.log.push(`publish ${taskId}${settlement.ok ? '' : ` (${settlement.error})`}`);
    this.publication(taskId, settlement, published);
    return () => {
      this.log.push(`give up ${taskId}`);
      published({ ok: false, error: 'given up' });
    };
  }

  succeed(taskId: string, item?: number): void {
    this.settle(taskId, item, { ok: true });
  }

  fail(taskId: string, item?: number, error = 'no luck'): void {
    this.settle(taskId, item, { ok: false, error });
  }

  settle(taskId: string, item: number | undefined, settlement: Settlement): void {
    const at = this.held.findIndex((one) => one.taskId === taskId && one.item === item);
    const [invocation] = this.held.splice(at, 1);
    if (at < 0 || invocation === undefined) throw new Error(`${name(taskId, item)} is not in flight`);
    invocation.place.settle(settlement);
  }

  find(taskId: string, item?: number): HeldInvocation {
    const found = this.held.find((one) => one.taskId === taskId && one.item === item);
    if (found === undefined) throw new Error(`${name(taskId, item)} is not in flight`);
    return found;
  }

  /** What is in flight, as words. */
  get inFlight(): string[] {
    return this.held.map(({ taskId, item }) => name(taskId, item));
  }
}

function name(taskId: string, item: number | undefined): string {
  return item === undefined ? taskId : `${taskId}[${item}]`;
}
