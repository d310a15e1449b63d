import type { AnyTransitionDefinition } from 'xstate';
import { fanOutChart } from '../../../machines/fan-out/fan-out.js';
import { chunkChart, itemChart } from '../../../machines/fan-out/item-actors.js';
import type { LogicChart } from '../../../machines/logic.js';
import { subRunsChart } from '../../../machines/sub-runs.js';
import { taskChart } from '../../../machines/task.js';
import { waveChart } from '../../../machines/wave.js';

/** The charts of the hand-written logics, by the `src` of their actors. All other actors are machines of XState. */
const LOGIC_CHARTS: ReadonlyMap<string, LogicChart<string, string>> = new Map(
  Object.entries<LogicChart<string, string>>({
    'sub-runs': subRunsChart,
    wave: waveChart,
    task: taskChart,
    'fan-out': fanOutChart,
    item: itemChart,
    chunk: chunkChart,
  }),
);

/**
 * Names a transition, in drawings and in the entries of an inspection.
 *
 * @param state id of the state that it leaves
 * @param event empty when it needs none
 * @param index its place among the transitions of that state for that event, from 0
 */
export function formatTransitionId(state: string, event: string, index: number): string {
  return `${state}:${event}:${index}`;
}

/** The id of the dot from which the first transitions of a state start. */
export function initialIdOf(state: string): string {
  return `${state}.(initial)`;
}

export function idOfTransition(transition: AnyTransitionDefinition): string {
  const { source, eventType } = transition;
  const candidates = (eventType === '' ? source.always : source.transitions.get(eventType)) ?? [];
  return formatTransitionId(source.id, eventType, candidates.indexOf(transition));
}

/** Names the transition with which an actor begins: of a machine, there is one. */
export function idOfFirstTransition(src: string, to: string): string | null {
  const chart = LOGIC_CHARTS.get(src);
  const index = chart === undefined ? 0 : listStates(chart.initial).indexOf(to);
  return index < 0 ? null : formatTransitionId(initialIdOf(src), '', index);
}

/**
 * Names the transition that a hand-written logic has made. Its chart has at most one for each event between two states, so
 * these suffice. Returns null for a machine, and when the chart has none.
 */
export function idOfLogicTransition(
  src: string,
  from: string | null,
  event: string,
  to: string,
): string | null {
  const on = LOGIC_CHARTS.get(src)?.states[from ?? ''];
  if (on === undefined || on === 'final') return null;
  for (const [type, targets = {}] of Object.entries(on)) {
    const isMeant = type.endsWith('*') ? event.startsWith(type.slice(0, -1)) : type === event;
    const index = isMeant ? listStates(targets).indexOf(to) : -1;
    if (index >= 0) return formatTransitionId(`${src}.${from}`, type, index);
  }
  return null;
}

function listStates(targets: string | { readonly [state: string]: string | undefined }): string[] {
  return typeof targets === 'string' ? [targets] : Object.keys(targets);
}
