import { expect } from 'chai';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { setup } from 'xstate';
import { compileMachine } from '../../../machines/compile.js';
import type { LogicChart } from '../../../machines/logic.js';
import { planMachine } from '../../../machines/plan.js';
import { runMachine } from '../../../machines/run.js';
import {
  type ChartDescription,
  describeLogic,
  describeMachine,
} from '../../../scripts/statecharts/describe.js';

const MACHINES: Readonly<Record<string, AnyStateMachine>> = {
  run: runMachine,
  plan: planMachine,
  compile: compileMachine,
};

/** A machine with what ours do not have: states in states, transitions without an event, delays. */
const NESTED = setup({
  types: { events: {} as { type: 'go' } | { type: 'back' } },
  guards: { isReady: () => true },
  actions: { note: () => {}, leave: () => {} },
  delays: { patience: 1000 },
}).createMachine({
  id: 'nested',
  initial: 'outer',
  on: { back: '.outer' },
  states: {
    outer: {
      initial: 'first',
      exit: 'leave',
      onDone: 'end',
      states: {
        first: { always: { guard: 'isReady', target: 'second', actions: 'note' } },
        second: { entry: 'note', after: { patience: 'last' }, on: { go: { actions: ['note', 'leave'] } } },
        last: { type: 'final' },
      },
    },
    end: { type: 'final' },
  },
});

describe('describeMachine', () => {
  for (const [name, machine] of Object.entries(MACHINES)) {
    it(`describes every state of the machine of a ${name}`, () => {
      const { id, states } = describeMachine(name, machine);
      expect(id).to.equal(name);
      const keys = states.filter(({ kind }) => kind === 'state' || kind === 'final').map(({ key }) => key);
      expect(keys).to.have.members(Object.keys(machine.states));
    });

    it(`describes every transition of the machine of a ${name}`, () => {
      const described = describeMachine(name, machine).transitions.map(({ from, event, to }) => [
        from,
        event,
        to,
      ]);
      const nodes = [machine.root, ...(Object.values(machine.root.states) as AnyStateNode[])];
      const expected = nodes.flatMap((node) =>
        [...node.transitions].flatMap(([event, transitions]) =>
          transitions.map(({ target }) => [node.id, event, (target ?? [node])[0]?.id]),
        ),
      );
      const first = [`${name}.(initial)`, '', `${name}.${String(machine.root.initial.target[0]?.key)}`];
      expect(described).to.have.deep.members([first, ...expected]);
    });
  }

  it('shows where a run pauses and what lets it go on', () => {
    const { transitions } = describeMachine('run', runMachine);
    const found = transitions
      .filter(({ from }) => from === 'run.paused')
      .map(({ to, label }) => `${label} -> ${to}`);
    expect(found).to.deep.equal([
      'continue [handlesFailure] / prepareForFailure, beginHandlers -> run.handlingFailure',
      'continue [hasFailedTask] -> run.failed',
      'continue / runToBreakpoint, beginWave -> run.running',
      'step [handlesFailure] / prepareForFailure, beginHandlers -> run.handlingFailure',
      'step [hasFailedTask] -> run.failed',
      'step / runOneWave, beginWave -> run.running',
      'cancel [handlesCancel] / prepareForCancel, beginHandlers -> run.handlingCancel',
      'cancel -> run.cancelled',
      'force [handlesCancel] / prepareForCancel, beginHandlers -> run.handlingCancel',
      'force -> run.cancelled',
    ]);
  });

  it('shows what a machine invokes and what it does on entry', () => {
    const linesOf = ({ states }: ChartDescription, id: string): readonly string[] | undefined =>
      states.find((state) => state.id === id)?.lines;
    expect(linesOf(describeMachine('run', runMachine), 'run')).to.deep.equal(['invoke / wave']);
    expect(linesOf(describeMachine('compile', compileMachine), 'compile.repairing')).to.deep.equal([
      'entry / countRepair',
      'entry / repair',
    ]);
  });

  it('finds transitions without an event, delays, transitions of the root and states in states', () => {
    const { states, transitions } = describeMachine('nested', NESTED);
    expect(states.map(({ id, parent = 'none' }) => `${id} in ${parent}`)).to.deep.equal([
      'nested in none',
      'nested.(initial) in nested',
      'nested.outer in nested',
      'nested.outer.(initial) in nested.outer',
      'nested.outer.first in nested.outer',
      'nested.outer.second in nested.outer',
      'nested.outer.last in nested.outer',
      'nested.end in nested',
    ]);
    expect(transitions.map(({ from, to, label }) => `${from} -> ${to}: ${label}`)).to.deep.equal([
      'nested.(initial) -> nested.outer: ',
      'nested -> nested.outer: back',
      'nested.outer.(initial) -> nested.outer.first: ',
      'nested.outer -> nested.end: done',
      'nested.outer.first -> nested.outer.second: always [isReady] / note',
      'nested.outer.second -> nested.outer.second: go / note, leave',
      'nested.outer.second -> nested.outer.last: after patience',
    ]);
    expect(states.map(({ lines }) => lines).filter(({ length }) => length > 0)).to.deep.equal([
      ['exit / leave'],
      ['entry / note'],
    ]);
  });
});

describe('describeLogic', () => {
  const chart: LogicChart<string, string> = {
    initial: { busy: 'it has work', idle: '' },
    states: {
      idle: { begin: 'busy', 'xstate.stop': 'stopped' },
      busy: {
        'xstate.done.actor.*': { busy: 'work is left', idle: 'none is' },
        'xstate.error.actor.part': 'stopped',
        'xstate.stop': 'stopped',
      },
      stopped: 'final',
    },
  };

  it('describes each target of each event, with its condition', () => {
    const { transitions } = describeLogic('worker', 'worker', chart);
    expect(transitions.map(({ from, to, label }) => `${from} -> ${to}: ${label}`)).to.deep.equal([
      'worker.(initial) -> worker.busy: [it has work]',
      'worker.(initial) -> worker.idle: ',
      'worker.idle -> worker.busy: begin',
      'worker.idle -> worker.stopped: xstate.stop',
      'worker.busy -> worker.busy: done(any) [work is left]',
      'worker.busy -> worker.idle: done(any) [none is]',
      'worker.busy -> worker.stopped: error(part)',
      'worker.busy -> worker.stopped: xstate.stop',
    ]);
    expect(transitions.map(({ event }) => event)).to.include('xstate.done.actor.*');
  });

  it('describes the states in the order of the chart, after the root and the start', () => {
    const { states } = describeLogic('worker', 'worker', chart);
    expect(states.map(({ key, kind }) => `${kind} ${key}`)).to.deep.equal([
      'root worker',
      'initial ',
      'state idle',
      'state busy',
      'final stopped',
    ]);
  });
});
