import type { Statechart } from '../../lib/runs/inspection/statechart.js';
import { compileMachine } from '../../machines/compile.js';
import { fanOutChart } from '../../machines/fan-out/fan-out.js';
import { chunkChart, itemChart } from '../../machines/fan-out/item-actors.js';
import { planMachine } from '../../machines/plan.js';
import { runMachine } from '../../machines/run.js';
import { subRunsChart } from '../../machines/sub-runs.js';
import { taskChart } from '../../machines/task.js';
import { waveChart } from '../../machines/wave.js';
import { type ChartDescription, describeLogic, describeMachine } from './describe.js';
import { layoutChart } from './layout.js';
import { drawSvg } from './svg.js';

/** The charts of all actors, from the outermost to the innermost; the machine of compilations stands alone. */
export const DESCRIPTIONS: readonly ChartDescription[] = [
  describeMachine('plan', planMachine),
  describeLogic('sub-runs', 'sub-runs of a plan', subRunsChart),
  describeMachine('run', runMachine),
  describeLogic('wave', 'wave', waveChart),
  describeLogic('task', 'task', taskChart),
  describeLogic('fan-out', 'fan-out', fanOutChart),
  describeLogic('item', 'item of a fan-out', itemChart),
  describeLogic('chunk', 'chunk of a large fan-out', chunkChart),
  describeMachine('compile', compileMachine),
];

/** Lays out all charts, for those who draw them with the states of actors in them. */
export function createStatecharts(): Promise<Statechart[]> {
  return Promise.all(DESCRIPTIONS.map((description) => layoutChart(description)));
}

/** Draws all charts for the documents: path to content. */
export async function drawStatecharts(): Promise<Record<string, string>> {
  const charts = await createStatecharts();
  return Object.fromEntries(charts.map((chart) => [`docs/machines/${chart.id}.svg`, drawSvg(chart)]));
}
