import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import { escapeMarkup, formatCount, formatNumber, nameWave } from '../../common/text.js';
import type { Graph } from './graph.js';
import { type LayoutOptions, layoutWaves, type PlacedBox } from './wave-layout.js';

/** How a state looks: the classes of the style sheet. */
export type GraphTone = 'failed' | 'active' | 'waiting' | 'done' | 'stopped';

/** A task or a sub-pipeline. */
export interface SvgBox {
  readonly id: string;
  /** The text below the id, such as the name of the task's tool. */
  readonly detail: string;
  /** Drawn as a stack: a fan-out. */
  readonly isStack: boolean;
  readonly state?: { readonly tone: GraphTone; readonly text: string } | undefined;
}

export interface SvgEdge {
  readonly from: string;
  readonly to: string;
  readonly isDashed: boolean;
  /** Written beside the edge. */
  readonly label?: string | undefined;
  /** Shown by a browser under the pointer. */
  readonly title: string;
}

/** The boxes and the edges that an SVG of a pipeline or of a plan shows. */
export interface SvgGraph {
  readonly id: string;
  readonly goal: string;
  readonly waves: readonly (readonly SvgBox[])[];
  /** By wave, the list of handlers to which it belongs. */
  readonly waveLists?: readonly (string | null)[] | undefined;
  readonly edges: readonly SvgEdge[];
}

interface SvgOptions {
  /** Adds a style sheet and a background; otherwise the page around the SVG has {@link GRAPH_STYLE}. Default true. */
  readonly isAlone?: boolean | undefined;
  /** Columns of boxes side by side; further waves continue below. */
  readonly maxColumns?: number | undefined;
}

/** Boxes and edges that an SVG shows: with more it would say nothing, and no browser would scroll it. */
const MAX_DRAWN_BOXES = 5000;
const MAX_DRAWN_EDGES = 10_000;

const MIN_BOX_WIDTH = 116;
const MAX_BOX_WIDTH = 216;
/** The width of a box in one of five columns that fit on a page. */
const MAX_BOX_WIDTH_ON_PAGE = 172;
const PADDING = 14;
/** The width of a letter, in px: of the monospaced font of the ids, and about that of the other font. */
const ID_LETTER = 7.3;
const DETAIL_LETTER = 6.3;
const LINE_HEIGHT = 16;
const PER_STEP = 200;

/** Renders the graph of a pipeline as SVG, all at once. */
export function renderSvg(graph: Graph): string {
  return runToEnd(renderSvgInSteps(graph));
}

/** Renders the graph of a pipeline as SVG: a document of its own, without scripts and links, for light and dark pages. */
export function renderSvgInSteps(graph: Graph): Steps<string> {
  return writeGraphSvg(toSvgGraph(graph));
}

function toSvgGraph({ id, goal, waves, wave_lists: waveLists, edges }: Graph): SvgGraph {
  const boxes = waves.map((wave) => wave.map(toSvgBox));
  return { id, goal, waves: boxes, waveLists, edges: edges.map(toSvgEdge) };
}

/** A task of the graph of a pipeline. */
export function toSvgBox({ id, tool, fan_out }: Graph['waves'][number][number]): SvgBox {
  return { id, detail: tool, isStack: fan_out };
}

/** An edge of the graph of a pipeline. */
export function toSvgEdge({ from, to, kind }: Graph['edges'][number]): SvgEdge {
  const isDashed = kind === 'await';
  return { from, to, isDashed, title: isDashed ? `${to} awaits ${from}` : `${to} reads ${from}` };
}

/** Writes a graph as SVG, in steps. */
export function* writeGraphSvg(graph: SvgGraph, options: SvgOptions = {}): Steps<string> {
  const { isAlone = true, maxColumns } = options;
  const waves = limitBoxes(graph.waves);
  const edges = graph.edges.slice(0, MAX_DRAWN_EDGES);
  const sizes = chooseSizes(waves, edges, isAlone);
  const layout = yield* layoutWaves({ waves, edges }, { ...sizes, maxColumns });
  const notes = describeRest(graph, waves, edges);
  const height = layout.height + notes.length * LINE_HEIGHT;
  const size = `width="${layout.width}" height="${height}" viewBox="0 0 ${layout.width} ${height}"`;
  const name = escapeMarkup(
    `${graph.id}: ${countBoxes(graph.waves)} in ${formatCount(graph.waves.length, 'wave')}`,
  );
  const parts = isAlone
    ? [
        `<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" aria-label="${name}" ${size}>`,
        `<title>${name}</title>`,
        ...(graph.goal === '' ? [] : [`<desc>${escapeMarkup(graph.goal)}</desc>`]),
        `<style>${GRAPH_STYLE}</style>`,
        '<rect class="back" width="100%" height="100%"/>',
      ]
    : [`<svg class="graph" role="img" aria-label="${name}" ${size}>`];
  for (const [index, { x, y, width, height: waveHeight }] of layout.waves.entries()) {
    const lane = `x="${x - 10}" y="${y}" width="${width + 20}" height="${waveHeight + 16}"`;
    parts.push(
      `<rect class="lane" ${lane} rx="8"/>`,
      `<text class="wave" x="${x}" y="${y + 17}">${nameWave(index, graph.waveLists?.[index])}</text>`,
    );
    if (index % PER_STEP === 0) yield;
  }
  for (const [at, { index, path }] of layout.edges.entries()) {
    const edge = edges[index];
    if (edge === undefined) continue;
    const title = `<title>${escapeMarkup(edge.title)}</title>`;
    parts.push(`<path class="${edge.isDashed ? 'edge await' : 'edge'}" d="${path}">${title}</path>`);
    if (at % PER_STEP === 0) yield;
  }
  const targets = new Set(layout.edges.map(({ index }) => edges[index]?.to));
  for (const [at, placed] of layout.boxes.entries()) {
    const box = waves[placed.wave]?.[placed.index];
    if (box !== undefined) parts.push(drawBox(box, placed, sizes, targets.has(box.id)));
    if (at % PER_STEP === 0) yield;
  }
  for (const { index, labelX, labelY } of layout.edges) {
    const { label } = edges[index] ?? {};
    if (label === undefined) continue;
    const text = escapeMarkup(cutMiddle(label, Math.floor((sizes.columnGap - 24) / DETAIL_LETTER)));
    parts.push(`<text class="label" x="${labelX}" y="${labelY + 4}">${text}</text>`);
  }
  for (const [line, note] of notes.entries()) {
    const y = layout.height + line * LINE_HEIGHT;
    parts.push(`<text class="wave" x="${sizes.margin}" y="${y}">${note}</text>`);
  }
  return `${parts.join('\n')}\n</svg>\n`;
}

/** @param isTarget true when edges lead to the box */
function drawBox(box: SvgBox, { x, y }: PlacedBox, sizes: LayoutOptions, isTarget: boolean): string {
  const { id, detail, isStack, state } = box;
  const { boxWidth, boxHeight } = sizes;
  const rect = (shift: number): string =>
    `<rect x="${x + shift}" y="${y - shift}" width="${boxWidth}" height="${boxHeight}" rx="6"/>`;
  const room = boxWidth - 2 * PADDING + 4;
  const line = (kind: string, number: number, text: string, letter: number): string =>
    `<text class="${kind}" x="${x + PADDING}" y="${y + 20 + number * LINE_HEIGHT}">${escapeMarkup(cutMiddle(text, Math.floor(room / letter)))}</text>`;
  const title = [id, isStack ? `${detail} for each item` : detail, ...(state ? [state.text] : [])];
  const mark = `<rect class="mark" x="${x}" y="${y + 8}" width="4" height="${boxHeight - 16}" rx="2"/>`;
  return [
    `<g class="box${state ? ` ${state.tone}` : ''}"><title>${escapeMarkup(title.join(' · '))}</title>`,
    isStack ? rect(6) + rect(3) : '',
    rect(0),
    isTarget ? `<path class="tip" d="M${x - 7} ${y + boxHeight / 2 - 4}l7 4l-7 4z"/>` : '',
    state ? mark : '',
    line('id', 0, id, ID_LETTER),
    line('detail', 1, detail, DETAIL_LETTER),
    state ? line('state', 2, state.text, DETAIL_LETTER) : '',
    '</g>',
  ].join('');
}

/** @param isAlone nothing limits the width */
function chooseSizes(waves: SvgGraph['waves'], edges: SvgGraph['edges'], isAlone: boolean): LayoutOptions {
  let letters = 0;
  let hasStates = false;
  for (const { id, detail, state } of waves.flat()) {
    const details = Math.max(detail.length, state?.text.length ?? 0);
    letters = Math.max(letters, id.length * ID_LETTER, details * DETAIL_LETTER);
    hasStates ||= state !== undefined;
  }
  const hasLabels = edges.some(({ label }) => label !== undefined);
  const widest = isAlone ? MAX_BOX_WIDTH : MAX_BOX_WIDTH_ON_PAGE;
  return {
    boxWidth: Math.ceil(Math.min(widest, Math.max(MIN_BOX_WIDTH, letters + 2 * PADDING))),
    boxHeight: hasStates ? 62 : 46,
    columnGap: hasLabels ? 150 : isAlone ? 64 : 48,
    rowGap: 20,
    headerHeight: 30,
    margin: 20,
  };
}

function limitBoxes(waves: SvgGraph['waves']): SvgGraph['waves'] {
  let left = MAX_DRAWN_BOXES;
  const shown: (readonly SvgBox[])[] = [];
  for (const wave of waves) {
    if (left <= 0) break;
    shown.push(wave.length <= left ? wave : wave.slice(0, left));
    left -= wave.length;
  }
  return shown;
}

function describeRest(graph: SvgGraph, waves: SvgGraph['waves'], edges: SvgGraph['edges']): string[] {
  const boxes = sumLengths(graph.waves) - sumLengths(waves);
  const lines = graph.edges.length - edges.length;
  return [
    ...(boxes > 0 ? [`and ${formatNumber(boxes)} more that are not drawn`] : []),
    ...(lines > 0 ? [`and ${formatNumber(lines)} more edges that are not drawn`] : []),
  ];
}

function sumLengths(waves: SvgGraph['waves']): number {
  return waves.reduce((sum, wave) => sum + wave.length, 0);
}

function countBoxes(waves: SvgGraph['waves']): string {
  const count = sumLengths(waves);
  return `${formatNumber(count)} ${count === 1 ? 'box' : 'boxes'}`;
}

/** Cuts a long text in its middle, so that names that end differently still differ. Wide letters count as two. */
function cutMiddle(text: string, most: number): string {
  if (text.length * 2 <= most) return text;
  const letters = Array.from(text.length > 1000 ? `${text.slice(0, 500)}${text.slice(-500)}` : text);
  const room = letters.some(isWide) ? Math.floor(most / 2) : most;
  if (letters.length <= room && text.length <= 1000) return text;
  const end = Math.floor((room - 1) / 3);
  return `${letters.slice(0, Math.max(1, room - 1 - end)).join('')}…${letters.slice(letters.length - end).join('')}`;
}

function isWide(letter: string): boolean {
  return (letter.codePointAt(0) ?? 0) >= 0x1100;
}

const SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif';
const MONO = 'ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace';

type Part = 'back' | 'lane' | 'box' | 'line' | 'edge' | 'text' | 'soft';
type Palette = Readonly<Record<Part, string>> & { readonly tones: Readonly<Record<GraphTone, string>> };

/** The colours of the inspector. */
const LIGHT: Palette = {
  back: '#ffffff',
  lane: '#f6f7f9',
  box: '#ffffff',
  line: '#c9d0da',
  edge: '#8a96a8',
  text: '#1b2330',
  soft: '#566173',
  tones: { failed: '#b42318', active: '#1d5fd6', waiting: '#5b6677', done: '#14703c', stopped: '#6a5a86' },
};

const DARK: Palette = {
  back: '#151a21',
  lane: '#0e1116',
  box: '#1c232c',
  line: '#3a4554',
  edge: '#66748a',
  text: '#e3e8ef',
  soft: '#9aa6b6',
  tones: { failed: '#ff8f85', active: '#7aacff', waiting: '#9aa6b6', done: '#6ecf96', stopped: '#b9a6dc' },
};

/** Plain colours, because few programs besides browsers know variables of CSS. */
function colourRules({ back, lane, box, line, edge, text, soft, tones }: Palette): string {
  return [
    `.graph .back{fill:${back}}`,
    `.graph .lane{fill:${lane}}`,
    `.graph .box rect{fill:${box};stroke:${line}}`,
    `.graph .edge{stroke:${edge}}`,
    `.graph .tip{fill:${edge}}`,
    `.graph .edge:hover{stroke:${text}}`,
    `.graph .id{fill:${text}}`,
    `.graph .detail,.graph .wave{fill:${soft}}`,
    `.graph .label{fill:${soft};stroke:${back}}`,
    ...Object.entries(tones).map(
      ([tone, colour]) =>
        `.graph .${tone} .state{fill:${colour}}.graph .${tone} .mark{fill:${colour};stroke:none}`,
    ),
    `.graph .failed rect{stroke:${tones.failed}}`,
    `.graph .active rect{stroke:${tones.active}}`,
  ].join('');
}

/** The style sheet of the SVG, for light and dark pages. */
export const GRAPH_STYLE = [
  `.graph text{font:11px ${SANS}}`,
  `.graph .id{font:600 12px ${MONO}}`,
  '.graph .state{font-weight:600}',
  '.graph .edge{fill:none;stroke-width:1.3}',
  '.graph .edge:hover{stroke-width:2.2}',
  '.graph .await{stroke-dasharray:5 4}',
  '.graph .label{text-anchor:middle;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}',
  colourRules(LIGHT),
  `@media screen and (prefers-color-scheme:dark){${colourRules(DARK)}}`,
].join('');
