import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { LogicChart } from '../../machines/logic.js';
import type { ChartNode } from '../../lib/runs/inspection/statechart.js';
import { formatTransitionId, idOfTransition, initialIdOf } from '../../lib/runs/inspection/transition-id.js';

/** The states and transitions of a chart, before anybody knows where they are drawn. */
export interface ChartDescription {
  readonly id: string;
  readonly title: string;
  /** The root comes first: each state follows the one that contains it. */
  readonly states: readonly StateDescription[];
  readonly transitions: readonly TransitionDescription[];
}

interface StateDescription extends Pick<ChartNode, 'id' | 'key' | 'kind' | 'lines'> {
  /** Id of the containing state; undefined for the root. */
  readonly parent: string | undefined;
}

export interface TransitionDescription {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly label: string;
}

/**
 * Describes a machine of XState. It reads the nodes of the machine: the definition and the JSON that XState makes of them
 * leave out the transitions that need no event.
 */
export function describeMachine(title: string, machine: AnyStateMachine): ChartDescription {
  const states: StateDescription[] = [];
  const transitions: TransitionDescription[] = [];
  const visit = (node: AnyStateNode): void => {
    const kind = node.parent === undefined ? 'root' : node.type === 'final' ? 'final' : 'state';
    states.push({ id: node.id, key: node.key, kind, lines: linesOf(node), parent: node.parent?.id });
    // A state without states below it has no first one, whatever its type says.
    const first = Object.keys(node.states).length === 0 ? [] : (node.initial.target ?? []);
    if (first.length > 0) states.push(initialOf(node.id));
    for (const [index, target] of first.entries()) {
      transitions.push(firstTransition(node.id, target.id, index));
    }
    transitions.push(...transitionsOf(node));
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return { id: machine.root.id, title, states, transitions };
}

/** Describes a hand-written logic by its chart. */
export function describeLogic(
  id: string,
  title: string,
  { initial, states }: LogicChart<string, string>,
): ChartDescription {
  const idOf = (state: string): string => `${id}.${state}`;
  const described = Object.entries(states).map(([key, on]): StateDescription => {
    return { id: idOf(key), key, kind: on === 'final' ? 'final' : 'state', lines: [], parent: id };
  });
  const first = listTargets(initial).map(({ to, guard }, index) =>
    firstTransition(id, idOf(to), index, guard),
  );
  const others = Object.entries(states).flatMap(([from, on]) =>
    on === 'final'
      ? []
      : Object.entries(on).flatMap(([event, targets = {}]) =>
          listTargets(targets).map(({ to, guard }, index) => {
            const transitionId = formatTransitionId(idOf(from), event, index);
            const label = formatLabel(event, guard);
            return { id: transitionId, from: idOf(from), to: idOf(to), event, label };
          }),
        ),
  );
  const root: StateDescription = { id, key: id, kind: 'root', lines: [], parent: undefined };
  return { id, title, states: [root, initialOf(id), ...described], transitions: [...first, ...others] };
}

function initialOf(parent: string): StateDescription {
  return { id: initialIdOf(parent), key: '', kind: 'initial', lines: [], parent };
}

function firstTransition(parent: string, to: string, index: number, guard = ''): TransitionDescription {
  const from = initialIdOf(parent);
  const id = formatTransitionId(from, '', index);
  return { id, from, to, event: '', label: guard === '' ? '' : `[${guard}]` };
}

function transitionsOf(node: AnyStateNode): TransitionDescription[] {
  const all = [...node.transitions.values()].flat().concat(node.always ?? []);
  return all.flatMap((transition) => {
    const { eventType, target, guard, actions } = transition;
    const id = idOfTransition(transition);
    const label = formatLabel(eventType, nameOf(guard), actions.map(nameOf).filter(isOwnName));
    return (target ?? [node]).map(({ id: to }, index) => ({
      // One with several targets, in parallel regions, is several lines.
      id: index === 0 ? id : `${id}.${index}`,
      from: node.id,
      to,
      event: eventType,
      label,
    }));
  });
}

function listTargets(
  targets: string | { readonly [state: string]: string | undefined },
): { readonly to: string; readonly guard: string }[] {
  if (typeof targets === 'string') return [{ to: targets, guard: '' }];
  return Object.entries(targets).map(([to, guard = '']) => ({ to, guard }));
}

function linesOf({ invoke, entry, exit }: AnyStateNode): string[] {
  return [
    ...invoke.map(({ src }) => `invoke / ${nameOf(src)}`),
    ...entry
      .map(nameOf)
      .filter(isOwnName)
      .map((name) => `entry / ${name}`),
    ...exit
      .map(nameOf)
      .filter(isOwnName)
      .map((name) => `exit / ${name}`),
  ];
}

function formatLabel(event: string, guard: string, actions: readonly string[] = []): string {
  const condition = guard === '' ? '' : ` [${guard}]`;
  return `${formatEvent(event)}${condition}${actions.length === 0 ? '' : ` / ${actions.join(', ')}`}`;
}

/** Shortens the names that XState gives to events of its own. */
function formatEvent(type: string): string {
  if (type === '') return 'always';
  const [, kind, actor = ''] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type) ?? [];
  if (kind !== undefined) return `${kind}(${actor === '*' ? 'any' : actor})`;
  if (type.startsWith('xstate.done.state.')) return 'done';
  const [, delay] = /^xstate\.after\.(\w+)\./.exec(type) ?? [];
  return delay === undefined ? type : `after ${delay}`;
}

/** The name of a guard, an action or an actor, which may be given by its name, as a function or with params. */
function nameOf(named: unknown): string {
  if (typeof named === 'string') return named;
  const isNamed = typeof named === 'function' || (typeof named === 'object' && named !== null);
  if (isNamed && 'type' in named) return String(named.type);
  return typeof named === 'function' ? named.name : '';
}

/** XState invokes and ends actors by actions of its own, which would say nothing new. */
function isOwnName(name: string): boolean {
  return name !== '' && !name.startsWith('xstate.');
}
