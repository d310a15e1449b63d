import { escapeMarkup, formatCount } from '../common/text.js';
import type { Steps } from '../common/scheduling/steps.js';
import {
  type SvgBox,
  type SvgEdge,
  type GraphTone,
  toSvgEdge,
  writeGraphSvg,
} from '../pipelines/drawing/graph-svg.js';
import type { DefinitionGraph } from '../plans/graph.js';
import type { TaskRecord } from '../runs/tasks/task-record.js';
import { describeCallState, toneOfCall } from './calls.js';
import type { ReportData } from './report-data.js';
import { REPORT_LIMITS } from './report-limits.js';

/** Columns of boxes that fit on the page. */
const MAX_COLUMNS = 5;

/** Draws the tasks of a run with their states; of a plan, its sub-pipelines, and then the tasks of each of them. */
export function* writeGraphs({ run, tasks, graph }: ReportData): Steps<string[]> {
  if (run.sub_pipelines === null) {
    const drawn = graph?.kind === 'pipeline' ? graph.graph : undefined;
    return [yield* writeTasks(run.pipeline_id, run.goal, tasks, drawn)];
  }
  const parts: string[] = [];
  if (graph?.kind === 'plan') parts.push(yield* writePlan(graph, run));
  const groups = groupTasks(tasks);
  const statuses = Object.entries(run.sub_pipelines);
  for (const [id, status] of statuses.slice(0, REPORT_LIMITS.graphs)) {
    const own = groups.get(id) ?? [];
    const drawn =
      graph?.kind === 'plan' && Object.hasOwn(graph.pipelines, id) ? graph.pipelines[id] : undefined;
    const isOpen = status === 'failed' || status === 'running' || statuses.length <= 3;
    parts.push(
      `<details${isOpen ? ' open' : ''}><summary><code>${escapeMarkup(id)}</code> <span class="soft">${status ?? 'not started'}, ${formatCount(own.length, 'task')}</span></summary>`,
      ...(own.length === 0 ? [] : [yield* writeTasks(id, '', own, drawn)]),
      '</details>',
    );
  }
  const more = statuses.length - REPORT_LIMITS.graphs;
  if (more > 0) parts.push(`<p class="soft">and ${formatCount(more, 'sub-pipeline')} more, not drawn</p>`);
  return parts;
}

function groupTasks(tasks: readonly TaskRecord[]): Map<string, TaskRecord[]> {
  const groups = new Map<string, TaskRecord[]>();
  for (const task of tasks) {
    const id = task.sub_pipeline ?? '';
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [task]);
    else group.push(task);
  }
  return groups;
}

type PipelineGraph = Extract<DefinitionGraph, { readonly kind: 'pipeline' }>['graph'];

function* writeTasks(
  id: string,
  goal: string,
  tasks: readonly TaskRecord[],
  graph: PipelineGraph | undefined,
): Steps<string> {
  const fanOuts = new Set(
    graph?.waves.flat().flatMap((task) => (task.fan_out ? [task.id] : [])) ??
      tasks.flatMap(({ task_id: taskId, items }) => (items === null ? [] : [taskId])),
  );
  const waves: SvgBox[][] = [];
  for (const task of tasks) {
    while (waves.length <= task.wave) waves.push([]);
    waves[task.wave]?.push({
      id: task.task_id,
      detail: task.tool,
      isStack: fanOuts.has(task.task_id),
      state: { tone: toneOfCall(task), text: describeCallState(task, false) },
    });
  }
  const shown = waves.filter((wave) => wave.length > 0);
  const edges = (graph?.edges ?? []).map((edge) => toSvgEdge(edge));
  return yield* drawScrolled(id, goal, shown, edges);
}

const PART_TONES: Readonly<Record<string, GraphTone>> = {
  succeeded: 'done',
  failed: 'failed',
  cancelled: 'stopped',
  running: 'active',
  queued: 'waiting',
  skipped: 'stopped',
};

function* writePlan(
  { plan }: Extract<DefinitionGraph, { readonly kind: 'plan' }>,
  { sub_pipelines, skipped = [] }: ReportData['run'],
): Steps<string> {
  const statuses = sub_pipelines ?? {};
  const reasons = new Map(
    skipped.map((each) => [each.task_id === undefined && each.sub_pipeline, each.reason]),
  );
  const waves = plan.waves.map((wave) =>
    wave.map(({ id, tasks }) => {
      const status = (Object.hasOwn(statuses, id) ? statuses[id] : null) ?? 'not started';
      return {
        id,
        detail: formatCount(tasks, 'task'),
        isStack: false,
        state: {
          tone: PART_TONES[status] ?? 'waiting',
          text: [status, ...(reasons.has(id) ? [reasons.get(id)] : [])].join(': '),
        },
      };
    }),
  );
  const edges = plan.edges.map(({ from, to, keys }) => {
    return { from, to, isDashed: false, title: `${to} reads from ${from}: ${keys.slice(0, 20).join(', ')}` };
  });
  return yield* drawScrolled(plan.id, plan.goal, waves, edges);
}

function* drawScrolled(id: string, goal: string, waves: SvgBox[][], edges: SvgEdge[]): Steps<string> {
  const svg = yield* writeGraphSvg({ id, goal, waves, edges }, { isAlone: false, maxColumns: MAX_COLUMNS });
  return `<div class="scroll" tabindex="0">${svg}</div>`;
}
