import { useMemo, useState } from 'preact/hooks';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import { layoutWaves, type LayoutOptions } from '../../../../lib/pipelines/drawing/wave-layout.js';
import { OWN_SIZE, type Zoom } from '../../../shared/model/zoom.js';
import { Scaled, useScale, ZoomButtons, zoomOnKey } from '../../../shared/views/zoom.js';
import { EdgeLines } from '../../run/graph/edge-lines.js';
import type { DrawnGraph } from '../model/drawn-graph.js';
import type { EditSession } from '../session/edit-session.js';

const SIZES: LayoutOptions = {
  boxWidth: 168,
  boxHeight: 44,
  columnGap: 48,
  rowGap: 12,
  headerHeight: 24,
  margin: 16,
};

/** More tasks are not drawn while they are written: the page of a run shows them all. */
const MOST_DRAWN = 400;

interface GraphPaneProps {
  readonly session: EditSession;
  readonly zoom: Zoom;
  readonly onZoom: (zoom: Zoom) => void;
}

/** The waves of the definition, from the last text that could be read. A click on a task leads to its text. */
export function GraphPane({ session, ...zooming }: GraphPaneProps) {
  const { graph, isGraphCurrent, status, isOk } = session.checker.state.value;
  if (graph === undefined) {
    return (
      <p class="empty">
        {status === 'checked' && !isOk && session.text.trim() !== ''
          ? 'The graph appears when the text has no errors.'
          : 'The graph of the tasks appears here while you write.'}
      </p>
    );
  }
  const count = graph.waves.flat().length;
  if (count > MOST_DRAWN) {
    return (
      <p class="empty">
        {count.toLocaleString('en')} tasks in {graph.waves.length.toLocaleString('en')} waves: too many to
        draw while you write. The page of a run shows them.
      </p>
    );
  }
  return (
    <>
      {!isGraphCurrent && (
        <p class="outdated" role="status">
          The graph is of the last text that could be read
        </p>
      )}
      <Drawing session={session} graph={graph} isCurrent={isGraphCurrent} {...zooming} />
    </>
  );
}

interface DrawingProps extends GraphPaneProps {
  readonly graph: DrawnGraph;
  readonly isCurrent: boolean;
}

function Drawing({ session, graph, isCurrent, zoom, onZoom }: DrawingProps) {
  const layout = useMemo(() => runToEnd(layoutWaves(graph, SIZES)), [graph]);
  const tasks = useMemo(() => new Map(graph.waves.flat().map((task) => [task.id, task])), [graph]);
  const selected = session.part.value;
  const [looked, setLooked] = useState<string | undefined>(undefined);
  const marked = looked !== undefined && tasks.has(looked) ? looked : selected;
  const near = useMemo(() => listNear(graph, marked), [graph, marked]);
  const { box, scale, zooming } = useScale(layout, zoom, OWN_SIZE, onZoom);
  return (
    <div class={`edit-graph${isCurrent ? '' : ' dimmed'}`} onKeyDown={zoomOnKey(zooming)}>
      <div class="graph-tools">
        <ZoomButtons {...zooming} />
      </div>
      <div class="drawing" ref={box} role="group" aria-label="Tasks by wave">
        <Scaled space={layout} scale={scale}>
          <EdgeLines name="edited" layout={layout} edges={graph.edges} looked={marked} />
          {layout.waves.map(({ x, y, width }, wave) => (
            <span key={wave} class="wave" style={{ left: `${x}px`, top: `${y}px`, width: `${width}px` }}>
              {graph.wave_lists?.[wave] ?? `Wave ${wave + 1}`}
            </span>
          ))}
          {layout.boxes.map(({ id, x, y, wave }) => {
            const { tool = '', fan_out = false } = tasks.get(id) ?? {};
            return (
              <button
                key={id}
                type="button"
                class={`task${fan_out ? ' fan-out' : ''}${id === selected ? ' selected' : ''}${near.has(id) ? ' near' : ''}`}
                style={{ left: `${x}px`, top: `${y}px` }}
                aria-pressed={id === selected}
                onClick={() => session.editor?.goToPart(id)}
                onMouseEnter={() => setLooked(id)}
                onMouseLeave={() => setLooked(undefined)}
                onFocus={() => setLooked(id)}
                onBlur={() => setLooked(undefined)}
              >
                <bdi class="id">{id}</bdi>
                <span class="tool">
                  <bdi>{tool}</bdi>
                  {fan_out && <span class="each">each</span>}
                </span>
                <span class="hidden">in wave {wave + 1}</span>
              </button>
            );
          })}
        </Scaled>
      </div>
    </div>
  );
}

/** Lists what a task or sub-pipeline depends on, and what depends on it. */
function listNear({ edges }: DrawnGraph, id: string | undefined): ReadonlySet<string> {
  return new Set(edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : [])));
}
