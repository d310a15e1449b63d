import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import { ellipsize, nameWave } from '../../common/text.js';
import { assertDefined } from '../../definition/assert.js';
import { HANDLER_LISTS } from '../../definition/schema/fields.js';
import { knownKeys } from '../../definition/shapes/missing-member.js';
import type { ShapeBudget, ValueShape } from '../../definition/shapes/shape.js';
import { PipelineShapes } from '../shapes/pipeline-shapes.js';
import { shapeSourceOf } from '../shapes/shape-source.js';
import { dotChart, escapeMermaid, mermaidChart, quoteDot, textChart } from './chart.js';
import type { Pipeline, Task } from '../pipeline.js';
import type { GraphSchema } from '../../common/wire/report.js';
import type { Shape } from '../../common/wire/shape.js';

/** A pipeline as waves and edges: the input of the renderers, and what `graph --json` prints. */
export interface Graph extends Shape<typeof GraphSchema> {}

type GraphTask = Graph['waves'][number][number];

/** `from` runs before `to`, because a template reads its output or `await` names it (rules 5 and 6). */
type GraphEdge = Graph['edges'][number];

export function createGraph(pipeline: Pipeline): Graph {
  return runToEnd(createGraphInSteps(pipeline));
}

/** Tasks and edges that are drawn in one step. */
const PARTS_PER_STEP = 200;

export function* createGraphInSteps(pipeline: Pipeline): Steps<Graph> {
  const { definition, templates } = pipeline;
  const waves = pipeline.allWaves;
  if (templates.needsSteps) yield* templates.compile();
  const shapes = new PipelineShapes(shapeSourceOf(pipeline));
  const graphWaves: GraphTask[][] = [];
  let count = 0;
  for (const wave of waves) {
    const drawn: GraphTask[] = [];
    for (const id of wave) {
      const { tool, parallelOver } = assertDefined(pipeline.allTasks.get(id), `task "${id}"`);
      const fields = listFields(shapes.ofCall(id), shapes.budget);
      drawn.push({ id, tool: tool.name, fan_out: parallelOver !== undefined, ...(fields && { fields }) });
      if (++count % PARTS_PER_STEP === 0) yield;
    }
    graphWaves.push(drawn);
  }
  const edges: GraphEdge[] = [];
  let parts = 0;
  const declared = [definition.tasks, ...HANDLER_LISTS.map((list) => definition[list] ?? [])].flat();
  for (const { id, await: awaits = [] } of declared) {
    const found = listEdges(assertDefined(pipeline.allTasks.get(id), `task "${id}"`), new Set(awaits));
    for (const edge of found) edges.push(edge);
    parts += 1 + found.length;
    if (parts < PARTS_PER_STEP) continue;
    parts = 0;
    yield;
  }
  const graph = { id: definition.id, goal: definition.goal, waves: graphWaves, edges };
  if (pipeline.handlers === undefined) return graph;
  return { ...graph, wave_lists: waves.map((_, wave) => pipeline.handlers?.lists[wave] ?? null) };
}

const MAX_FIELDS = 12;
const MAX_FIELD_LENGTH = 60;

function listFields(shape: ValueShape, budget: ShapeBudget): string[] | undefined {
  const keys = knownKeys(shape, budget).slice(0, MAX_FIELDS);
  return keys.length === 0 ? undefined : keys.map((key) => ellipsize(key, MAX_FIELD_LENGTH));
}

function listEdges(task: Task, awaits: ReadonlySet<string>): GraphEdge[] {
  const operands = [task.inputs, task.parallelOver].flatMap((template) => template?.operands ?? []);
  const read = new Set(operands.map(({ expression }) => expression.root));
  return task.upstream.map((from) => {
    const kind = awaits.has(from) && !read.has(from) ? 'await' : 'template';
    return { from, to: task.id, kind };
  });
}

/** Renders a Mermaid chart with a subgraph for each wave. */
export function renderMermaid(graph: Graph): string {
  return mermaidChart(graph.id, mermaidLines(graph));
}

export function mermaidLines({ waves, wave_lists: lists, edges }: Graph): string[] {
  const names = new Map(waves.flat().map((task, index) => [task.id, `t${index}`]));
  const lines = waves.flatMap((wave, index) => [
    `  subgraph w${index + 1} ["${nameWave(index, lists?.[index])}"]`,
    ...wave.map((task) => `    ${names.get(task.id)}${mermaidShape(task)}`),
    '  end',
  ]);
  const arrows = edges.map(({ from, to, kind }) => {
    const arrow = kind === 'await' ? '-.->' : '-->';
    return `  ${names.get(from)} ${arrow} ${names.get(to)}`;
  });
  return [...lines, ...arrows];
}

function mermaidShape(task: GraphTask): string {
  const label = `"${escapeMermaid(task.id)}<br/>${escapeMermaid(toolLabel(task))}"`;
  return task.fan_out ? `[[${label}]]` : `[${label}]`;
}

/** Renders a Graphviz digraph with a rank for each wave. */
export function renderDot(graph: Graph): string {
  return dotChart(graph.id, dotLines(graph));
}

export function dotLines({ waves, wave_lists: lists, edges }: Graph): string[] {
  // The index keeps the name of a list distinct, and the space that of a wave, from every task id.
  const waveName = (index: number): string =>
    lists?.[index] ? `${lists[index]} (${index + 1})` : nameWave(index);
  const lines = waves.flatMap((wave, index) => [
    `  { rank=same; ${quoteDot(waveName(index))} [shape=plaintext];`,
    ...wave.map((task) => `    ${quoteDot(task.id)}${dotShape(task)};`),
    '  }',
  ]);
  const ranks = waves.map((_, index) => quoteDot(waveName(index))).join(' -> ');
  const order = waves.length < 2 ? [] : [`  ${ranks} [style=invis];`];
  const arrows = edges.map(({ from, to, kind }) => {
    const style = kind === 'await' ? ' [style=dashed]' : '';
    return `  ${quoteDot(from)} -> ${quoteDot(to)}${style};`;
  });
  return [...lines, ...order, ...arrows];
}

function dotShape(task: GraphTask): string {
  const label = quoteDot(`${task.id}\n${toolLabel(task)}`);
  return ` [label=${label}${task.fan_out ? ', peripheries=2' : ''}]`;
}

/** Renders the waves side by side as text, as many in a row as fit into `columns`. */
export function renderText(graph: Graph, columns: number): string {
  const formatEdge = ({ from, kind }: GraphEdge): string => (kind === 'await' ? `${from} (await)` : from);
  return textChart(graph, toolLabel, formatEdge, columns, ({ fields }) => fields);
}

function toolLabel({ tool, fan_out }: GraphTask): string {
  return fan_out ? `${tool} for each item` : tool;
}
