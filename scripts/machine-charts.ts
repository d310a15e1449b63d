import type { StateNode } from 'xstate';
import { compileMachine } from '../machines/compile.js';
import { planMachine } from '../machines/plan.js';
import { runMachine } from '../machines/run.js';

/** Generates Mermaid state diagrams from the machines. */
export function generateCharts(): Record<string, string> {
  return {
    'docs/machines/compile.mmd': chart(compileMachine.root as unknown as AnyNode),
    'docs/machines/plan.mmd': chart(planMachine.root as unknown as AnyNode),
    'docs/machines/run.mmd': chart(runMachine.root as unknown as AnyNode),
  };
}

type AnyNode = StateNode;

function chart(root: AnyNode): string {
  const states = Object.values(root.states) as AnyNode[];
  return [
    '%% Generated from machines/ by "npm run generate".',
    'stateDiagram-v2',
    `  [*] --> ${String(root.initial.target[0]?.key)}`,
    ...states.filter((state) => state.entry.length > 0).map((state) => `  ${formatEntry(state)}`),
    ...states.flatMap((state) => formatTransitions(state).map((line) => `  ${line}`)),
    ...states.filter((state) => state.type === 'final').map((state) => `  ${state.key} --> [*]`),
    ...states.filter((state) => state.tags.some((tag) => tag !== state.key)).map(formatTags),
    '',
  ].join('\n');
}

/** What a state does when it is entered. */
function formatEntry(state: AnyNode): string {
  return `${state.key}: ${state.key} / ${state.entry.map(readName).join(', ')}`;
}

// `machine.definition` omits `always` transitions; the state node has all of them.
function formatTransitions(state: AnyNode): string[] {
  const all = [...state.transitions.values()].flat().concat(state.always ?? []);
  return all.map((transition) => {
    const target = transition.target?.[0]?.key ?? state.key;
    const guard = readName(transition.guard);
    const actions = transition.actions.map(readName).join(', ');
    return `${state.key} --> ${target}: ${transition.eventType}${guard && ` [${guard}]`}${actions && ` / ${actions}`}`;
  });
}

function formatTags(state: AnyNode): string {
  return `  note right of ${state.key}: reads ${state.tags.join(', ')}`;
}

function readName(named: unknown): string {
  if (typeof named === 'string') return named;
  if (typeof named === 'object' && named !== null && 'type' in named) return String(named.type);
  return '';
}
