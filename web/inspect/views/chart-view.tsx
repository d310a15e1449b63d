import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { ChartEdge, ChartNode, Statechart } from '../../../lib/runs/inspection/statechart.js';
import { labelOf } from '../model/actor-tree.js';
import { describeTransitions, type LitChart, lightChart } from '../model/chart-state.js';
import { toneOf } from '../../shared/model/tones.js';
import type { PixelSize, ScaleLimits, Zoom } from '../../shared/model/zoom.js';
import { useScale, ZoomButtons, zoomOnKey } from '../../shared/views/zoom.js';
import type { RunSession } from '../session/run-session.js';

/** The labels of a chart must be readable. */
const LIMITS: ScaleLimits = { smallest: 0.25, largest: 1.2 };

/** Around a drawing, for the lines of its outermost states. */
const MARGIN = 4;

const NO_CHART = { width: 0, height: 0 };

/** The statechart of the selected actor, with its active states and its last transition lit. */
export function ChartView({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const [zoom, setZoom] = useState<Zoom>('auto');
  const path = session.shownActor;
  const node = session.tree.get(path);
  const entry = node?.entry;
  const chart = session.charts.value.find(({ id }) => id === node?.src);
  const lit = chart && lightChart(chart, entry);
  const taken = lit && describeTransitions(lit.edges);
  const { box, scale, zooming } = useScale(chart ? sizeOf(chart) : NO_CHART, zoom, LIMITS, setZoom);
  useActiveStateInSight(box, chart, entry?.state, scale);
  return (
    <section class="panel chart" aria-label="Statechart" onKeyDown={zoomOnKey(zooming)}>
      <h2>
        <bdi class="path">{path || 'Statechart'}</bdi>
        {entry && <span class={`state ${toneOf(labelOf(entry))}`}>{labelOf(entry)}</span>}
        {taken !== undefined && (
          <bdi class="taken" title={taken}>
            {taken}
          </bdi>
        )}
        <ZoomButtons {...zooming} />
      </h2>
      <div class="canvas" ref={box} tabIndex={0} role="group" aria-label="Drawing">
        {chart && lit ? (
          <Drawing chart={chart} lit={lit} scale={scale} state={entry?.state ?? ''} />
        ) : (
          <p class="empty">
            {node
              ? 'There is no drawing of this kind of actor.'
              : path === ''
                ? 'Select an actor.'
                : 'This actor does not exist at this moment.'}
          </p>
        )}
      </div>
    </section>
  );
}

function sizeOf({ width, height }: Statechart): PixelSize {
  return { width: width + 2 * MARGIN, height: height + 2 * MARGIN };
}

/** Scrolls to the active state whenever it changes. */
function useActiveStateInSight(
  canvas: { readonly current: HTMLDivElement | null },
  chart: Statechart | undefined,
  state: string | undefined,
  scale: number,
): void {
  useLayoutEffect(() => {
    const element = canvas.current;
    const node = chart?.nodes.find(({ key, kind }) => key === state && kind !== 'root');
    if (!element || !node) return;
    element.scrollLeft = (node.x + node.width / 2) * scale - element.clientWidth / 2;
    element.scrollTop = (node.y + node.height / 2) * scale - element.clientHeight / 2;
  }, [canvas, chart, state, scale]);
}

interface DrawingProps {
  readonly chart: Statechart;
  readonly lit: LitChart;
  readonly scale: number;
  readonly state: string;
}

function Drawing({ chart, lit, scale, state }: DrawingProps) {
  const { nodes, edges, title } = chart;
  const { width, height } = sizeOf(chart);
  const fired = describeTransitions(lit.edges);
  // A chart has hundreds of parts, of which an event lights few.
  const transitions = useMemo(
    () => edges.map((edge) => <Transition key={edge.id} edge={edge} isLit={false} />),
    [edges],
  );
  const transition = fired === undefined ? '' : `; last transition: ${fired}`;
  return (
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
      width={width * scale}
      height={height * scale}
      role="img"
      aria-label={`${title}: ${state === '' ? 'not created' : state}${transition}`}
    >
      <defs>
        <Arrow id="arrow" />
        <Arrow id="arrow-lit" />
      </defs>
      {nodes.map((node) => (
        <State key={node.id} node={node} isActive={lit.active.has(node.id)} />
      ))}
      {transitions}
      {lit.edges.map((edge) => (
        // Drawn once more, above the others.
        <Transition key={`${edge.id} lit`} edge={edge} isLit />
      ))}
    </svg>
  );
}

function Arrow({ id }: { readonly id: string }) {
  return (
    <marker
      id={id}
      class={id}
      viewBox="0 0 8 8"
      refX={7}
      refY={4}
      markerWidth={7}
      markerHeight={7}
      orient="auto"
    >
      <path d="M0.5,0.8L7.2,4L0.5,7.2z" />
    </marker>
  );
}

function State({ node, isActive }: { readonly node: ChartNode; readonly isActive: boolean }) {
  const { kind, x, y, width, height, key, lines } = node;
  if (kind === 'initial') {
    return <circle class="initial" cx={x + width / 2} cy={y + height / 2} r={Math.min(width, height) / 2} />;
  }
  return (
    <g class={`node ${kind}${isActive ? ' lit' : ''}`} data-state={node.id}>
      <rect x={x} y={y} width={width} height={height} rx={7} />
      {kind === 'final' && (
        <rect class="inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={5} />
      )}
      <text class="key" x={x + 12} y={y + 19}>
        {key}
      </text>
      {lines.map((line, index) => (
        <text key={line} class="line" x={x + 12} y={y + 36 + index * 16}>
          {line}
        </text>
      ))}
    </g>
  );
}

function Transition({ edge, isLit }: { readonly edge: ChartEdge; readonly isLit: boolean }) {
  const { points, label, labelBox } = edge;
  const line = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x},${y}`).join('');
  return (
    <g class={`edge${isLit ? ' lit' : ''}`}>
      <path d={line} marker-end={isLit ? 'url(#arrow-lit)' : 'url(#arrow)'} />
      {labelBox && (
        <>
          <rect x={labelBox.x} y={labelBox.y} width={labelBox.width} height={labelBox.height} rx={3} />
          <text x={labelBox.x + labelBox.width / 2} y={labelBox.y + labelBox.height / 2}>
            {label}
          </text>
        </>
      )}
    </g>
  );
}
