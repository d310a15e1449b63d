/** A Mermaid chart of these lines. */
export function mermaidChart(id: string, lines: readonly string[]): string {
  return ['---', `title: ${JSON.stringify(id)}`, '---', 'flowchart LR', ...lines, ''].join('\n');
}

/** Mermaid writes characters by their number, between # and ; */
export function mermaidText(text: string): string {
  return text.replace(/[^\w .:/()-]/gu, (character) => `#${character.codePointAt(0)};`);
}

/** A Graphviz digraph of these lines. */
export function dotChart(id: string, lines: readonly string[]): string {
  const head = [`digraph ${dotText(id)} {`, '  rankdir=LR;', '  node [shape=box, style=rounded];'];
  return [...head, ...lines, '}', ''].join('\n');
}

/** Text as Graphviz quotes it. */
export function dotText(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\r?\n/g, '\\n')}"`;
}

/** A box names no more of those before it. */
const MOST_NAMED = 4;

/** Lines that name those before a box; past the first few they are counted. */
export function beforeLines<T>(edges: readonly T[], nameOf: (edge: T) => string): string[] {
  const named = edges.slice(0, MOST_NAMED).map((edge) => `  <- ${nameOf(edge)}`);
  const more = edges.length - named.length;
  return more > 0 ? [...named, `  <- ${more} more`] : named;
}

type Block = readonly string[];

const GAP = '   ';

/** Blocks of lines side by side, as many to a row as fit into `columns`. */
export function inColumns(blocks: readonly Block[], columns: number): string {
  return `${rowsThatFit(blocks, columns).map(sideBySide).join('\n\n')}\n`;
}

function rowsThatFit(blocks: readonly Block[], columns: number): Block[][] {
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

function sideBySide(blocks: readonly Block[]): string {
  const widths = blocks.map(widthOfBlock);
  const height = blocks.reduce((most, block) => Math.max(most, block.length), 0);
  return Array.from({ length: height }, (_, line) =>
    blocks
      .map((block, index) => (block[line] ?? '').padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  ).join('\n');
}

function widthOfBlock(block: Block): number {
  return block.reduce((most, line) => Math.max(most, line.length), 0);
}
