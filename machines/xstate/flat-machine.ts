import {
  type ActorScope,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  createActor,
  type ExecutableActionObject,
  spawnChild,
  stopChild,
} from 'xstate';

/**
 * A faster way through flat machines: those whose states have no children, `always`, `entry`, `exit`, `after` or
 * `invoke`. XState finds out at each event which states it leaves and enters, with a dozen sets and two copies of the
 * snapshot. In a flat machine that is the same each time, so a table of state × event → candidates is made of the chart.
 *
 * The chart stays the truth. XState does what the table does not know: its own events, guards and actions of other
 * kinds, errors, and the first transition into each state, whose snapshot is the pattern of later ones. Snapshots,
 * actions and what an inspector receives are the same: a spec compares them for each state and event of our charts.
 */
export function withTable<M extends AnyStateMachine>(machine: M): M {
  if (!isFlat(machine)) return machine;
  const table = new TransitionTable(machine);
  return Object.assign(machine, {
    transition: (snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: Scope) =>
      table.transition(snapshot, event, scope),
    getInitialSnapshot: (scope: Scope, input: unknown) => table.getInitialSnapshot(scope, input),
  });
}

/** The switch: while it is off, XState does everything. */
export const transitionTables = { enabled: true };

type Scope = ActorScope<AnyMachineSnapshot, AnyEventObject>;

interface GuardArgs {
  readonly context: unknown;
  readonly event: AnyEventObject;
}

interface ActionArgs extends GuardArgs {
  readonly self: Scope['self'];
  readonly system: Scope['system'];
}

type Guard = (args: GuardArgs) => boolean;

/** The result of `assign`, `sendTo` and the like: a function that is never called, with the one that XState calls instead. */
interface BuiltinAction {
  readonly type: string;
  /** Of `assign`. */
  readonly assignment?: ((args: object) => object) | Readonly<Record<string, unknown>>;
  readonly resolve: (
    scope: Scope,
    snapshot: AnyMachineSnapshot,
    args: ActionArgs,
    params: undefined,
    action: BuiltinAction,
    extra: object,
  ) => readonly [AnyMachineSnapshot, unknown, unknown];
  readonly execute: (scope: Scope, params: unknown) => void;
}

/** One of the transitions of a state for an event. The first whose guard passes is taken. */
interface Candidate {
  readonly guard: Guard | undefined;
  readonly actions: readonly BuiltinAction[];
  /** The state to which it leads; undefined when the machine stays where it is. */
  readonly target: string | undefined;
  /** The transition, as an inspector sees it. */
  readonly definitions: readonly AnyTransitionDefinition[];
}

/** The candidates of one state by event type; undefined for those of which XState takes care. */
type Row = ReadonlyMap<string, readonly Candidate[] | undefined>;

/** An actor that a machine has from its start to its end. */
interface Invocation {
  readonly id: string;
  readonly src: string;
  readonly logic: AnyActorLogic;
  readonly input: unknown;
}

const NO_CANDIDATE: readonly Candidate[] = [];
const STOP_CHILD = stopChild('') as unknown as BuiltinAction;
const SPAWN_CHILD = spawnChild('') as unknown as BuiltinAction;

class TransitionTable {
  readonly #transition: AnyStateMachine['transition'];
  readonly #getInitialSnapshot: AnyStateMachine['getInitialSnapshot'];
  readonly #createContext: (args: object) => object;
  readonly #invocations: readonly Invocation[];
  readonly #initial: string | undefined;
  readonly #rows: ReadonlyMap<unknown, Row>;
  /** Snapshots that XState has made, by state, without what each run has of its own. */
  readonly #patterns = new Map<string | undefined, AnyMachineSnapshot>();

  constructor(machine: AnyStateMachine) {
    this.#transition = machine.transition.bind(machine);
    this.#getInitialSnapshot = machine.getInitialSnapshot.bind(machine);
    this.#createContext = machine.config.context as (args: object) => object;
    this.#invocations = machine.root.invoke.map(({ id, src, input }) => {
      const logic = machine.implementations.actors[src as string] as AnyActorLogic;
      return { id, src: src as string, logic, input };
    });
    this.#initial = machine.root.initial.target[0]?.key;
    const states: AnyStateNode[] = Object.values(machine.states);
    this.#rows = new Map(states.map((state) => [state.key, toRow(machine, state)]));
  }

  transition(snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: Scope): AnyMachineSnapshot {
    const candidates = this.#find(snapshot, event);
    const taken = candidates && choose(candidates, { context: snapshot.context, event });
    if (taken === undefined) return this.#transition(snapshot, event, scope);
    if (taken === 'none') {
      showMicrostep(scope, event, snapshot, []);
      return snapshot;
    }
    const { target, actions, definitions } = taken;
    const pattern = target === undefined ? snapshot : this.#patterns.get(target);
    if (pattern === undefined) return this.#learn(this.#transition(snapshot, event, scope));
    const context = runActions(actions, snapshot, event, scope);
    const isSame = pattern === snapshot && context === snapshot.context;
    const next = isSame ? snapshot : { ...pattern, context, children: snapshot.children };
    showMicrostep(scope, event, next, definitions);
    if (next.status !== 'active') stopChildren(next, event, scope);
    return next;
  }

  getInitialSnapshot(scope: Scope, input: unknown): AnyMachineSnapshot {
    const pattern = this.#patterns.get(this.#initial);
    const begun = transitionTables.enabled && pattern ? this.#begin(scope, input) : undefined;
    if (begun === undefined) return this.#learn(this.#getInitialSnapshot(scope, input));
    return Object.assign({}, pattern, begun);
  }

  /** Creates what each run has of its own; undefined when XState shall do it, and say what has failed. */
  #begin(scope: Scope, input: unknown): Pick<AnyMachineSnapshot, 'context' | 'children'> | undefined {
    const event = { type: 'xstate.init', input };
    const { self } = scope;
    let context: object;
    let inputs: unknown[];
    try {
      context = Object.assign({}, this.#createContext({ spawn: refuseToSpawn, input, self }));
      inputs = this.#invocations.map(({ input: from }) =>
        typeof from === 'function' ? (from({ context, event, self }) as unknown) : from,
      );
    } catch {
      return undefined;
    }
    const children: Record<string, AnyActorRef> = {};
    for (const [index, { id, src, logic }] of this.#invocations.entries()) {
      const options = { parent: self, id, src, syncSnapshot: false, input: inputs[index] };
      const actorRef = createActor(logic, options);
      const params = { id, systemId: undefined, actorRef, src, input: inputs[index] };
      execute(SPAWN_CHILD, params, toArgs(context, event, scope), scope);
      children[id] = actorRef;
    }
    return { context, children };
  }

  #find(snapshot: AnyMachineSnapshot, { type }: AnyEventObject): readonly Candidate[] | undefined {
    const row = this.#rows.get(snapshot.value);
    if (row === undefined || snapshot.status !== 'active' || !transitionTables.enabled) return undefined;
    const candidates = row.get(type);
    if (candidates !== undefined) return candidates;
    // XState's own events mean more than a chart says: `xstate.stop`, for one.
    return row.has(type) || type.startsWith('xstate.') ? undefined : NO_CANDIDATE;
  }

  #learn(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
    const { value, status } = snapshot;
    const isNew = typeof value === 'string' && !this.#patterns.has(value) && status !== 'error';
    if (isNew) this.#patterns.set(value, { ...snapshot, context: {}, children: {} });
    return snapshot;
  }
}

/** Undefined when a guard throws: XState asks it again, and says which one it was. */
function choose(candidates: readonly Candidate[], args: GuardArgs): Candidate | 'none' | undefined {
  try {
    for (const candidate of candidates) {
      if (candidate.guard === undefined || candidate.guard(args)) return candidate;
    }
    return 'none';
  } catch {
    return undefined;
  }
}

/** @returns the context after the actions */
function runActions(
  actions: readonly BuiltinAction[],
  snapshot: AnyMachineSnapshot,
  event: AnyEventObject,
  scope: Scope,
): object {
  let { context }: { context: object } = snapshot;
  for (const action of actions) {
    const args = toArgs(context, event, scope);
    if (action.assignment === undefined) {
      const [, params] = action.resolve(scope, snapshot, args, undefined, action, {});
      execute(action, params, args, scope);
    } else {
      context = Object.assign({}, context, toUpdate(action.assignment, { ...args, spawn: refuseToSpawn }));
    }
  }
  return context;
}

function toUpdate(assignment: NonNullable<BuiltinAction['assignment']>, args: object): object {
  if (typeof assignment === 'function') return assignment(args);
  const values = Object.entries(assignment).map(
    ([name, value]) => [name, typeof value === 'function' ? (value(args) as unknown) : value] as const,
  );
  return Object.fromEntries(values);
}

function refuseToSpawn(): never {
  throw new Error('a machine with a table of transitions invokes its actors at its root');
}

function toArgs(context: unknown, event: AnyEventObject, { self, system }: Scope): ActionArgs {
  return { context, event, self, system };
}

function execute(
  { type, execute: run }: BuiltinAction,
  params: unknown,
  args: ActionArgs,
  scope: Scope,
): void {
  const info = args as ExecutableActionObject['info'];
  scope.actionExecutor({ type, info, params, exec: () => run(scope, params) });
}

/** A machine that ends stops its children, and its last snapshot still names them. */
function stopChildren({ context, children }: AnyMachineSnapshot, event: AnyEventObject, scope: Scope): void {
  for (const child of Object.values(children))
    execute(STOP_CHILD, child, toArgs(context, event, scope), scope);
}

function showMicrostep(
  { self, system }: Scope,
  event: AnyEventObject,
  snapshot: AnyMachineSnapshot,
  transitions: readonly AnyTransitionDefinition[],
): void {
  // oxlint-disable-next-line no-underscore-dangle -- XState has no public name for it
  (system as InspectedSystem)._sendInspectionEvent({
    type: '@xstate.microstep',
    actorRef: self,
    event,
    snapshot,
    _transitions: transitions,
  });
}

type InspectedSystem = Scope['system'] & { _sendInspectionEvent(event: object): void };

function isFlat({ config, root, implementations }: AnyStateMachine): boolean {
  const states: AnyStateNode[] = Object.values(root.states);
  return (
    root.type === 'compound' &&
    root.transitions.size === 0 &&
    root.output === undefined &&
    root.initial.actions.length === 0 &&
    typeof config.context === 'function' &&
    root.invoke.every(
      ({ src, systemId }) =>
        systemId === undefined &&
        typeof src === 'string' &&
        'transition' in (implementations.actors[src] ?? {}),
    ) &&
    isPlain(root) &&
    states.every(
      (state) =>
        (state.type === 'atomic' || state.type === 'final') &&
        isPlain(state) &&
        state.output === undefined &&
        state.invoke.length === 0 &&
        [...state.transitions.keys()].every((type) => !type.includes('*')),
    )
  );
}

function isPlain({ entry, exit, always = [] }: AnyStateNode): boolean {
  return entry.length === 0 && exit.length === 0 && always.length === 0;
}

function toRow(machine: AnyStateMachine, state: AnyStateNode): Row {
  return new Map(
    [...state.transitions].map(([type, definitions]) => {
      const candidates = definitions.map((definition) => toCandidate(machine, state, definition));
      return [
        type,
        candidates.every((candidate) => candidate !== undefined) ? candidates : undefined,
      ] as const;
    }),
  );
}

/** Undefined for a transition of a kind that our charts do not use. */
function toCandidate(
  { implementations }: AnyStateMachine,
  state: AnyStateNode,
  definition: AnyTransitionDefinition,
): Candidate | undefined {
  const { target: targets = [], reenter } = definition;
  const guard: unknown =
    typeof definition.guard === 'string' ? implementations.guards[definition.guard] : definition.guard;
  const actions = definition.actions.map((action): unknown =>
    typeof action === 'string' ? implementations.actions[action] : action,
  );
  if (reenter || targets.length > 1 || targets[0] === state) return undefined;
  if (definition.guard !== undefined && !isFunction(guard)) return undefined;
  if (!actions.every(isBuiltin)) return undefined;
  return {
    guard: isFunction(guard) ? guard : undefined,
    actions,
    target: targets[0]?.key,
    definitions: [definition],
  };
}

/** `and`, `not` and the like have a `check`. */
function isFunction(guard: unknown): guard is Guard {
  return typeof guard === 'function' && !('check' in guard);
}

function isBuiltin(action: unknown): action is BuiltinAction {
  if (typeof action !== 'function' || !('type' in action)) return false;
  return action.type === 'xstate.assign' || action.type === 'xstate.sendTo';
}
