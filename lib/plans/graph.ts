import { abbreviate } from '../definition/problem.js';
import { getOrThrow } from '../definition/assert.js';
import {
  upstreamLines,
  dotChart,
  quoteDot,
  layoutColumns,
  mermaidChart,
  escapeMermaid,
} from '../pipelines/chart.js';
import type { Plan } from './plan.js';

/** A plan as waves of sub-pipelines and edges: the input of the renderers, and what `graph --json` prints. */
export interface PlanGraph {
  readonly id: string;
  readonly goal: string;
  readonly waves: readonly (readonly PlanGraphPart[])[];
  readonly edges: readonly PlanGraphEdge[];
}

interface PlanGraphPart {
  readonly id: string;
  /** Number of tasks. */
  readonly tasks: number;
}

/** `to` reads keys that `from` stores, so it runs after it (Plan, rule 1). */
interface PlanGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

export function createPlanGraph({ definition, statistics, subPipelines }: Plan): PlanGraph {
  const { id, goal, wave_ids } = statistics;
  const writers = new Map(statistics.keys.map(({ key, stored_by }) => [key, stored_by]));
  return {
    id,
    goal,
    waves: wave_ids.map((ids) =>
      ids.map((part) => ({ id: part, tasks: getOrThrow(subPipelines, part).pipeline.tasks.size })),
    ),
    edges: definition.sub_pipelines.flatMap(({ id: to }) =>
      listEdgesTo(to, getOrThrow(subPipelines, to).reads, writers),
    ),
  };
}

function listEdgesTo(
  to: string,
  reads: readonly string[],
  writers: ReadonlyMap<string, string | null>,
): PlanGraphEdge[] {
  const keys = new Map<string, string[]>();
  for (const key of reads) {
    const from = getOrThrow(writers, key);
    if (from === null || from === to) continue;
    const keysOfEdge = keys.get(from);
    if (keysOfEdge === undefined) keys.set(from, [key]);
    else keysOfEdge.push(key);
  }
  return [...keys].map(([from, read]) => ({ from, to, keys: read }));
}

/** Renders a Mermaid chart of the sub-pipelines; the label of an edge names its keys. */
export function renderPlanMermaid({ id, waves, edges }: PlanGraph): string {
  const parts = waves.flat();
  const names = new Map(parts.map((part, index) => [part.id, `p${index}`]));
  const boxes = parts.map(
    (part) => `  ${names.get(part.id)}["${escapeMermaid(part.id)}<br/>${formatTaskCount(part)}"]`,
  );
  const arrows = edges.map(
    ({ from, to, keys }) =>
      `  ${names.get(from)} -->|"${escapeMermaid(abbreviate(keys).join(', '))}"| ${names.get(to)}`,
  );
  return mermaidChart(id, [...boxes, ...arrows]);
}

/** Renders a Graphviz digraph of the sub-pipelines. */
export function renderPlanDot({ id, waves, edges }: PlanGraph): string {
  const boxes = waves
    .flat()
    .map((part) => `  ${quoteDot(part.id)} [label=${quoteDot(`${part.id}\n${formatTaskCount(part)}`)}];`);
  const arrows = edges.map(
    ({ from, to, keys }) =>
      `  ${quoteDot(from)} -> ${quoteDot(to)} [label=${quoteDot(abbreviate(keys).join('\n'))}];`,
  );
  return dotChart(id, [...boxes, ...arrows]);
}

/** Renders the waves side by side as text, as many in a row as fit into `columns`. */
export function renderPlanText({ waves, edges }: PlanGraph, columns: number): string {
  const upstream = new Map(waves.flat().map(({ id }) => [id, [] as PlanGraphEdge[]]));
  for (const edge of edges) upstream.get(edge.to)?.push(edge);
  return layoutColumns(
    waves.map((wave, index) => [
      `wave ${index + 1}`,
      ...wave.flatMap((part) => [
        '',
        part.id,
        `  ${formatTaskCount(part)}`,
        ...upstreamLines(upstream.get(part.id) ?? [], formatEdge),
      ]),
    ]),
    columns,
  );
}

function formatEdge({ from, keys }: PlanGraphEdge): string {
  return `${from}: ${abbreviate(keys).join(', ')}`;
}

function formatTaskCount({ tasks }: PlanGraphPart): string {
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
}
