import { expect } from 'chai';
import fc from 'fast-check';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import { computeOrder } from '../../lib/plans/order.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import type { Upstream } from '../../lib/pipelines/flow/waves.js';
import { onlyProblem } from '../support/definitions/check-pipeline.js';
import { checkPlanText, matchingSubPipeline, wrapSubPipelines } from '../support/definitions/check-plan.js';

/** Creates a plan in which `b: a` means that b reads the key of a. Each sub-pipeline stores the key of its own name. */
function planWithNeeds(needs: Record<string, string[]>): string {
  const lines = Object.entries(needs).map(([id, reads]) => matchingSubPipeline(id, { reads, stores: [id] }));
  return wrapSubPipelines(lines.join('\n'));
}

function orderOfPlan(needs: Record<string, string[]>): readonly string[] {
  const check = checkPlanText(planWithNeeds(needs));
  if (!check.ok) throw new Error(JSON.stringify(check.problems));
  return check.statistics.order;
}

describe('The order of sub-pipelines (Plan, rule 1; D45)', () => {
  it('puts a reader after the writer of its key, and otherwise keeps the declared order', () => {
    expect(orderOfPlan({ c: [], a: [], b: [] })).to.deep.equal(['c', 'a', 'b']);
    expect(orderOfPlan({ c: ['b'], a: [], b: [] })).to.deep.equal(['a', 'b', 'c']);
  });

  it('picks the first declared sub-pipeline that is ready, instead of wave by wave', () => {
    expect(orderOfPlan({ b: ['a'], d: ['b'], a: [], c: [] })).to.deep.equal(['a', 'b', 'd', 'c']);
  });

  it('follows a key even when the session contains it too', () => {
    const check = checkPlanText(planWithNeeds({ b: ['a'], a: [] }), { session: { a: 1 } });
    expect(check.ok && check.statistics.order).to.deep.equal(['a', 'b']);
  });

  it('is the first valid order by declared position', () => {
    const edges = fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 12 });
    const shuffled = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6], { minLength: 7 });
    fc.assert(
      fc.property(edges, shuffled, (pairs, rank) => {
        const needs = new Map(rank.map((_, index) => [`s${index}`, new Set<string>()]));
        for (const [a, b] of pairs) {
          if ((rank[a] ?? 0) < (rank[b] ?? 0)) needs.get(`s${b}`)?.add(`s${a}`);
        }
        expect(computeOrder(needs)).to.deep.equal(firstOfAllOrders(needs));
      }),
    );
  });

  it('reports the path of a cycle with the keys that cause it (D8)', () => {
    expect(onlyProblem(checkPlanText(planWithNeeds({ ok: [], a: ['b'], b: ['ok', 'a'] })))).to.deep.include({
      code: 'cycle',
      severity: 'error',
      message: 'sub-pipelines wait for each other: a -> b -> a (a reads "b" from b, b reads "a" from a)',
      path: '/plan/sub_pipelines/1',
      line: 5,
    });
  });

  it('reports a cycle through a duplicate id, whatever the other names', () => {
    const text = wrapSubPipelines(
      [
        matchingSubPipeline('"a (3)"', { stores: ['x'] }),
        matchingSubPipeline('a', { reads: ['x'], stores: ['y'] }),
        matchingSubPipeline('a', { reads: ['y', 'z'], stores: ['w'] }),
        matchingSubPipeline('b', { reads: ['w'], stores: ['z'] }),
      ].join('\n'),
    );
    const cycles = checkPlanText(text).problems.filter(({ code }) => code === 'cycle');
    expect(cycles.map(({ message }) => message)).to.deep.equal([
      'sub-pipelines wait for each other: a (3) (3) -> b -> a (3) (3) (a (3) (3) reads "z" from b, b reads "w" from a (3) (3))',
    ]);
  });

  it('shows only both ends of a long cycle', () => {
    const ids = Array.from({ length: 40 }, (_, index) => `s${index}`);
    const ring = Object.fromEntries(ids.map((id, index) => [id, [ids[(index + 1) % 40] ?? '']]));
    const { message } = onlyProblem(checkPlanText(planWithNeeds(ring)));
    expect(message).to.contain('s0 -> s1 -> s2 -> s3 -> s4 -> s5 -> … -> s36 -> s37 -> s38 -> s39 -> s0 (');
    expect(message.length).to.be.below(500);
  });

  it('finds no cycle in a sub-pipeline that reads its own key (D55)', () => {
    const codes = checkPlanText(planWithNeeds({ a: ['a'] })).problems.map(({ code }) => code);
    expect(codes).to.deep.equal(['session_race']);
  });

  it('visits each need a bounded number of times in any order of 20,000 sub-pipelines', () => {
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
    expect(computeOrder(needs)[0]).to.equal(`s${size - 1}`);
    expect(asked).to.be.below(3 * size);
  });

  it('checks a plan of 500 sub-pipelines, visiting each a bounded number of times', () => {
    const fieldReads = [100, 500].map(countDefinitionReads);
    expect(fieldReads[1]).to.be.below(6 * (fieldReads[0] ?? 0));
  });
});

/** Counts how often the check of a chain reads fields of sub-pipelines and tasks. */
function countDefinitionReads(size: number): number {
  let fieldReads = 0;
  const countReads = <T extends object>(value: T): T =>
    new Proxy(value, {
      get: (target, key) => {
        fieldReads++;
        return Reflect.get(target, key) as unknown;
      },
    });
  const sub_pipelines = Array.from({ length: size }, (_, index) => {
    const reads = index + 1 < size ? [`k${index + 1}`] : [];
    const inputs = { key: `k${index}`, value: reads.map((key) => `{{session.${key}}}`) };
    const tasks = [countReads({ id: 's', tool: 'store', inputs })];
    return countReads({
      id: `s${index}`,
      reads,
      stores: [`k${index}`],
      pipeline: { id: 'p', goal: 'g', tasks },
    });
  });
  const check = checkPlanDefinition({ id: 'p', sub_pipelines }, { catalog: builtinCatalog() });
  expect(check.problems).to.deep.equal([]);
  expect(fieldReads).to.be.above(size);
  return fieldReads;
}

/** A slow and obviously correct order: searches all remaining sub-pipelines again and again. */
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
