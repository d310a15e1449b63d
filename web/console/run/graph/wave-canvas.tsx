import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  layoutWaves,
  type LayoutOptions,
  type PlacedBox,
  type WaveGraph,
  type WaveLayout,
} from '../../../../lib/pipelines/drawing/wave-layout.js';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import { OWN_SIZE, type Zoom } from '../../../shared/model/zoom.js';
import { Scaled, useScale, ZoomButtons, zoomOnKey } from '../../../shared/views/zoom.js';
import { CardBlocks } from './card-blocks.js';
import { EdgeLines, type LabelledEdge } from './edge-lines.js';
import type { Nearness, PlacedCard, ToneOfCard } from './graph-card.js';

const SIZES: LayoutOptions = {
  boxWidth: 204,
  boxHeight: 50,
  columnGap: 56,
  rowGap: 12,
  headerHeight: 26,
  margin: 14,
};

/** Where edges have labels, those are between the columns. */
const LABELLED_SIZES: LayoutOptions = { ...SIZES, columnGap: 150 };

/** Around what is visible, in the drawing's own size, so that scrolling shows no gaps. */
const MARGIN = 300;

/** Smaller cards cannot be read. */
const SMALLEST_CARDS = 0.5;

const BOX = { width: SIZES.boxWidth, height: SIZES.boxHeight };

/** The graph that is drawn: a pipeline with its tasks, or a plan with its sub-pipelines. */
interface CardGraph extends WaveGraph {
  /** By wave, the list of handlers to which it belongs; absent without handlers. */
  readonly wave_lists?: readonly (string | null)[];
  readonly edges: readonly LabelledEdge[];
}

interface WaveCanvasProps {
  readonly graph: CardGraph;
  /** The beginning of the ids of the cards' elements. */
  readonly name: string;
  readonly label: string;
  readonly selected: string | undefined;
  /** True when the graph is all there is on the tab, and takes its height. */
  readonly isWhole?: boolean;
  /** Of graphs that share a scale, one has the buttons; the keys zoom all of them. Default true. */
  readonly hasZoomButtons?: boolean;
  /** The reader wants to see what the card stands for. */
  readonly onShow: (id: string) => void;
  /** The reader wants to see no more than the graph. */
  readonly onClose: () => void;
  /** The scale, which other graphs of the page may share. */
  readonly zoom: Signal<Zoom>;
  /** The colour of a card that is too small to be read. */
  readonly toneOfCard: ToneOfCard;
  /** Returns nothing for what is not known yet. */
  readonly renderCard: (card: PlacedCard) => ComponentChildren;
}

/**
 * Waves from left to right, with a card for each task or sub-pipeline. Cards that are not visible do not exist, and those
 * that are too small to be read are drawn together. Arrow keys move from card to card; what a card depends on, and what
 * depends on it, is marked.
 */
export function WaveCanvas(props: WaveCanvasProps) {
  const {
    graph,
    name,
    label,
    selected,
    isWhole = false,
    hasZoomButtons = true,
    zoom,
    toneOfCard,
    onShow,
    onClose,
    renderCard,
  } = props;
  const layout = useMemo(() => {
    const isLabelled = graph.edges.some(({ label }) => label !== undefined);
    return runToEnd(layoutWaves(graph, isLabelled ? LABELLED_SIZES : SIZES));
  }, [graph]);
  const links = useMemo(() => new Links(graph), [graph]);
  const [hovered, setHovered] = useState<string | undefined>(undefined);
  const [focused, setFocused] = useState<string | undefined>(undefined);
  const { box, view, scale, zooming } = useScale(layout, zoom.value, OWN_SIZE, (next) => (zoom.value = next));
  const looked = hovered ?? focused ?? selected;
  const near = looked === undefined ? NOTHING : links.near(looked);
  const active = focused ?? selected ?? layout.boxes[0]?.id;
  const isVisible = (x: number, y: number, width: number, height: number): boolean =>
    x - MARGIN < view.right / scale &&
    x + width + MARGIN > view.left / scale &&
    y - MARGIN < view.bottom / scale &&
    y + height + MARGIN > view.top / scale;
  // A reader who comes by a link, or opens the panel beside the graph, sees the card.
  useEffect(() => {
    scrollTo(
      box.current,
      layout.boxes.find(({ id }) => id === selected),
      scale,
    );
  }, [layout, selected, scale]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || active === undefined) return;
    if (event.key === 'Escape') return onClose();
    const next = moveByKey(event.key, active, layout);
    if (next === undefined) return;
    event.preventDefault();
    setFocused(next);
    scrollTo(
      box.current,
      layout.boxes.find(({ id }) => id === next),
      scale,
    );
    // The card may come into being only now.
    window.requestAnimationFrame(() => document.getElementById(`${name}-${next}`)?.focus());
  };
  const isInSight = ({ x, y }: PlacedBox): boolean => isVisible(x, y, SIZES.boxWidth, SIZES.boxHeight);
  const isSmall = scale < SMALLEST_CARDS;
  const isCard = (placed: PlacedBox): boolean =>
    placed.id === active || placed.id === looked || (!isSmall && isInSight(placed));
  return (
    <div class={isWhole ? 'wave-graph whole' : 'wave-graph'} onKeyDown={zoomOnKey(zooming)}>
      {hasZoomButtons && (
        <div class="graph-tools">
          <ZoomButtons {...zooming} />
        </div>
      )}
      <div
        class={isSmall ? 'waves small' : 'waves'}
        ref={box}
        role="group"
        aria-label={label}
        onKeyDown={onKeyDown}
      >
        <Scaled space={layout} scale={scale}>
          <EdgeLines name={name} layout={layout} edges={graph.edges} looked={looked} />
          {layout.waves.map(({ x, y, width, height }, wave) =>
            isVisible(x, y, width, height) ? (
              <span
                key={wave}
                class="wave-name"
                style={{ left: `${x}px`, top: `${y}px`, width: `${width}px` }}
              >
                {graph.wave_lists?.[wave] ?? `Wave ${wave + 1}`}
              </span>
            ) : null,
          )}
          {isSmall && (
            <CardBlocks
              boxes={layout.boxes.filter((placed) => isInSight(placed) && !isCard(placed))}
              size={BOX}
              space={layout}
              scale={scale}
              toneOfCard={toneOfCard}
              isNear={(id) => near.has(id)}
              onShow={onShow}
              onLook={setHovered}
            />
          )}
          {layout.boxes.filter(isCard).map((placed) => {
            const { id } = placed;
            return renderCard({
              id: `${name}-${id}`,
              placed,
              links: links.describe(id),
              isSelected: id === selected,
              isActive: id === active,
              near: near.get(id),
              onShow: () => onShow(id),
              onHover: (isOn) => setHovered(changeOf(id, isOn)),
              onFocus: (isOn) => setFocused(changeOf(id, isOn)),
            });
          })}
        </Scaled>
      </div>
    </div>
  );
}

/** A card that goes out of sight loses the focus after another one was chosen to have it. */
function changeOf(id: string, isOn: boolean): (current: string | undefined) => string | undefined {
  return (current) => (isOn ? id : current === id ? undefined : current);
}

const NOTHING: ReadonlyMap<string, Nearness> = new Map();

/** Knows what each task or sub-pipeline depends on, and what depends on it. */
class Links {
  readonly #before = new Map<string, string[]>();
  readonly #after = new Map<string, string[]>();

  constructor({ edges }: CardGraph) {
    for (const { from, to } of edges) {
      add(this.#before, to, from);
      add(this.#after, from, to);
    }
  }

  near(id: string): ReadonlyMap<string, Nearness> {
    const near = new Map<string, Nearness>();
    for (const other of this.#before.get(id) ?? []) near.set(other, 'before');
    for (const other of this.#after.get(id) ?? []) near.set(other, 'after');
    return near;
  }

  /** In words, for those who do not see the lines. */
  describe(id: string): string {
    const before = this.#before.get(id) ?? [];
    return before.length === 0
      ? 'depends on no other'
      : `depends on ${before.slice(0, MOST_NAMED).join(', ')}`;
  }
}

const MOST_NAMED = 10;

function add(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The card above, below, or in the column beside, as near as there is one. */
function moveByKey(key: string, id: string, { boxes }: WaveLayout): string | undefined {
  const from = boxes.find((placed) => placed.id === id);
  const [alongX, alongY] = DIRECTIONS[key] ?? [];
  if (from === undefined || alongX === undefined || alongY === undefined) return undefined;
  let best: PlacedBox | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const placed of boxes) {
    const dx = placed.x - from.x;
    const dy = placed.y - from.y;
    const ahead = dx * alongX + dy * alongY;
    // A column beside is nearer than a row that is as far away.
    const aside = Math.abs(dx * alongY) * 4 + Math.abs(dy * alongX);
    if (ahead <= 0 || (alongY !== 0 && dx !== 0) || ahead + aside >= least) continue;
    best = placed;
    least = ahead + aside;
  }
  return best?.id;
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** Scrolls as little as it takes to see a card. */
function scrollTo(element: HTMLElement | null, placed: PlacedBox | undefined, scale: number): void {
  if (element === null || placed === undefined) return;
  const { x, y } = placed;
  const left = Math.min(element.scrollLeft, (x - SIZES.margin) * scale);
  const top = Math.min(element.scrollTop, (y - SIZES.headerHeight) * scale);
  element.scrollTo({
    left: Math.max(left, (x + SIZES.boxWidth + SIZES.margin) * scale - element.clientWidth),
    top: Math.max(top, (y + SIZES.boxHeight + SIZES.margin) * scale - element.clientHeight),
  });
}
