import { expect } from 'chai';
import type { ChartNode, Statechart } from '../../../lib/runs/inspection/statechart.js';
import { layoutChart } from '../../../scripts/statecharts/layout.js';
import {
  createStatecharts,
  DESCRIPTIONS,
  drawStatecharts,
} from '../../../scripts/statecharts/statecharts.js';

type Box = Pick<ChartNode, 'x' | 'y' | 'width' | 'height'>;

describe('The statecharts', () => {
  let charts: Map<string, Statechart>;

  before(async () => {
    charts = new Map((await createStatecharts()).map((chart) => [chart.id, chart]));
  });

  function chartOf(id: string): Statechart {
    const chart = charts.get(id);
    if (chart === undefined) throw new Error(`there is no chart ${id}`);
    return chart;
  }

  it('are those of all actors', () => {
    expect([...charts.keys()]).to.deep.equal([
      'plan',
      'sub-runs',
      'run',
      'wave',
      'task',
      'fan-out',
      'item',
      'chunk',
      'compile',
    ]);
  });

  it('are the same, byte for byte, each time they are made', async () => {
    expect(JSON.stringify(await createStatecharts())).to.equal(JSON.stringify([...charts.values()]));
    expect(await drawStatecharts()).to.deep.equal(await drawStatecharts());
  });

  for (const description of DESCRIPTIONS) {
    const { id } = description;

    describe(`that of "${id}"`, () => {
      it('has each state and each transition once', () => {
        const { nodes, edges } = chartOf(id);
        expect(nodes.map((node) => node.id)).to.deep.equal(description.states.map((state) => state.id));
        expect(
          edges.map(({ id: edge, from, to, event, label }) => ({ id: edge, from, to, event, label })),
        ).to.have.deep.members(description.transitions);
        expect(new Set(edges.map((edge) => edge.id)).size).to.equal(edges.length);
      });

      it('keeps everything within its bounds', () => {
        const { nodes, edges, width, height } = chartOf(id);
        const drawing = { x: 0, y: 0, width, height };
        const boxes = [...nodes, ...edges.flatMap(({ labelBox }) => labelBox ?? [])];
        expect(boxes.filter((box) => !contains(drawing, box))).to.deep.equal([]);
        const points = edges.flatMap((edge) => edge.points.map(([x, y]) => ({ x, y, width: 0, height: 0 })));
        expect(points.filter((point) => !contains(drawing, point))).to.deep.equal([]);
      });

      it('lets no label overlap another, a state that is not its own, or a line that is not its own', () => {
        const { nodes, edges } = chartOf(id);
        const states = nodes.filter(({ kind }) => kind !== 'root');
        for (const { label, labelBox, from, to, points } of edges) {
          if (labelBox === null) continue;
          const others = edges.flatMap((other) =>
            other.labelBox === null || other.labelBox === labelBox ? [] : other.labelBox,
          );
          expect(
            others.filter((other) => overlap(labelBox, other)),
            label,
          ).to.deep.equal([]);
          const foreign = states.filter((state) => points.length > 0 || state.id !== from);
          expect(
            foreign.filter((state) => overlap(labelBox, state)),
            label,
          ).to.deep.equal([]);
          const lines = edges.filter((edge) => edge.from !== from || edge.to !== to).flatMap(segmentsOf);
          expect(
            lines.filter((line) => overlap(labelBox, line)),
            label,
          ).to.deep.equal([]);
        }
      });

      it('lets no state overlap another', () => {
        const states = chartOf(id).nodes.filter(({ kind }) => kind !== 'root');
        for (const state of states) {
          expect(states.filter((other) => other !== state && overlap(state, other))).to.deep.equal([]);
        }
      });

      it('draws each line from its first state to its second, around the others', () => {
        const { nodes, edges } = chartOf(id);
        const byId = new Map(nodes.map((node) => [node.id, node]));
        for (const edge of edges.filter(({ points }) => points.length > 0)) {
          const [start, end] = [edge.points[0], edge.points.at(-1)].map((point) => {
            return { x: point?.[0] ?? 0, y: point?.[1] ?? 0, width: 0, height: 0 };
          });
          expect(touches(byId.get(edge.from), start), `${edge.id} starts`).to.equal(true);
          expect(touches(byId.get(edge.to), end), `${edge.id} ends`).to.equal(true);
          const foreign = nodes.filter(
            (node) => node.kind !== 'root' && node.id !== edge.from && node.id !== edge.to,
          );
          const crossed = foreign.filter((node) => segmentsOf(edge).some((line) => overlap(node, line)));
          expect(
            crossed.map((node) => node.id),
            edge.id,
          ).to.deep.equal([]);
        }
      });

      it('lists transitions that stay in their state inside of it', () => {
        const { nodes, edges } = chartOf(id);
        for (const { from, to, points, labelBox, label } of edges) {
          expect(points.length === 0, label).to.equal(from === to);
          const state = nodes.find((node) => node.id === from);
          if (from === to && state && labelBox) expect(contains(state, labelBox), label).to.equal(true);
        }
      });
    });
  }

  it('show the pause of a run', () => {
    const { nodes, edges } = chartOf('run');
    expect(nodes.map(({ key }) => key)).to.include('paused');
    const into = edges.filter(({ to }) => to === 'run.paused').map(({ label }) => label);
    expect(into).to.deep.equal([
      'begin [pausesBeforeWave]',
      'wave.settled [pausesOnFailure] / storeWaveOutcome',
      'wave.settled [pausesBeforeWave] / storeWaveOutcome',
    ]);
  });

  it('let transitions between the same two states share a line, with a label each', () => {
    const [cancel, force] = chartOf('run').edges.filter(
      ({ from, to }) => from === 'run.queued' && to === 'run.cancelled',
    );
    expect(cancel?.points).to.deep.equal(force?.points);
    expect([cancel?.label, force?.label]).to.deep.equal(['cancel', 'force']);
    expect(force?.labelBox?.y).to.be.above(cancel?.labelBox?.y ?? Number.POSITIVE_INFINITY);
  });

  it('place states in states', async () => {
    const { nodes } = await layoutChart({
      id: 'nested',
      title: 'nested',
      states: [
        { id: 'nested', key: 'nested', kind: 'root', lines: [], parent: undefined },
        { id: 'nested.outer', key: 'outer', kind: 'state', lines: ['entry / note'], parent: 'nested' },
        { id: 'nested.outer.first', key: 'first', kind: 'state', lines: [], parent: 'nested.outer' },
        { id: 'nested.end', key: 'end', kind: 'final', lines: [], parent: 'nested' },
      ],
      transitions: [
        { id: 'done', from: 'nested.outer', to: 'nested.end', event: 'done', label: 'done' },
        { id: 'go', from: 'nested.outer.first', to: 'nested.end', event: 'go', label: 'go' },
      ],
    });
    const [root, outer, first, end] = nodes as [ChartNode, ChartNode, ChartNode, ChartNode];
    expect([contains(root, outer), contains(outer, first), contains(root, end)]).to.deep.equal([
      true,
      true,
      true,
    ]);
    expect(overlap(outer, end)).to.equal(false);
  });
});

function contains(outer: Box, inner: Box): boolean {
  const isRight = inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width;
  return isRight && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
}

function overlap(a: Box, b: Box): boolean {
  const isBeside = a.x + a.width <= b.x || b.x + b.width <= a.x;
  return !isBeside && a.y + a.height > b.y && b.y + b.height > a.y;
}

/** True when a point is on the border of a box, give or take what rounding moves it. */
function touches(box: Box | undefined, point: Box | undefined): boolean {
  if (box === undefined || point === undefined) return false;
  const { x, y, width, height } = box;
  const grown = { x: x - 1, y: y - 1, width: width + 2, height: height + 2 };
  const shrunk = { x: x + 1, y: y + 1, width: width - 2, height: height - 2 };
  return contains(grown, point) && !contains(shrunk, point);
}

/** The parts of a line, as boxes without an area. */
function segmentsOf({ points }: Pick<Statechart['edges'][number], 'points'>): Box[] {
  return points.slice(1).map(([x, y], index) => {
    const [beforeX, beforeY] = points[index] ?? [x, y];
    return {
      x: Math.min(x, beforeX),
      y: Math.min(y, beforeY),
      width: Math.abs(x - beforeX),
      height: Math.abs(y - beforeY),
    };
  });
}
