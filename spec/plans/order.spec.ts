import { expect } from 'chai';
import fc from 'fast-check';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import { orderOf } from '../../lib/plans/order.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import type { Upstream } from '../../lib/pipelines/waves.js';
import { checkingPlan, keeping, onlyProblem, planOf } from '../support/definitions/checking-plans.js';

/** A plan in which `b: a` says that b reads what a stores. Each stores the key of its own name. */
function waiting(needs: Record<string, string[]>): string {
  const lines = Object.entries(needs).map(([id, reads]) => keeping(id, { reads, stores: [id] }));
  return planOf(lines.join('\n'));
}

function orderOfPlan(needs: Record<string, string[]>): readonly string[] {
  const check = checkingPlan(waiting(needs));
  if (!check.ok) throw new Error(JSON.stringify(check.problems));
  return check.statistics.order;
}

describe('the order of sub-pipelines (Plan, rule 1; D45)', () => {
  it('puts a reader after the one that stores the key, and else keeps the declared order', () => {
    expect(orderOfPlan({ c: [], a: [], b: [] })).to.deep.equal(['c', 'a', 'b']);
    expect(orderOfPlan({ c: ['b'], a: [], b: [] })).to.deep.equal(['a', 'b', 'c']);
  });

  it('takes the first declared whose needs are met, not wave after wave', () => {
    expect(orderOfPlan({ b: ['a'], d: ['b'], a: [], c: [] })).to.deep.equal(['a', 'b', 'd', 'c']);
  });

  it('is that of the keys even when a key is given as session too', () => {
    const check = checkingPlan(waiting({ b: ['a'], a: [] }), { session: { a: 1 } });
    expect(check.ok && check.statistics.order).to.deep.equal(['a', 'b']);
  });

  it('keeps to the needs, and is the first of all orders that do, by declared position', () => {
    const edges = fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 12 });
    const shuffled = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 7 });
    fc.assert(
      fc.property(edges, shuffled, (pairs, rank) => {
        const needs = new Map(rank.map((_, index) => [`s${index}`, new Set<string>()]));
        for (const [a, b] of pairs) {
          if ((rank[a] ?? 0) < (rank[b] ?? 0)) needs.get(`s${b}`)?.add(`s${a}`);
        }
        expect(orderOf(needs)).to.deep.equal(firstOfAllOrders(needs));
      }),
    );
  });

  it('reports a cycle as its path, with the keys that close it (D8)', () => {
    expect(onlyProblem(checkingPlan(waiting({ ok: [], a: ['b'], b: ['ok', 'a'] })))).to.deep.include({
      code: 'cycle',
      severity: 'error',
      message: 'sub-pipelines wait for each other: a -> b -> a (a reads "b" of b, b reads "a" of a)',
      path: '/plan/sub_pipelines/1',
      line: 5,
    });
  });

  it('reports a cycle of one of two with the same id, whatever another is called', () => {
    const text = planOf(
      [
        keeping('"a (3)"', { stores: ['x'] }),
        keeping('a', { reads: ['x'], stores: ['y'] }),
        keeping('a', { reads: ['y', 'z'], stores: ['w'] }),
        keeping('b', { reads: ['w'], stores: ['z'] }),
      ].join('\n'),
    );
    const cycles = checkingPlan(text).problems.filter(({ code }) => code === 'cycle');
    expect(cycles.map(({ message }) => message)).to.deep.equal([
      'sub-pipelines wait for each other: a (3) (3) -> b -> a (3) (3) (a (3) (3) reads "z" of b, b reads "w" of a (3) (3))',
    ]);
  });

  it('shortens a long cycle to its ends', () => {
    const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
    const ring = Object.fromEntries(ids.map((id, index) => [id, [ids[(index + 1) % 40] ?? '']]));
    const { message } = onlyProblem(checkingPlan(waiting(ring)));
    expect(message).to.contain('s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> … -> s36 -> s37 -> s38 -> s39 -> s0 (');
    expect(message.length).to.be.below(500);
  });

  it('sees no cycle in a sub-pipeline that reads what it stores itself', () => {
    const codes = checkingPlan(waiting({ a: ['a'] })).problems.map(({ code }) => code);
    expect(codes).to.deep.equal(['unsatisfied_read', 'session_race']);
  });

  it('asks of each need a bounded number of times, whatever the order of 20,000', () => {
    const size = 20_000;
    let asked = 0;
    class Counting extends Set<string> {
      override *[Symbol.iterator](): SetIterator<string> {
        for (const need of super[Symbol.iterator]()) {
          asked++;
          yield need;
        }
      }
    }
    const needs: Upstream = new Map(
      Array.from({ length: size }, (_, index) => [
        `s${index}`,
        new Counting(index + 1 < size ? [`s${index + 1}`] : []),
      ]),
    );
    expect(orderOf(needs)[0]).to.equal(`s${size - 1}`);
    expect(asked).to.be.below(3 * size);
  });

  it('takes a plan of 500 sub-pipelines with their pipelines, looking at each a bounded number of times', () => {
    const looks = [100, 500].map(looksAtDefinitionsOf);
    expect(looks[1]).to.be.below(6 * (looks[0] ?? 0));
  });
});

/** How often fields of sub-pipelines and tasks are looked at in the check of a chain of so many. */
function looksAtDefinitionsOf(size: number): number {
  let looks = 0;
  const watched = <T extends object>(value: T): T =>
    new Proxy(value, {
      get: (target, key) => {
        looks++;
        return Reflect.get(target, key) as unknown;
      },
    });
  const sub_pipelines = Array.from({ length: size }, (_, index) => {
    const reads = index + 1 < size ? [`k${index + 1}`] : [];
    const inputs = { key: `k${index}`, value: reads.map((key) => `{{session.${key}}}`) };
    const tasks = [watched({ id: 's', tool: 'store', inputs })];
    return watched({
      id: `s${index}`,
      reads,
      stores: [`k${index}`],
      pipeline: { id: 'p', goal: 'g', tasks },
    });
  });
  const check = checkPlanDefinition({ id: 'p', sub_pipelines }, { catalog: builtinCatalog() });
  expect(check.problems).to.deep.equal([]);
  expect(looks).to.be.above(size);
  return looks;
}

/** By looking at all that are left, again and again: slow, and plainly right. */
function firstOfAllOrders(needs: Upstream): string[] {
  const order: string[] = [];
  while (order.length < needs.size) {
    const next = [...needs].find(
      ([name, before]) => !order.includes(name) && [...before].every((need) => order.includes(need)),
    );
    if (next === undefined) throw new Error('there is a cycle');
    order.push(next[0]);
  }
  return order;
}
