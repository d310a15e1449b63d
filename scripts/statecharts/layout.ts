import Elk, { type ElkExtendedEdge, type ElkNode, type ElkPoint } from 'elkjs/lib/elk.bundled.js';
import type { ChartEdge, ChartNode, Statechart } from '../../lib/runs/inspection/statechart.js';
import type { ChartDescription, TransitionDescription } from './describe.js';
import { textWidth } from './text-width.js';

/** Sizes that the drawing shares with the layout, in pixels. */
export const SIZES = { name: 13, text: 11, line: 17, header: 30, padding: 12, dot: 12 } as const;

/** With `considerModelOrder` or `MODEL_ORDER`, elkjs 0.12 throws. */
const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeLabel': '4',
};

const FIRST = { 'elk.layered.layering.layerConstraint': 'FIRST' };

/** In pixels. */
const SMALL_STEP = 4;

/** Places the states and the transitions of a chart. The same description always gives the same drawing. */
export async function layoutChart(description: ChartDescription): Promise<Statechart> {
  const lines = groupByStates(description.transitions);
  const graph: ElkNode = {
    id: '(drawing)',
    layoutOptions: { ...OPTIONS, 'elk.padding': '[top=1,left=1,bottom=1,right=1]' },
    children: childrenOf(description, undefined, lines),
    edges: [...lines.values()].filter(([first]) => !isInternal(first)).map(toElkEdge),
  };
  const placed = await new Elk.default().layout(graph);
  const nodes = new Map(flatten(placed).map((node) => [node.id, node]));
  const edges = new Map((placed.edges ?? []).map((edge) => [edge.id, edge]));
  return {
    id: description.id,
    title: description.title,
    width: Math.ceil(placed.width ?? 0),
    height: Math.ceil(placed.height ?? 0),
    nodes: description.states.map(({ id, key, kind, lines: text }): ChartNode => {
      const { x = 0, y = 0, width = 0, height = 0 } = nodes.get(id) ?? {};
      return {
        id,
        key,
        kind,
        x: round(x),
        y: round(y),
        width: round(width),
        height: round(height),
        lines: text,
      };
    }),
    edges: [...lines].flatMap(([id, group]) => {
      const [first] = group;
      const state = nodes.get(first.from);
      const skipped = description.states.find(({ id: stateId }) => stateId === first.from)?.lines.length ?? 0;
      return isInternal(first) ? placeInState(group, state, skipped) : placeAlongLine(group, edges.get(id));
    }),
  };
}

type Group = [TransitionDescription, ...TransitionDescription[]];

/** The transitions between the same two states, which share a line. */
function groupByStates(transitions: readonly TransitionDescription[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const transition of transitions) {
    const id = `${transition.from} -> ${transition.to}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [transition]);
    else group.push(transition);
  }
  return groups;
}

function isInternal({ from, to }: TransitionDescription): boolean {
  return from === to;
}

function childrenOf(
  description: ChartDescription,
  parent: string | undefined,
  groups: ReadonlyMap<string, Group>,
): ElkNode[] {
  const children = description.states.filter((state) => state.parent === parent);
  return children.map(({ id, key, kind, lines }): ElkNode => {
    if (kind === 'initial') return { id, width: SIZES.dot, height: SIZES.dot, layoutOptions: FIRST };
    const internal = (groups.get(`${id} -> ${id}`) ?? []).map(({ label }) => label);
    const title = kind === 'root' ? description.title : key;
    const texts = [...lines, ...internal].map((line) => textWidth(line) * SIZES.text);
    const width = ceilToEven(Math.max(72, textWidth(title) * SIZES.name, ...texts) + 2 * SIZES.padding);
    const height = SIZES.header + texts.length * SIZES.line + (texts.length > 0 ? SIZES.padding : 0);
    const below = childrenOf(description, id, groups);
    if (below.length === 0) return { id, width, height };
    const inner = `[top=${height + 16},left=20,bottom=20,right=20]`;
    const minimum = {
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width},${height})`,
    };
    return { id, children: below, layoutOptions: { ...OPTIONS, ...minimum, 'elk.padding': inner } };
  });
}

function toElkEdge(group: Group): ElkExtendedEdge {
  const [{ from, to }] = group;
  const labels = group.filter(({ label }) => label !== '');
  const width = Math.max(0, ...labels.map(({ label }) => widthOf(label)));
  const label = {
    text: labels.map((one) => one.label).join('\n'),
    width,
    height: labels.length * SIZES.line,
    // The line runs through its label, so nobody has to guess which of two lines a label belongs to.
    layoutOptions: { 'elk.edgeLabels.inline': 'true' },
  };
  return {
    id: `${from} -> ${to}`,
    sources: [from],
    targets: [to],
    labels: labels.length === 0 ? [] : [label],
  };
}

function widthOf(label: string): number {
  return ceilToEven(textWidth(label) * SIZES.text + 8);
}

/** An even width has its middle on a whole pixel: lines stay straight. */
function ceilToEven(width: number): number {
  return Math.ceil(width / 2) * 2;
}

/** Gives each transition of a line its part of the line's label. */
function placeAlongLine(group: Group, edge: ElkExtendedEdge | undefined): ChartEdge[] {
  const points = pointsOf(edge).map(({ x, y }) => [round(x), round(y)] as const);
  const { x = 0, y = 0, width = 0 } = edge?.labels?.[0] ?? {};
  return group.map((transition, index) => {
    const own = widthOf(transition.label);
    const box = {
      x: round(x + (width - own) / 2),
      y: round(y + index * SIZES.line),
      width: own,
      height: SIZES.line,
    };
    return { ...transition, points, labelBox: transition.label === '' ? null : box };
  });
}

/** Lists the transitions that stay in a state below its other lines. */
function placeInState(group: Group, state: ElkNode | undefined, skipped: number): ChartEdge[] {
  const { x = 0, y = 0 } = state ?? {};
  return group.map((transition, index) => {
    const box = {
      x: round(x + SIZES.padding - 4),
      y: round(y + SIZES.header + 4 + (skipped + index) * SIZES.line),
      width: widthOf(transition.label),
      height: SIZES.line,
    };
    return { ...transition, points: [], labelBox: box };
  });
}

function pointsOf(edge: ElkExtendedEdge | undefined): ElkPoint[] {
  const points = (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  return straighten(points);
}

/** Removes steps to the side that are too small to be seen as bends. */
function straighten(points: readonly ElkPoint[]): ElkPoint[] {
  const straight = [...points];
  for (let index = 1; index + 3 < straight.length; index++) {
    const [above, from, to] = straight.slice(index, index + 3);
    if (above === undefined || from === undefined || to === undefined) break;
    const isStep = above.x === from.x && from.y === to.y && Math.abs(from.x - to.x) < SMALL_STEP;
    if (isStep) straight.splice(index, 3, { x: to.x, y: above.y });
  }
  return straight;
}

function flatten(node: ElkNode): ElkNode[] {
  return (node.children ?? []).flatMap((child) => [child, ...flatten(child)]);
}

/** To half a pixel, so that the files stay short and the same on every machine. */
function round(length: number): number {
  return Math.round(length * 2) / 2;
}
