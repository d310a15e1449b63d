import { expect } from 'chai';
import fc from 'fast-check';
import { FairQueue } from '../../../lib/common/scheduling/fair-queue.js';
import { cases } from '../../support/measuring/cases.js';

const TENANT = fc.constantFrom('a', 'b', 'c', 'd');

const PRIORITY = fc.constantFrom(0, 0, 0, 1, -1, 100);

type Act =
  | { readonly kind: 'add'; readonly tenant: string; readonly priority: number }
  | { readonly kind: 'next' }
  | { readonly kind: 'next of'; readonly tenant: string }
  | { readonly kind: 'next but of'; readonly tenant: string }
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'clear' };

const ACT: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('add' as const), tenant: TENANT, priority: PRIORITY }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'next' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('next of' as const), tenant: TENANT }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('next but of' as const), tenant: TENANT }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
);

interface Waiting {
  readonly value: number;
  readonly priority: number;
}

/** The model: one list per tenant, in the order of the priorities, served round-robin. */
class ModelQueue {
  queues: { readonly tenant: string; readonly waiting: Waiting[] }[] = [];

  add(tenant: string, value: number, priority: number): void {
    const queue = this.queues.find((one) => one.tenant === tenant);
    const added = { value, priority };
    if (queue === undefined) this.queues.push({ tenant, waiting: [added] });
    else
      queue.waiting.splice(0, Infinity, ...[...queue.waiting, added].sort((a, b) => b.priority - a.priority));
  }

  next(accepts: (tenant: string) => boolean = () => true): number | undefined {
    const queue = this.queues.find(({ tenant }) => accepts(tenant));
    this.queues = this.queues.filter((one) => one !== queue);
    const value = queue?.waiting.shift()?.value;
    if (queue !== undefined && queue.waiting.length > 0) this.queues.push(queue);
    return value;
  }

  delete(tenant: string, value: number): boolean {
    const queue = this.queues.find((one) => one.tenant === tenant);
    const at = queue?.waiting.findIndex((each) => each.value === value) ?? -1;
    if (at < 0) return false;
    queue?.waiting.splice(at, 1);
    this.queues = this.queues.filter(({ waiting }) => waiting.length > 0);
    return true;
  }

  get values(): number[] {
    return this.queues.flatMap(({ waiting }) => waiting.map(({ value }) => value));
  }
}

describe('FairQueue (D25)', () => {
  it('behaves like one list per tenant, in the order of the priorities, served round-robin', () => {
    fc.assert(
      fc.property(fc.array(ACT, { maxLength: 80 }), (acts) => {
        const queue = new FairQueue<number>();
        const model = new ModelQueue();
        const tenants: string[] = [];
        for (const act of acts) {
          if (act.kind === 'add') {
            queue.add(act.tenant, tenants.length, act.priority);
            model.add(act.tenant, tenants.length, act.priority);
            tenants.push(act.tenant);
          } else if (act.kind === 'next') {
            expect(queue.next()).to.equal(model.next());
          } else if (act.kind === 'next of') {
            expect(queue.nextOf(act.tenant)).to.equal(model.next((tenant) => tenant === act.tenant));
          } else if (act.kind === 'next but of') {
            const isOther = (tenant: string): boolean => tenant !== act.tenant;
            expect(queue.next(isOther)).to.equal(model.next(isOther));
          } else if (act.kind === 'delete') {
            const tenant = tenants[act.at] ?? 'nobody';
            expect(queue.delete(tenant, act.at)).to.equal(model.delete(tenant, act.at));
          } else {
            expect(queue.clear().toSorted(byNumber)).to.deep.equal(model.values.toSorted(byNumber));
            model.queues = [];
          }
          expect(queue.size).to.equal(model.values.length);
        }
        while (queue.size > 0) expect(queue.next()).to.equal(model.next());
        expect(model.values).to.deep.equal([]);
      }),
      cases(500),
    );
  });

  it('serves each of k tenants once in every k calls, in the order of its values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }), (counts) => {
        const queue = new FairQueue<string>();
        for (const [tenant, count] of counts.entries()) {
          for (let number = 0; number < count; number++) queue.add(`t${tenant}`, `t${tenant} ${number}`);
        }
        const served = counts.map(() => 0);
        while (queue.size > 0) {
          const waiting = counts.flatMap((count, tenant) => ((served[tenant] ?? 0) < count ? [tenant] : []));
          const round = waiting.map(() => queue.next());
          expect(round).to.have.members(waiting.map((tenant) => `t${tenant} ${served[tenant]}`));
          for (const tenant of waiting) served[tenant] = (served[tenant] ?? 0) + 1;
        }
        expect(served).to.deep.equal(counts);
      }),
    );
  });

  it('makes a tenant that comes late wait for one value of each other tenant only', () => {
    const queue = new FairQueue<string>();
    for (let number = 0; number < 1000; number++) queue.add('many', `many ${number}`);
    expect(queue.next()).to.equal('many 0');
    queue.add('one', 'one');
    expect([queue.next(), queue.next(), queue.next()]).to.deep.equal(['many 1', 'one', 'many 2']);
  });

  it('stores each value once, and returns undefined when empty', () => {
    const queue = new FairQueue<string>();
    expect(queue.next()).to.equal(undefined);
    queue.add('a', 'x');
    queue.add('a', 'x');
    expect(queue.size).to.equal(1);
    expect([queue.next(), queue.next(), queue.size]).to.deep.equal(['x', undefined, 0]);
    expect(queue.delete('a', 'x')).to.equal(false);
  });

  it('takes constant time per operation with 200,000 values', () => {
    const queue = new FairQueue<number>();
    for (let number = 0; number < 100_000; number++) queue.add('many', number);
    for (let number = 0; number < 100_000; number++) queue.add(`t${number}`, number);
    let removed = 0;
    while (queue.next() !== undefined) removed++;
    expect(removed).to.equal(200_000);
  });
});

function byNumber(a: number, b: number): number {
  return a - b;
}
