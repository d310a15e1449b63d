import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../lib/common/scheduling/steps.js';
import { computeWaves, type Upstream } from '../../lib/pipelines/flow/waves.js';

function graph(edges: Record<string, readonly string[]>): Upstream {
  return new Map(Object.entries(edges).map(([id, needs]) => [id, new Set(needs)]));
}

describe('computeWaves (rule 1)', () => {
  it('puts a task in the wave after the last task that it needs', () => {
    expect(runToEnd(computeWaves(graph({ d: ['b', 'a'], a: [], b: ['a'], c: ['a'], e: [] })))).to.deep.equal({
      ok: true,
      waves: [['a', 'e'], ['b', 'c'], ['d']],
    });
  });

  it('keeps the declared order within a wave', () => {
    expect(runToEnd(computeWaves(graph({ z: [], m: [], a: [] })))).to.deep.equal({
      ok: true,
      waves: [['z', 'm', 'a']],
    });
  });

  it('reports the path of a cycle, without tasks that only lead to it (D8)', () => {
    expect(runToEnd(computeWaves(graph({ x: ['a'], a: ['b'], b: ['c'], c: ['a'], ok: [] })))).to.deep.equal({
      ok: false,
      cycle: ['a', 'b', 'c', 'a'],
    });
  });

  it('handles a chain of 100,000 tasks', () => {
    const chain = new Map(
      Array.from({ length: 100_000 }, (_, i) => [`t${i}`, new Set(i === 0 ? [] : [`t${i - 1}`])]),
    );
    const layering = runToEnd(computeWaves(chain));
    expect(layering.ok && layering.waves.length).to.equal(100_000);
  });

  it('puts every task in one wave, as early as its needs allow', () => {
    const edges = fc.array(fc.tuple(fc.nat(29), fc.nat(29)), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), edges, (size, pairs) => {
        const upstream = new Map(Array.from({ length: size }, (_, i) => [`t${i}`, new Set<string>()]));
        for (const [a, b] of pairs) if (a < b && b < size) upstream.get(`t${b}`)?.add(`t${a}`);
        const layering = runToEnd(computeWaves(upstream));
        if (!layering.ok) throw new Error('there is no cycle');
        const waveOf = new Map(
          layering.waves.flatMap((wave, index) => wave.map((id) => [id, index] as const)),
        );
        expect(waveOf.size).to.equal(size);
        for (const [id, needs] of upstream) {
          expect(waveOf.get(id)).to.equal(
            Math.max(-1, ...[...needs].map((need) => waveOf.get(need) ?? 0)) + 1,
          );
        }
      }),
    );
  });

  it('finds a real cycle in any graph that has one', () => {
    const edges = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 30 });
    fc.assert(
      fc.property(edges, (pairs) => {
        const upstream = new Map(Array.from({ length: 10 }, (_, i) => [`t${i}`, new Set<string>()]));
        for (const [a, b] of pairs) if (a !== b) upstream.get(`t${b}`)?.add(`t${a}`);
        const layering = runToEnd(computeWaves(upstream));
        if (layering.ok) return;
        const { cycle } = layering;
        expect(cycle.at(0)).to.equal(cycle.at(-1));
        for (const [index, id] of cycle.slice(0, -1).entries()) {
          expect(upstream.get(id)?.has(cycle[index + 1] ?? '')).to.equal(true);
        }
      }),
    );
  });
});
