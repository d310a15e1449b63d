import type { Template } from '../definition/template/template.js';
import type { Pipeline, Task } from './pipeline.js';

/** A pipeline as waves and arrows: what the renderers draw, and what `graph --json` prints. */
export interface Graph {
  readonly id: string;
  readonly goal: string;
  readonly waves: readonly (readonly GraphTask[])[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphTask {
  readonly id: string;
  readonly tool: string;
  readonly fan_out: boolean;
}

/** `from` runs before `to`: a template reads its output, or `await` alone says so (rules 5 and 6). */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'template' | 'await';
}

export function graphOf(pipeline: Pipeline): Graph {
  const { definition, tasks, waves } = pipeline;
  const tasksOf = (ids: readonly string[]): GraphTask[] =>
    ids.flatMap((id) => {
      const task = tasks.get(id);
      return task === undefined ? [] : [{ id, tool: task.tool.name, fan_out: task.over !== undefined }];
    });
  return {
    id: definition.id,
    goal: definition.goal,
    waves: waves.map(tasksOf),
    edges: definition.tasks.flatMap(({ id, await: barriers = [] }) =>
      edgesOf(tasks.get(id), new Set(barriers)),
    ),
  };
}

function edgesOf(task: Task | undefined, barriers: ReadonlySet<string>): GraphEdge[] {
  if (task === undefined) return [];
  const read = new Set([task.inputs, task.over].flatMap((template) => rootsOf(template)));
  return task.upstream.map((from) => {
    const kind = barriers.has(from) && !read.has(from) ? 'await' : 'template';
    return { from, to: task.id, kind };
  });
}

function rootsOf(template: Template | undefined): string[] {
  return (template?.expressions ?? []).map(({ expression }) => expression.root);
}

/** A Mermaid flow chart, a subgraph for each wave. */
export function mermaid({ id, waves, edges }: Graph): string {
  const names = new Map(waves.flat().map((task, index) => [task.id, `t${index}`]));
  const lines = waves.flatMap((wave, index) => [
    `  subgraph w${index + 1} ["wave ${index + 1}"]`,
    ...wave.map((task) => `    ${names.get(task.id)}${mermaidShape(task)}`),
    '  end',
  ]);
  const arrows = edges.map(({ from, to, kind }) => {
    const arrow = kind === 'await' ? '-.->' : '-->';
    return `  ${names.get(from)} ${arrow} ${names.get(to)}`;
  });
  return mermaidChart(id, [...lines, ...arrows]);
}

/** A Mermaid flow chart of these lines. */
export function mermaidChart(id: string, lines: readonly string[]): string {
  return ['---', `title: ${JSON.stringify(id)}`, '---', 'flowchart LR', ...lines, ''].join('\n');
}

function mermaidShape(task: GraphTask): string {
  const label = `"${mermaidText(task.id)}<br/>${mermaidText(toolLabel(task))}"`;
  return task.fan_out ? `[[${label}]]` : `[${label}]`;
}

/** Mermaid writes characters by their number, between # and ; */
export function mermaidText(text: string): string {
  return text.replace(/[^\w .:/()-]/gu, (character) => `#${character.codePointAt(0)};`);
}

/** A Graphviz digraph, a rank for each wave. */
export function dot({ id, waves, edges }: Graph): string {
  const lines = waves.flatMap((wave, index) => [
    `  { rank=same; ${dotText(waveName(index))} [shape=plaintext];`,
    ...wave.map((task) => `    ${dotText(task.id)}${dotShape(task)};`),
    '  }',
  ]);
  const order =
    waves.length < 2
      ? []
      : [`  ${waves.map((_, index) => dotText(waveName(index))).join(' -> ')} [style=invis];`];
  const arrows = edges.map(({ from, to, kind }) => {
    const style = kind === 'await' ? ' [style=dashed]' : '';
    return `  ${dotText(from)} -> ${dotText(to)}${style};`;
  });
  return dotChart(id, [...lines, ...order, ...arrows]);
}

/** A Graphviz digraph of these lines. */
export function dotChart(id: string, lines: readonly string[]): string {
  const head = [`digraph ${dotText(id)} {`, '  rankdir=LR;', '  node [shape=box, style=rounded];'];
  return [...head, ...lines, '}', ''].join('\n');
}

function dotShape(task: GraphTask): string {
  const label = dotText(`${task.id}\n${toolLabel(task)}`);
  return ` [label=${label}${task.fan_out ? ', peripheries=2' : ''}]`;
}

/** The blank keeps it apart from every task id. */
function waveName(index: number): string {
  return `wave ${index + 1}`;
}

/** Text as Graphviz quotes it. */
export function dotText(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\r?\n/g, '\\n')}"`;
}

/** A task names no more of those before it. */
const MOST_NAMED = 4;
const GAP = '   ';

/** Waves as columns side by side, as many to a row of columns as fit into `columns`. */
export function text(graph: Graph, columns: number): string {
  const upstream = new Map(graph.waves.flat().map(({ id }) => [id, [] as GraphEdge[]]));
  for (const edge of graph.edges) upstream.get(edge.to)?.push(edge);
  const blocks = graph.waves.map((wave, index) => [
    `wave ${index + 1}`,
    ...wave.flatMap((task) => [
      '',
      task.id,
      `  ${toolLabel(task)}`,
      ...beforeLines(upstream.get(task.id) ?? []),
    ]),
  ]);
  return inColumns(blocks, columns);
}

/** Blocks of lines side by side, as many to a row as fit into `columns`. */
export function inColumns(blocks: readonly (readonly string[])[], columns: number): string {
  return `${rowsThatFit(blocks, columns).map(sideBySide).join('\n\n')}\n`;
}

function beforeLines(edges: readonly GraphEdge[]): string[] {
  const named = edges
    .slice(0, MOST_NAMED)
    .map(({ from, kind }) => `  <- ${from}${kind === 'await' ? ' (await)' : ''}`);
  const more = edges.length - named.length;
  return more > 0 ? [...named, `  <- ${more} more`] : named;
}

type Block = readonly string[];

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

function toolLabel({ tool, fan_out }: GraphTask): string {
  return fan_out ? `${tool} for each item` : tool;
}
