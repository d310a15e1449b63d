import type { WaveLayout } from '../../../../lib/pipelines/drawing/wave-layout.js';
import type { Graph } from '../../../../lib/pipelines/drawing/graph.js';

/** A dependency between two cards, in a plan with its keys. */
export type LabelledEdge = Graph['edges'][number] & {
  /** Written beside the line. */
  readonly label?: string;
};

/** More edges than these are drawn only for the card that the reader looks at. */
const MOST_EDGES = 500;

interface EdgeLinesProps {
  /** Distinguishes the arrowheads of several graphs on a page. */
  readonly name: string;
  readonly layout: WaveLayout;
  readonly edges: readonly LabelledEdge[];
  /** The card that the reader looks at: its lines are lit. */
  readonly looked: string | undefined;
}

/** The lines of a graph, from what is read to what reads it, each with an arrowhead. */
export function EdgeLines({ name, layout, edges, looked }: EdgeLinesProps) {
  const drawn = layout.edges.flatMap(({ index, path, labelX, labelY }) => {
    const edge = edges[index];
    if (edge === undefined) return [];
    const isNear = edge.from === looked || edge.to === looked;
    const isDrawn = isNear || edges.length <= MOST_EDGES;
    return isDrawn ? [{ ...edge, index, path, labelX, labelY, isNear }] : [];
  });
  return (
    <svg class="edges" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        <Arrowhead id={`${name}-arrow`} look="" />
        <Arrowhead id={`${name}-arrow-near`} look="near" />
      </defs>
      {drawn.map(({ index, path, kind, isNear }) => (
        <path
          key={index}
          class={isNear ? `${kind} near` : kind}
          d={path}
          marker-end={`url(#${name}-arrow${isNear ? '-near' : ''})`}
        />
      ))}
      {drawn.map(({ index, label, labelX, labelY, isNear }) =>
        label === undefined ? null : (
          <text key={index} class={isNear ? 'near' : ''} x={labelX} y={labelY + 4}>
            {label.length > MOST_LETTERS ? `${label.slice(0, MOST_LETTERS - 1)}…` : label}
          </text>
        ),
      )}
    </svg>
  );
}

/** As many as fit between two columns. */
const MOST_LETTERS = 20;

function Arrowhead({ id, look }: { readonly id: string; readonly look: string }) {
  return (
    <marker id={id} viewBox="0 0 8 8" refX="8" refY="4" markerWidth="5" markerHeight="5" orient="auto">
      <path class={look} d="M0 0l8 4l-8 4z" />
    </marker>
  );
}
