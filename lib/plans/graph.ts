import { beforeLines, dotChart, dotText, inColumns, mermaidChart, mermaidText } from '../pipelines/chart.js';
import { entryOf, shortenedList } from '../pipelines/suggestions.js';
import type { Plan } from './plan.js';

/** A plan as waves of sub-pipelines and arrows: what the renderers draw, and what `graph --json` prints. */
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

/** `to` reads what `from` stores under these keys, and so runs after it (Plan, rule 1). */
interface PlanGraphEdge {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly string[];
}

export function planGraphOf({ definition, statistics, subPipelines }: Plan): PlanGraph {
  const { id, goal, wave_ids } = statistics;
  const writers = new Map(statistics.keys.map(({ key, stored_by }) => [key, stored_by]));
  return {
    id,
    goal,
    waves: wave_ids.map((ids) =>
      ids.map((part) => ({ id: part, tasks: entryOf(subPipelines, part).pipeline.tasks.size })),
    ),
    edges: definition.sub_pipelines.flatMap(({ id: to }) =>
      edgesTo(to, entryOf(subPipelines, to).reads, writers),
    ),
  };
}

function edgesTo(
  to: string,
  reads: readonly string[],
  writers: ReadonlyMap<string, string | null>,
): PlanGraphEdge[] {
  const keys = new Map<string, string[]>();
  for (const key of reads) {
    const from = entryOf(writers, key);
    if (from === null || from === to) continue;
    const known = keys.get(from);
    if (known === undefined) keys.set(from, [key]);
    else known.push(key);
  }
  return [...keys].map(([from, read]) => ({ from, to, keys: read }));
}

/** A Mermaid chart of the sub-pipelines; what an arrow hands on stands on it. */
export function planMermaid({ id, waves, edges }: PlanGraph): string {
  const parts = waves.flat();
  const names = new Map(parts.map((part, index) => [part.id, `p${index}`]));
  const boxes = parts.map(
    (part) => `  ${names.get(part.id)}["${mermaidText(part.id)}<br/>${tasksOf(part)}"]`,
  );
  const arrows = edges.map(
    ({ from, to, keys }) =>
      `  ${names.get(from)} -->|"${mermaidText(shortenedList(keys).join(', '))}"| ${names.get(to)}`,
  );
  return mermaidChart(id, [...boxes, ...arrows]);
}

/** The same for Graphviz. */
export function planDot({ id, waves, edges }: PlanGraph): string {
  const boxes = waves
    .flat()
    .map((part) => `  ${dotText(part.id)} [label=${dotText(`${part.id}\n${tasksOf(part)}`)}];`);
  const arrows = edges.map(
    ({ from, to, keys }) =>
      `  ${dotText(from)} -> ${dotText(to)} [label=${dotText(shortenedList(keys).join('\n'))}];`,
  );
  return dotChart(id, [...boxes, ...arrows]);
}

/** Waves as columns side by side, as many to a row of columns as fit into `columns`. */
export function planText({ waves, edges }: PlanGraph, columns: number): string {
  const before = new Map<string, PlanGraphEdge[]>();
  for (const edge of edges) {
    const known = before.get(edge.to);
    if (known === undefined) before.set(edge.to, [edge]);
    else known.push(edge);
  }
  return inColumns(
    waves.map((wave, index) => [
      `wave ${index + 1}`,
      ...wave.flatMap((part) => [
        '',
        part.id,
        `  ${tasksOf(part)}`,
        ...beforeLines(before.get(part.id) ?? [], nameOf),
      ]),
    ]),
    columns,
  );
}

function nameOf({ from, keys }: PlanGraphEdge): string {
  return `${from}: ${shortenedList(keys).join(', ')}`;
}

function tasksOf({ tasks }: PlanGraphPart): string {
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
}
