import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import {
  type LayoutOptions,
  layoutWaves,
  type PlacedBox,
  type WaveGraph,
  type WaveLayout,
} from '../../../lib/pipelines/drawing/wave-layout.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

const SIZES: LayoutOptions = {
  boxWidth: 100,
  boxHeight: 40,
  columnGap: 60,
  rowGap: 20,
  headerHeight: 30,
  margin: 20,
};

const lay = (graph: WaveGraph, options: Partial<LayoutOptions> = {}): WaveLayout =>
  runToEnd(layoutWaves(graph, { ...SIZES, ...options }));

/** Graphs whose edges lead to later waves, as those of pipelines, and some that name no box. */
const graphs: fc.Arbitrary<WaveGraph> = fc
  .array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 })
  .chain((sizes) => {
    const waves = sizes.map((size, wave) =>
      Array.from({ length: size }, (_, index) => ({ id: `${wave}-${index}` })),
    );
    const ids = waves.flat().map(({ id }) => id);
    const id = fc.constantFrom(...ids, 'nowhere');
    const edges = fc.array(fc.record({ from: id, to: id }), { maxLength: 60 });
    return edges.map((list) => ({ waves, edges: list }));
  });

const options = fc.record(
  { maxRows: fc.integer({ min: 1, max: 20 }), maxColumns: fc.integer({ min: 1, max: 20 }) },
  { requiredKeys: [] },
);

describe('The layout of waves', () => {
  it('places every box once, in its wave, and no two of them overlap', () => {
    fc.assert(
      fc.property(graphs, options, (graph, limits) => {
        const { boxes, width, height, waves } = lay(graph, limits);
        const expected = graph.waves.flatMap((wave, number) => wave.map(({ id }) => `${number} ${id}`));
        expect(boxes.map(({ id, wave }) => `${wave} ${id}`)).to.have.members(expected);
        expect(boxes).to.have.length(expected.length);
        expect(waves).to.have.length(graph.waves.length);
        for (const box of boxes) {
          expect(graph.waves[box.wave]?.[box.index]?.id).to.equal(box.id);
          expect(isWithin(box, waves[box.wave] ?? EMPTY)).to.equal(true);
          expect(isWithin(box, { x: 0, y: 0, width, height })).to.equal(true);
        }
        expect(overlaps(boxes)).to.deep.equal([]);
      }),
    );
  });

  it('draws an edge between two boxes once, from the right of one to the left of the other, and leaves others out', () => {
    fc.assert(
      fc.property(graphs, options, (graph, limits) => {
        const { boxes, edges } = lay(graph, limits);
        const places = new Map(boxes.map((box) => [box.id, box]));
        const drawn = graph.edges.flatMap(({ from, to }, index) =>
          from !== to && places.has(from) && places.has(to) ? [index] : [],
        );
        expect(edges.map(({ index }) => index)).to.deep.equal(drawn);
        for (const { index, path } of edges) {
          const from = places.get(graph.edges[index]?.from ?? '');
          const to = places.get(graph.edges[index]?.to ?? '');
          if (from === undefined || to === undefined) throw new Error('an edge without a box');
          expect(path).to.match(/^M[-\d. MCHLQ]+$/);
          expect(path.startsWith(`M${from.x + 100} ${from.y + 20}`)).to.equal(true);
          expect(endX(path)).to.equal(to.x);
        }
      }),
    );
  });

  it('is the same for the same graph', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        expect(lay(graph)).to.deep.equal(lay(structuredClone(graph)));
      }),
    );
  });

  it('puts boxes beside those that they are connected with: parallel chains do not cross', () => {
    const waves = [
      ['a1', 'b1', 'c1'],
      ['c2', 'a2', 'b2'],
      ['b3', 'c3', 'a3'],
    ].map((ids) => ids.map((id) => ({ id })));
    const edges = ['a', 'b', 'c'].flatMap((name) => [
      { from: `${name}1`, to: `${name}2` },
      { from: `${name}2`, to: `${name}3` },
    ]);
    const { boxes } = lay({ waves, edges });
    const row = (id: string): number | undefined => boxes.find((box) => box.id === id)?.y;
    for (const name of ['a', 'b', 'c']) {
      expect(row(`${name}2`)).to.equal(row(`${name}1`));
      expect(row(`${name}3`)).to.equal(row(`${name}2`));
    }
  });

  it('leads an edge over several waves between the boxes in the middle', () => {
    const { boxes, edges } = lay({
      waves: [[{ id: 'a' }], [{ id: 'b' }], [{ id: 'c' }]],
      edges: [{ from: 'a', to: 'c' }],
    });
    const [, middle] = boxes;
    const passed = /H(\d+)/.exec(edges[0]?.path ?? '');
    const height = /C[\d.]+ [\d.]+ [\d.]+ ([\d.]+)/.exec(edges[0]?.path ?? '');
    expect(Number(passed?.[1])).to.equal((middle?.x ?? 0) + 100);
    expect(Number(height?.[1])).to.satisfy((y: number) => y < (middle?.y ?? 0) || y > (middle?.y ?? 0) + 40);
  });

  it('breaks a large wave into columns and many waves into bands', () => {
    const many = Array.from({ length: 2000 }, (_, index) => ({ id: `t${index}` }));
    const wide = lay({ waves: [many], edges: [] });
    expect(wide.width / wide.height).to.be.within(1, 3);
    const chain = many.map((box) => [box]);
    const edges = many.slice(1).map(({ id }, index) => ({ from: `t${index}`, to: id }));
    const long = lay({ waves: chain, edges });
    expect(long.width / long.height).to.be.within(1, 3);
    for (const { path } of long.edges) expect(path).not.to.match(/[MLHCQ ]-/, 'left of the drawing');
  });

  itTimed(
    'takes time in proportion to the tasks: 2,000 of them with 20,000 edges are placed in less than a second',
    () => {
      const waves = Array.from({ length: 20 }, (_, wave) =>
        Array.from({ length: 100 }, (__, index) => ({ id: `${wave}-${index}` })),
      );
      const edges = Array.from({ length: 20_000 }, (_, number) => {
        const to = 1 + (number % 19);
        return { from: `${(number * 7) % to}-${(number * 13) % 100}`, to: `${to}-${(number * 31) % 100}` };
      });
      expect(measureCpuMsSync(() => void lay({ waves, edges }))).to.be.below(1000);
    },
  );

  it('is empty for no waves', () => {
    expect(lay({ waves: [], edges: [] })).to.deep.include({ boxes: [], edges: [], waves: [] });
  });
});

const EMPTY = { x: 0, y: 0, width: 0, height: 0 };

function isWithin({ x, y }: PlacedBox, outer: typeof EMPTY): boolean {
  const { x: left, y: top, width, height } = outer;
  return x >= left && y >= top && x + 100 <= left + width && y + 40 <= top + height;
}

function overlaps(boxes: readonly PlacedBox[]): string[] {
  return boxes.flatMap((a, index) =>
    boxes
      .slice(index + 1)
      .filter((b) => Math.abs(a.x - b.x) < 100 && Math.abs(a.y - b.y) < 40)
      .map((b) => `${a.id} and ${b.id}`),
  );
}

/** Where a path ends. */
function endX(path: string): number {
  const [, command, numbers = ''] = /([HCLQ])([^HCLQ]*)$/.exec(path) ?? [];
  const list = numbers.trim().split(/\s+/).map(Number);
  return (command === 'H' ? list.at(-1) : list.at(-2)) ?? Number.NaN;
}
