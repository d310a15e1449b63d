import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ActorScope,
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  createActor,
  emit,
  not,
  sendTo,
  setup,
  StateMachine,
  StateNode,
} from 'xstate';
import type { Logic } from '../../machines/logic.js';
import { planMachine } from '../../machines/plan.js';
import { runPorts } from '../../machines/ports.js';
import { runMachine } from '../../machines/run.js';
import { planPorts } from '../../machines/sub-runs.js';
import { waveLogic } from '../../machines/wave.js';
import { transitionTables, withTable } from '../../machines/xstate/flat-machine.js';
import type { HandlerLists } from '../../machines/handlers.js';
import { FakeRunPorts } from '../support/runs/fake-ports.js';
import { FakePlanPorts } from '../support/runs/start-plan-machine.js';

interface Chart {
  readonly machine: AnyStateMachine;
  readonly bind: (actor: object) => void;
  /** One that is undefined makes the first snapshot fail. */
  readonly inputs: readonly unknown[];
  readonly events: readonly AnyEventObject[];
}

/** Events that a chart does not know, events of XState, and one that no actor has sent. */
const FOREIGN: AnyEventObject[] = [
  { type: 'unknown' },
  { type: 'xstate.stop' },
  { type: 'xstate.done.actor.wave', actorId: 'wave' },
  { type: 'xstate.error.actor.wave', actorId: 'wave', error: 'no luck' },
  { type: '' },
];

const COMMANDS = ['begin', 'cancel', 'force', 'continue', 'step', 'timeout'].map((type) => ({ type }));

const WAVES = [[], [['a']], [['a', 'b'], ['c'], ['d']]];
const PAUSES = [
  undefined,
  { beforeWaves: [0], onFailure: false },
  { beforeWaves: [1, 2], onFailure: true },
  { beforeWaves: [], onFailure: true },
];

const HANDLERS: HandlerLists = {
  succeeded: [[['s']]],
  failed: [[['f'], ['g']], [['z']]],
  cancelled: [[['z']]],
};

/** A chart of kinds that ours do not use: a table gives them to XState, or does the same. */
const otherMachine = withTable(
  setup({
    types: { context: {} as { readonly count: number; readonly seen: readonly string[] } },
    actors: { wave: waveLogic },
    guards: { isEven: ({ context }) => context.count % 2 === 0 },
    actions: {
      count: assign({ count: ({ context }) => context.count + 1, seen: [] }),
      see: assign(({ context, event }) => ({ seen: [...context.seen, event.type] })),
      fail: assign(() => {
        throw new Error('no luck');
      }),
      tell: sendTo('wave', ({ context }) => ({ type: 'abort', count: context.count })),
      tellNobody: sendTo('nobody', { type: 'abort' }),
      wait: sendTo('wave', { type: 'abort' }, { delay: 100, id: 'later' }),
      greet: emit({ type: 'hello' }),
      custom: () => undefined,
    },
  }).createMachine({
    id: 'other',
    context: () => ({ count: 0, seen: [] }),
    invoke: { id: 'wave', src: 'wave' },
    initial: 'here',
    states: {
      here: {
        tags: ['first'],
        on: {
          go: [
            { guard: not('isEven'), target: 'there', actions: ['see', 'tell', 'count', 'tell'] },
            { target: 'there', actions: 'count' },
          ],
          stay: { target: 'here', actions: 'count' },
          again: { target: 'here', reenter: true, actions: 'see' },
          custom: { actions: ['count', 'custom', 'see'] },
          greet: { target: 'there', actions: ['greet', () => undefined] },
          fail: { target: 'there', actions: ['tell', 'fail', 'count'] },
          nobody: { target: 'there', actions: ['tell', 'tellNobody'] },
          wait: { actions: 'wait' },
          nothing: {},
        },
      },
      there: {
        on: {
          go: { guard: 'isEven', target: 'here' },
          nothing: { guard: ({ context }) => context.count > 2, target: 'gone', actions: ['count', 'tell'] },
        },
      },
      gone: { type: 'final' },
    },
  }),
);

const CHARTS: Record<string, Chart> = {
  run: {
    machine: runMachine,
    // Aborted calls stay at work, so that the run waits for them.
    bind: (actor) =>
      runPorts.bind(actor, Object.assign(new FakeRunPorts(), { publication: () => undefined })),
    inputs: [
      undefined,
      ...WAVES.flatMap((waves) => PAUSES.map((breakpoints) => ({ waves, breakpoints }))),
      ...WAVES.map((waves) => ({ waves, handlers: HANDLERS })),
    ],
    events: [
      ...COMMANDS,
      ...[0, 1, 3].flatMap((wavesExecuted) =>
        [[], ['a']].map((failed) => ({
          type: 'wave.settled',
          wavesSettled: wavesExecuted,
          wavesExecuted,
          failed,
        })),
      ),
      // A guard throws.
      { type: 'wave.settled', wavesExecuted: 1 },
      ...FOREIGN,
    ],
  },
  plan: {
    machine: planMachine,
    bind: (actor) => planPorts.bind(actor, Object.assign(new FakePlanPorts(HANDLERS), { isExhausted: true })),
    inputs: [
      undefined,
      { subPipelines: [], concurrency: 1 },
      { subPipelines: ['a', 'b', 'c'].map((id) => ({ id, needs: [] })), concurrency: 2 },
      { subPipelines: [{ id: 'a', needs: [] }], concurrency: 1, handlers: HANDLERS },
      // `sub-runs` ends in error.
      { concurrency: 1 },
    ],
    events: [
      ...COMMANDS,
      { type: 'sub-runs.settled', ok: true },
      { type: 'sub-runs.settled', ok: false },
      { type: 'handlers.settled' },
      ...FOREIGN,
    ],
  },
  other: {
    machine: otherMachine,
    bind: (actor) => runPorts.bind(actor, new FakeRunPorts()),
    inputs: [{}],
    events: [...otherMachine.events.map((type) => ({ type })), ...FOREIGN],
  },
};

describe('The table of a flat machine', () => {
  afterEach(() => {
    transitionTables.enabled = true;
  });

  for (const [name, chart] of Object.entries(CHARTS)) {
    describe(`of the chart "${name}"`, () => {
      const starts = startsOf(chart);

      it('is compared in each state', () => {
        const states = Object.values(chart.machine.states).filter(({ type }) => type !== 'final');
        expect([...starts.keys()]).to.include.members(states.map(({ key }) => key));
      });

      it('does as XState does with each event in each state', () => {
        for (const { input, path } of starts.values()) {
          for (const event of chart.events) expectSame(chart, input, [...path, event]);
        }
      });

      it('does as XState does with any events', () => {
        const events = fc.array(fc.constantFrom(...chart.events), { maxLength: 12 });
        const inputs = fc.constantFrom(...chart.inputs);
        fc.assert(
          fc.property(inputs, events, (input, sequence) => expectSame(chart, input, sequence)),
          { numRuns: 200 },
        );
      });
    });
  }

  for (const name of ['run', 'plan']) {
    const chart = CHARTS[name] as Chart;

    it(`leaves to XState no event of the chart "${name}"`, () => {
      for (const [state, { input, path }] of startsOf(chart)) {
        for (const event of chart.events.filter(({ type }) => chart.machine.events.includes(type))) {
          const events = [...path, event];
          observe(chart, input, events);
          const failed = event.type === 'wave.settled' && !('failed' in event) ? 1 : 0;
          const asked = countQuestions(chart.machine, () => observe(chart, input, events));
          expect(asked, `${state} ${event.type}`).to.be.at.most(failed);
        }
      }
    });
  }

  it('is turned off by one switch', () => {
    const { machine } = CHARTS['run'] as Chart;
    const run = (): unknown => observe(CHARTS['run'] as Chart, { waves: [['a']] }, [{ type: 'begin' }]);
    run();
    expect(countQuestions(machine, run)).to.equal(0);
    transitionTables.enabled = false;
    expect(countQuestions(machine, run)).to.equal(1);
  });

  it('is not made of a machine that is not flat', () => {
    const parts = [
      { entry: () => undefined },
      { exit: () => undefined },
      { always: { target: 'b' } },
      { after: { 10: 'b' } },
      { invoke: { src: 'wave' } },
      { on: { '*': 'b' } },
      { initial: 'c', states: { c: {} } },
      { type: 'parallel', states: { c: {}, d: {} } },
    ] as const;
    for (const part of parts) {
      const machine = setup({ actors: { wave: waveLogic } }).createMachine({
        context: () => ({}),
        initial: 'a',
        states: { a: part, b: {} },
      });
      const methodsOf = (): unknown[] => METHODS.map((name) => Reflect.get(machine, name));
      const before = methodsOf();
      withTable(machine);
      expect(methodsOf()).to.deep.equal(before);
    }
  });
});

/** The functions of a machine that a table replaces. */
const METHODS = ['transition', 'getInitialSnapshot'] as const;

interface Start {
  readonly input: unknown;
  readonly path: readonly AnyEventObject[];
}

/** Finds, for each state of a chart in which it takes events, an input and the shortest way there. */
function startsOf(chart: Chart): Map<string, Start> {
  const starts = new Map<string, Start>();
  let ways: Start[] = chart.inputs.map((input) => ({ input, path: [] }));
  for (let length = 0; length <= 2; length++) {
    for (const way of ways) {
      const { value, status } = start(chart, way.input, way.path, []).getSnapshot();
      if (status === 'active' && !starts.has(value as string)) starts.set(value as string, way);
    }
    ways = ways.flatMap(({ input, path }) =>
      chart.events.map((event) => ({ input, path: [...path, event] })),
    );
  }
  return starts;
}

function expectSame(chart: Chart, input: unknown, events: readonly AnyEventObject[]): void {
  transitionTables.enabled = false;
  const expected = observe(chart, input, events);
  transitionTables.enabled = true;
  expect(observe(chart, input, events)).to.deep.equal(expected);
}

/** Writes down the actions of a machine, what its inspector receives, and all its snapshots. */
function observe(chart: Chart, input: unknown, events: readonly AnyEventObject[]): unknown[] {
  const log: unknown[] = [];
  start(chart, input, events, log);
  return log;
}

function start(chart: Chart, input: unknown, events: readonly AnyEventObject[], log: unknown[]): AnyActor {
  const describe = createDescriber();
  const actor = createActor(
    watched(chart.machine, (action) => log.push(describe(action))),
    {
      input: input as object,
      inspect: (event) => log.push(describe(event)),
      clock: { setTimeout: () => 0, clearTimeout: () => undefined },
    },
  );
  chart.bind(actor);
  actor.subscribe({
    next: (snapshot) => log.push(describe(snapshot)),
    error: (error) => log.push(String(error)),
  });
  actor.start();
  for (const event of events) {
    actor.send(event);
    log.push(describe(actor.getSnapshot()));
  }
  return actor;
}

type AnyActor = { getSnapshot(): AnyMachineSnapshot };

/** The machine, with somebody who sees the actions that it hands to XState. */
function watched(
  machine: AnyStateMachine,
  onAction: (action: object) => void,
): Logic<AnyMachineSnapshot, AnyEventObject, object> {
  return {
    getInitialSnapshot(scope: ActorScope<AnyMachineSnapshot, AnyEventObject>, input) {
      const { actionExecutor } = scope;
      scope.actionExecutor = (action) => {
        onAction(action);
        actionExecutor(action);
      };
      return machine.getInitialSnapshot(scope, input);
    },
    transition: (snapshot, event, scope) => machine.transition(snapshot, event, scope),
    start: (snapshot) => machine.start(snapshot),
    getPersistedSnapshot: (snapshot) => machine.getPersistedSnapshot(snapshot),
  };
}

/** Counts how often XState looks for the transitions of a state. */
function countQuestions(machine: AnyStateMachine, work: () => void): number {
  const find = machine.getTransitionData.bind(machine);
  let count = 0;
  machine.getTransitionData = (...args) => {
    count++;
    return find(...args);
  };
  work();
  machine.getTransitionData = find;
  return count;
}

/** Describes any value in plain lists and texts, with the order of its names, and actors in the order in which they appear. */
function createDescriber(): (value: unknown) => unknown {
  const names = new Map<string, string>();
  const nameOf = (sessionId: string): string => {
    if (!names.has(sessionId)) names.set(sessionId, `actor ${names.size}`);
    return names.get(sessionId) ?? '';
  };
  const describe = (value: unknown): unknown => {
    if (typeof value === 'function') return 'a function';
    if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : value;
    if (value instanceof StateMachine || value instanceof StateNode) return `#${value.id}`;
    if (value instanceof Error) return value.message;
    if ('sessionId' in value && 'src' in value) return nameOf((value as AnyActorRef).sessionId);
    if ('inspect' in value) return 'the system';
    if (value instanceof Map || value instanceof Set)
      return [value.constructor.name, ...[...value].map(describe)];
    if (Array.isArray(value)) return value.map(describe);
    return Object.entries(value).map(([key, member]) =>
      key === 'rootId' ? [key, nameOf(String(member))] : [key, describe(member)],
    );
  };
  return describe;
}
