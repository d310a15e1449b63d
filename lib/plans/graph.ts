import { setOwn } from '../common/json/json.js';
import { runToEnd, type Steps } from '../common/scheduling/steps.js';
import { groupBy } from '../definition/group-by.js';
import { abbreviate } from '../definition/problems/problem.js';
import { getOrThrow } from '../definition/assert.js';
import { joinFirst } from '../common/text.js';
import { dotChart, escapeMermaid, mermaidChart, quoteDot, textChart } from '../pipelines/drawing/chart.js';
import {
  type SvgBox,
  type SvgEdge,
  toSvgBox,
  toSvgEdge,
  writeGraphSvg,
} from '../pipelines/drawing/graph-svg.js';
import {
  createGraphInSteps,
  dotLines,
  type Graph,
  mermaidLines,
  renderText,
} from '../pipelines/drawing/graph.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { Plan } from './plan.js';
import type { DefinitionGraphSchema, PlanGraphSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

/** A plan as waves of sub-pipelines and edges: the input of the renderers, and what `graph --json` prints. */
export interface PlanGraph extends Shape<typeof PlanGraphSchema> {}

type PlanGraphPart = PlanGraph['waves'][number][number];

/** `to` reads keys that `from` stores, so it runs after it (Plan, rule 1). */
type PlanGraphEdge = PlanGraph['edges'][number];

export function createPlanGraph(plan: Plan): PlanGraph {
  return runToEnd(createPlanGraphInSteps(plan));
}

export function* createPlanGraphInSteps(plan: Plan): Steps<PlanGraph> {
  const { definition, statistics, subPipelines, handlers } = plan;
  const { id, goal, wave_ids } = statistics;
  const writers = new Map<string, string | null>();
  for (const [index, { key, stored_by }] of statistics.keys.entries()) {
    writers.set(key, stored_by);
    if (index % KEYS_PER_STEP === 0) yield;
  }
  const waves = wave_ids.map((ids) =>
    ids.map((part) => ({ id: part, tasks: getOrThrow(subPipelines, part).pipeline.tasks.size })),
  );
  const edges: PlanGraphEdge[] = [];
  for (const { id: to } of definition.sub_pipelines) {
    yield;
    for (const edge of listEdgesTo(to, getOrThrow(subPipelines, to).reads, writers)) edges.push(edge);
  }
  const graph = { id, goal, waves, edges };
  return handlers === undefined ? graph : { ...graph, handlers: yield* createGraphInSteps(handlers) };
}

/** Keys of a plan that are looked at in one step. */
const KEYS_PER_STEP = 1000;

/** The definition of a run as data to draw: a pipeline, or a plan with the pipelines in it by sub-pipeline id. */
export type DefinitionGraph = Shape<typeof DefinitionGraphSchema>;

/** Draws a checked definition in steps: it may have thousands of tasks. */
export function* drawInSteps(
  definition: { readonly pipeline: Pipeline } | { readonly plan: Plan },
): Steps<DefinitionGraph> {
  if ('pipeline' in definition) {
    return { kind: 'pipeline', graph: yield* createGraphInSteps(definition.pipeline) };
  }
  const pipelines: Record<string, Graph> = {};
  for (const [id, { pipeline }] of definition.plan.subPipelines) {
    setOwn(pipelines, id, yield* createGraphInSteps(pipeline));
    yield;
  }
  return { kind: 'plan', plan: yield* createPlanGraphInSteps(definition.plan), pipelines };
}

type Writers = ReadonlyMap<string, string | null>;

function listEdgesTo(to: string, reads: readonly string[], writers: Writers): PlanGraphEdge[] {
  const keysByWriter = groupBy(reads, (key) => getOrThrow(writers, key));
  return [...keysByWriter].flatMap(([from, keys]) =>
    from === null || from === to ? [] : { from, to, keys },
  );
}

/** Renders a Mermaid chart of the sub-pipelines and the handlers; the label of an edge names its keys. */
export function renderPlanMermaid({ id, waves, edges, handlers }: PlanGraph): string {
  const parts = waves.flat();
  const names = new Map(parts.map((part, index) => [part.id, `p${index}`]));
  const boxes = parts.map(
    (part) => `  ${names.get(part.id)}["${escapeMermaid(part.id)}<br/>${formatTaskCount(part)}"]`,
  );
  const arrows = edges.map(
    ({ from, to, keys }) =>
      `  ${names.get(from)} -->|"${escapeMermaid(abbreviate(keys).join(', '))}"| ${names.get(to)}`,
  );
  return mermaidChart(id, [...boxes, ...arrows, ...(handlers ? mermaidLines(handlers) : [])]);
}

/** Renders a Graphviz digraph of the sub-pipelines and the handlers. */
export function renderPlanDot({ id, waves, edges, handlers }: PlanGraph): string {
  const boxes = waves
    .flat()
    .map((part) => `  ${quoteDot(part.id)} [label=${quoteDot(`${part.id}\n${formatTaskCount(part)}`)}];`);
  const arrows = edges.map(
    ({ from, to, keys }) =>
      `  ${quoteDot(from)} -> ${quoteDot(to)} [label=${quoteDot(abbreviate(keys).join('\n'))}];`,
  );
  return dotChart(id, [...boxes, ...arrows, ...(handlers ? dotLines(handlers) : [])]);
}

/** Renders the sub-pipelines and the handlers as SVG; the label of an edge names its keys. */
export function renderPlanSvg({ id, goal, waves, edges, handlers }: PlanGraph): string {
  const toBox = (part: PlanGraphPart): SvgBox => {
    return { id: part.id, detail: formatTaskCount(part), isStack: false };
  };
  const toEdge = ({ from, to, keys }: PlanGraphEdge): SvgEdge => {
    const title = `${to} reads from ${from}: ${abbreviate(keys).join(', ')}`;
    return { from, to, isDashed: false, label: joinFirst(keys, 1), title };
  };
  const { waves: handlerWaves = [], wave_lists: lists = [], edges: handlerEdges = [] } = handlers ?? {};
  const drawn = {
    id,
    goal,
    waves: [...waves.map((wave) => wave.map(toBox)), ...handlerWaves.map((wave) => wave.map(toSvgBox))],
    waveLists: [...waves.map(() => null), ...lists],
    edges: [...edges.map(toEdge), ...handlerEdges.map(toSvgEdge)],
  };
  return runToEnd(writeGraphSvg(drawn));
}

/** Renders the waves side by side as text, as many in a row as fit into `columns`. */
export function renderPlanText(graph: PlanGraph, columns: number): string {
  const formatEdge = ({ from, keys }: PlanGraphEdge): string => `${from}: ${abbreviate(keys).join(', ')}`;
  const chart = textChart(graph, formatTaskCount, formatEdge, columns);
  return graph.handlers === undefined ? chart : `${chart}\n${renderText(graph.handlers, columns)}`;
}

function formatTaskCount({ tasks }: PlanGraphPart): string {
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
}
