import type { StateNode } from 'xstate';
import { planMachine } from '../machines/plan.js';
import { runMachine } from '../machines/run.js';

/** The machines as Mermaid state diagrams, drawn from the machines themselves. */
export function machineCharts(): Record<string, string> {
  return {
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
    ...states.flatMap((state) => transitionsOf(state).map((line) => `  ${line}`)),
    ...states.filter((state) => state.type === 'final').map((state) => `  ${state.key} --> [*]`),
    ...states.filter((state) => state.tags.some((tag) => tag !== state.key)).map(reading),
    '',
  ].join('\n');
}

// The machine's own definition leaves out `always` transitions: the state node has them all.
function transitionsOf(state: AnyNode): string[] {
  const all = [...state.transitions.values()].flat().concat(state.always ?? []);
  return all.map((transition) => {
    const target = transition.target?.[0]?.key ?? state.key;
    const guard = nameOf(transition.guard);
    const actions = transition.actions.map(nameOf).join(', ');
    return `${state.key} --> ${target}: ${transition.eventType}${guard && ` [${guard}]`}${actions && ` / ${actions}`}`;
  });
}

function reading(state: AnyNode): string {
  return `  note right of ${state.key}: reads ${state.tags.join(', ')}`;
}

function nameOf(named: unknown): string {
  if (typeof named === 'string') return named;
  if (typeof named === 'object' && named !== null && 'type' in named) return String(named.type);
  return '';
}
