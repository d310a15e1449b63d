import type { Template } from '../definition/template/template.js';
import { beforeLines, dotChart, dotText, inColumns, mermaidChart, mermaidText } from './chart.js';
import { entryOf } from './suggestions.js';
import type { Pipeline, Task } from './pipeline.js';

/** A pipeline as waves and arrows: what the renderers draw, and what `graph --json` prints. */
export interface Graph {
  readonly id: string;
  readonly goal: string;
  readonly waves: readonly (readonly GraphTask[])[];
  readonly edges: readonly GraphEdge[];
}

interface GraphTask {
  readonly id: string;
  readonly tool: string;
  readonly fan_out: boolean;
}

/** `from` runs before `to`: a template reads its output, or `await` alone says so (rules 5 and 6). */
interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'template' | 'await';
}

export function graphOf(pipeline: Pipeline): Graph {
  const { definition, tasks, waves } = pipeline;
  const tasksOf = (ids: readonly string[]): GraphTask[] =>
    ids.map((id) => {
      const { tool, over } = entryOf(tasks, id);
      return { id, tool: tool.name, fan_out: over !== undefined };
    });
  return {
    id: definition.id,
    goal: definition.goal,
    waves: waves.map(tasksOf),
    edges: definition.tasks.flatMap(({ id, await: barriers = [] }) =>
      edgesOf(entryOf(tasks, id), new Set(barriers)),
    ),
  };
}

function edgesOf(task: Task, barriers: ReadonlySet<string>): GraphEdge[] {
  const read = new Set([task.inputs, task.over].flatMap((template) => rootsOf(template)));
  return task.upstream.map((from) => {
    const kind = barriers.has(from) && !read.has(from) ? 'await' : 'template';
    return { from, to: task.id, kind };
  });
}

function rootsOf(template: Template | undefined): string[] {
  return (template?.expressions ?? []).map(({ expression }) => expression.root);
}

/** A Mermaid chart, a subgraph for each wave. */
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

function mermaidShape(task: GraphTask): string {
  const label = `"${mermaidText(task.id)}<br/>${mermaidText(toolLabel(task))}"`;
  return task.fan_out ? `[[${label}]]` : `[${label}]`;
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

function dotShape(task: GraphTask): string {
  const label = dotText(`${task.id}\n${toolLabel(task)}`);
  return ` [label=${label}${task.fan_out ? ', peripheries=2' : ''}]`;
}

/** The blank keeps it apart from every task id. */
function waveName(index: number): string {
  return `wave ${index + 1}`;
}

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
      ...beforeLines(upstream.get(task.id) ?? [], nameOf),
    ]),
  ]);
  return inColumns(blocks, columns);
}

function nameOf({ from, kind }: GraphEdge): string {
  return kind === 'await' ? `${from} (await)` : from;
}

function toolLabel({ tool, fan_out }: GraphTask): string {
  return fan_out ? `${tool} for each item` : tool;
}
