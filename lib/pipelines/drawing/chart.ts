import { ellipsize, nameWave } from '../../common/text.js';

/** Wraps lines in a Mermaid flowchart. */
export function mermaidChart(id: string, lines: readonly string[]): string {
  return ['---', `title: ${JSON.stringify(id)}`, '---', 'flowchart LR', ...lines, ''].join('\n');
}

/** Escapes special characters as Mermaid does: `#35;`. */
export function escapeMermaid(text: string): string {
  return text.replace(/[^\w .:/()-]/gu, (character) => `#${character.codePointAt(0)};`);
}

/** Wraps lines in a Graphviz digraph. */
export function dotChart(id: string, lines: readonly string[]): string {
  const head = [`digraph ${quoteDot(id)} {`, '  rankdir=LR;', '  node [shape=box, style=rounded];'];
  return [...head, ...lines, '}', ''].join('\n');
}

export function quoteDot(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\r?\n/g, '\\n')}"`;
}

/** The waves of a pipeline or a plan as boxes, and the edges between them. */
interface Chart<Box, Edge> {
  readonly waves: readonly (readonly Box[])[];
  /** By wave, the list of handlers to which it belongs. */
  readonly wave_lists?: readonly (string | null)[];
  readonly edges: readonly Edge[];
}

/**
 * Renders the waves side by side as text, as many in a row as fit into `columns`.
 *
 * @param listFields gives the fields of what a box returns, of which its column shows as many as have room
 */
export function textChart<Box extends { readonly id: string }, Edge extends { readonly to: string }>(
  { waves, wave_lists: lists, edges }: Chart<Box, Edge>,
  formatBox: (box: Box) => string,
  formatEdge: (edge: Edge) => string,
  columns: number,
  listFields: (box: Box) => readonly string[] | undefined = () => undefined,
): string {
  const upstream = new Map(waves.flat().map(({ id }) => [id, [] as Edge[]]));
  for (const edge of edges) upstream.get(edge.to)?.push(edge);
  const blocks = waves.map((wave, index) => {
    const boxes = wave.map((box) => ({
      head: ['', box.id, `  ${formatBox(box)}`],
      fields: listFields(box),
      tail: formatUpstream(upstream.get(box.id) ?? [], formatEdge),
    }));
    const width = widthOfBlock(boxes.flatMap(({ head, tail }) => [...head, ...tail]));
    const lines = boxes.flatMap(({ head, fields, tail }) => [
      ...head,
      ...formatFields(fields, width),
      ...tail,
    ]);
    return [nameWave(index, lists?.[index]), ...lines];
  });
  return layoutColumns(blocks, columns);
}

/** Upstream boxes that are named; the others are counted. */
const MAX_NAMED = 4;

function formatUpstream<Edge>(edges: readonly Edge[], formatEdge: (edge: Edge) => string): string[] {
  const named = edges.slice(0, MAX_NAMED).map((edge) => `  <- ${formatEdge(edge)}`);
  const more = edges.length - named.length;
  return more > 0 ? [...named, `  <- ${more} more`] : named;
}

/** A column is not narrower for the fields of its boxes. */
const FIELDS_WIDTH = 24;

function formatFields(fields: readonly string[] | undefined, width: number): string[] {
  return fields === undefined ? [] : [ellipsize(`  -> ${fields.join(', ')}`, Math.max(width, FIELDS_WIDTH))];
}

type Block = readonly string[];

const GAP = '   ';

/** Lays out blocks of lines side by side, as many in a row as fit into `columns`. */
function layoutColumns(blocks: readonly Block[], columns: number): string {
  return `${splitIntoRows(blocks, columns).map(joinRow).join('\n\n')}\n`;
}

function splitIntoRows(blocks: readonly Block[], columns: number): Block[][] {
  const rows: Block[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    used += widthOfBlock(block) + GAP.length;
    if (used > columns + GAP.length) {
      rows.push([]);
      used = widthOfBlock(block) + GAP.length;
    }
    rows.at(-1)?.push(block);
  }
  return rows;
}

function joinRow(blocks: readonly Block[]): string {
  const widths = blocks.map(widthOfBlock);
  const height = blocks.reduce((most, block) => Math.max(most, block.length), 0);
  const joinLine = (_: unknown, line: number): string =>
    blocks.map((block, index) => (block[line] ?? '').padEnd(widths[index] ?? 0)).join(GAP);
  return Array.from({ length: height }, joinLine)
    .map((line) => line.trimEnd())
    .join('\n');
}

function widthOfBlock(block: Block): number {
  return block.reduce((most, line) => Math.max(most, line.length), 0);
}
