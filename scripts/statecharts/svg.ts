import type { ChartEdge, ChartNode, Statechart } from '../../lib/runs/inspection/statechart.js';
import { SIZES } from './layout.js';

/** Distance from a bend at which a line begins to turn. */
const BEND = 8;

/** The drawing stands in an `img` element, so it brings its colours along and follows the reader's scheme. */
const STYLE = `
svg{--page:#f7f8fa;--state:#fff;--border:#8a94a6;--line:#5b667a;--text:#1b2330;--soft:#5b667a;--guard:#8a4b00}
@media (prefers-color-scheme:dark){
svg{--page:#161b24;--state:#212938;--border:#7c889c;--line:#9aa6b8;--text:#eef1f6;--soft:#a9b4c5;--guard:#f0b266}}
text{font-family:Helvetica,Arial,sans-serif;font-size:${SIZES.text}px;fill:var(--text)}
.name{font-size:${SIZES.name}px;font-weight:600}
.soft{fill:var(--soft)}.guard{fill:var(--guard)}
.root{fill:var(--page);stroke:var(--border)}
.state,.final{fill:var(--state);stroke:var(--border);stroke-width:1.5}
.rule{stroke:var(--border);stroke-width:.75}
.inner{fill:none;stroke:var(--border)}
.dot,.head{fill:var(--line)}
.edge{fill:none;stroke:var(--line);stroke-width:1.25}
.label{fill:var(--page)}`;

/** Draws a statechart as an SVG document, with its transitions in words for readers who do not see it. */
export function drawSvg(chart: Statechart): string {
  const { id, title, width, height, nodes, edges } = chart;
  const placed = edges.filter(({ points }) => points.length > 0);
  // Transitions that share a line draw it once.
  const lines = new Map(placed.map((edge) => [`${edge.from} -> ${edge.to}`, edge.points]));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">Statechart: ${escape(title)}</title>`,
    `<desc id="desc">${escape(describe(chart))}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<defs><marker id="${id}-head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 1L10 5L0 9z"/></marker></defs>`,
    ...nodes.map((node) => drawNode(node, chart)),
    ...[...lines.values()].map(
      (points) => `<path class="edge" d="${toPath(points)}" marker-end="url(#${id}-head)"/>`,
    ),
    ...placed.map(drawLabelBox),
    ...edges.map(drawLabel),
    '</svg>',
  ]
    .filter((line) => line !== '')
    .join('\n')}\n`;
}

function drawNode({ id, key, kind, x, y, width, height, lines }: ChartNode, chart: Statechart): string {
  if (kind === 'initial') {
    return `<circle class="dot" cx="${x + width / 2}" cy="${y + height / 2}" r="${width / 2}"/>`;
  }
  const hasRule =
    lines.length > 0 || chart.edges.some(({ from, points }) => from === id && points.length === 0);
  const rule = y + SIZES.header;
  const name = kind === 'root' ? chart.title : key;
  const isBare = kind !== 'root' && !hasRule;
  const at = isBare
    ? `x="${x + width / 2}" y="${y + height / 2 + 4.5}" text-anchor="middle"`
    : `x="${x + SIZES.padding}" y="${y + 20}"`;
  return [
    `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${kind === 'root' ? 12 : 8}"/>`,
    kind === 'final'
      ? `<rect class="inner" x="${x + 3}" y="${y + 3}" width="${width - 6}" height="${height - 6}" rx="5"/>`
      : '',
    `<text class="name" ${at}>${escape(name)}</text>`,
    hasRule && kind !== 'root' ? `<path class="rule" d="M${x} ${rule}H${x + width}"/>` : '',
    ...lines.map((line, index) => {
      const bottom = y + SIZES.header + (index + 1) * SIZES.line;
      return `<text class="soft" x="${x + SIZES.padding}" y="${bottom}">${escape(line)}</text>`;
    }),
  ].join('');
}

function drawLabelBox({ labelBox }: ChartEdge): string {
  if (labelBox === null) return '';
  const { x, y, width, height } = labelBox;
  return `<rect class="label" x="${x}" y="${y}" width="${width}" height="${height}" rx="3"/>`;
}

/** The event in the colour of text, its condition and its actions in others. */
function drawLabel({ label, labelBox, points }: ChartEdge): string {
  if (labelBox === null) return '';
  const { x, y, width, height } = labelBox;
  const [, event = '', guard = '', actions = ''] = /^([^[/]*)(\[.*\])?(.*)$/.exec(label) ?? [];
  const parts = [
    escape(event),
    guard === '' ? '' : `<tspan class="guard">${escape(guard)}</tspan>`,
    actions === '' ? '' : `<tspan class="soft">${escape(actions)}</tspan>`,
  ];
  const isInState = points.length === 0;
  const at = isInState ? `x="${x + 4}"` : `x="${x + width / 2}" text-anchor="middle"`;
  return `<text ${at} y="${y + height - 5}">${parts.join('')}</text>`;
}

/** A line through these points, with round bends. */
function toPath(points: ChartEdge['points']): string {
  const [start, ...rest] = points;
  if (start === undefined) return '';
  const steps = rest.map((point, index) => {
    const before = points[index] ?? point;
    const after = rest[index + 1];
    if (after === undefined) return `L${point.join(' ')}`;
    return `L${towards(point, before).join(' ')}Q${point.join(' ')} ${towards(point, after).join(' ')}`;
  });
  return `M${start.join(' ')}${steps.join('')}`;
}

/** The point where the bend begins or ends: a little away from its corner, at most halfway to the other point. */
function towards([x, y]: ChartEdge['points'][number], [toX, toY]: ChartEdge['points'][number]): number[] {
  const length = Math.abs(toX - x) + Math.abs(toY - y);
  const part = length === 0 ? 0 : Math.min(BEND, length / 2) / length;
  return [x + (toX - x) * part, y + (toY - y) * part].map((value) => Math.round(value * 2) / 2);
}

function describe({ nodes, edges }: Statechart): string {
  const names = new Map(
    nodes.map(({ id, key, kind }) => [id, kind === 'initial' ? 'the start' : `"${key}"`]),
  );
  const states = nodes.filter(({ kind }) => kind === 'state' || kind === 'final');
  const transitions = edges.map(({ from, to, label }) => {
    const on = label === '' ? '' : ` on ${label}`;
    return from === to
      ? `${names.get(from)} stays${on}`
      : `${names.get(from)} leads to ${names.get(to)}${on}`;
  });
  return `States: ${states.map(({ id }) => names.get(id)).join(', ')}. Transitions: ${transitions.join('; ')}.`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
