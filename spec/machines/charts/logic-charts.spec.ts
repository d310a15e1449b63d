import { SKIPPED } from '../../../machines/types.js';
import { expect } from 'chai';
import { fanOutChart } from '../../../machines/fan-out/fan-out.js';
import { chunkChart, itemChart } from '../../../machines/fan-out/item-actors.js';
import { type LogicChart, STOP } from '../../../machines/logic.js';
import type { HandlerLists } from '../../../machines/handlers.js';
import { HANDLERS_ID, subRunsChart } from '../../../machines/sub-runs.js';
import { taskChart } from '../../../machines/task.js';
import { waveChart } from '../../../machines/wave.js';
import { FakeRunPorts } from '../../support/runs/fake-ports.js';
import { FakePlanPorts, startPlanMachine } from '../../support/runs/start-plan-machine.js';
import { startRunMachine } from '../../support/runs/start-run-machine.js';
import { TransitionLog } from './transition-log.js';

const CHARTS: Readonly<Record<string, LogicChart<string, string>>> = {
  wave: waveChart,
  task: taskChart,
  'fan-out': fanOutChart,
  item: itemChart,
  chunk: chunkChart,
  'sub-runs': subRunsChart,
};

const LISTS = [[['h']]];

const HANDLERS: HandlerLists = { succeeded: LISTS, failed: LISTS, cancelled: LISTS };

type Drive = (log: TransitionLog) => void;

const UNLIMITED = Number.POSITIVE_INFINITY;

/** A run of one wave: `items` gives its task `a` a fan-out. */
function startWave(
  log: TransitionLog,
  tasks: readonly string[],
  items?: number,
): ReturnType<typeof startRunMachine> {
  const ports = new FakeRunPorts();
  if (items !== undefined) ports.expansions.set('a', { items, concurrency: UNLIMITED });
  return startRunMachine([tasks], { ports, inspect: log.inspect });
}

/** A run whose slice of the event loop is used up from its first task on. */
function startInSlices(log: TransitionLog, tasks: readonly string[]): ReturnType<typeof startRunMachine> {
  const ports = new FakeRunPorts();
  ports.isExhausted = true;
  return startRunMachine([tasks], { ports, inspect: log.inspect });
}

function continueDeferred({ deferred }: { readonly deferred: (() => void)[] }): void {
  for (let next = deferred.shift(); next !== undefined; next = deferred.shift()) next();
}

function list(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `t${i}`);
}

const RUNS: Record<string, Drive> = {
  'succeeds after two waves': (log) => {
    const { ports } = startRunMachine([['a', 'b'], ['c']], { inspect: log.inspect });
    for (const task of ['a', 'b', 'c']) ports.succeed(task);
  },
  'starts and reports its wave in slices': (log) => {
    const { ports } = startInSlices(log, ['a', 'b', 'c']);
    ports.succeed('a');
    ports.deferred.shift()?.();
    ports.deferred.shift()?.();
    for (const task of ['b', 'c']) ports.succeed(task);
    continueDeferred(ports);
  },
  'fails after a retry': (log) => {
    const { ports } = startWave(log, ['a']);
    ports.find('a').slot.wait();
    ports.find('a').slot.resume(() => {});
    ports.fail('a');
  },
  'has a task whose inputs cannot be made': (log) => {
    const ports = new FakeRunPorts();
    ports.expansions.set('a', { error: 'no such value' });
    startRunMachine([['a']], { ports, inspect: log.inspect });
  },
  'has a task that is skipped': (log) => {
    const ports = new FakeRunPorts();
    ports.expansions.set('a', 'skip');
    startRunMachine([['a']], { ports, inspect: log.inspect });
  },
  'has an item that is skipped': (log) => {
    const { ports } = startWave(log, ['a'], 2);
    ports.settle('a', 0, SKIPPED);
    ports.succeed('a', 1);
  },
  'drains after a cancel': (log) => {
    const { actor, ports } = startWave(log, ['a']);
    actor.send({ type: 'cancel' });
    ports.succeed('a');
  },
  'is stopped by force while tasks call, wait and fan out': (log) => {
    const { actor, ports } = startWave(log, ['a', 'b', 'c'], 2);
    ports.find('b').slot.wait();
    ports.find('a', 1).slot.wait();
    actor.send({ type: 'force' });
  },
  'is stopped by force in the middle of starting its tasks': (log) => {
    const { actor } = startInSlices(log, ['a', 'b']);
    actor.send({ type: 'force' });
  },
  'is stopped by force before its second task starts, and after its first one has settled': (log) => {
    const { actor, ports } = startInSlices(log, ['a', 'b']);
    ports.succeed('a');
    actor.send({ type: 'force' });
  },
  'is stopped by force before its wave reports': (log) => {
    const { actor, ports } = startInSlices(log, ['a']);
    ports.succeed('a');
    actor.send({ type: 'force' });
  },
  'is stopped by force by its own task, which settles at once': (log) => {
    const { actor, ports } = startRunMachine([['a']], { begin: false, inspect: log.inspect });
    ports.invoke = (_task, _item, slot) => {
      actor.send({ type: 'force' });
      slot.settle({ ok: true });
      return { abort: () => {} };
    };
    actor.send({ type: 'begin' });
  },
  'is stopped by force with more tasks than end in one turn': (log) => {
    const { actor, ports } = startWave(log, list(200));
    actor.send({ type: 'force' });
    continueDeferred(ports);
  },
  'has a fan-out that succeeds after a retry': (log) => {
    const { ports } = startWave(log, ['a'], 2);
    ports.find('a', 0).slot.wait();
    ports.find('a', 0).slot.resume(() => {});
    for (const item of [0, 1]) ports.succeed('a', item);
  },
  'has a fan-out that fails': (log) => {
    const { ports } = startWave(log, ['a'], 2);
    ports.succeed('a', 0);
    ports.fail('a', 1);
  },
  'has a fan-out of many items': (log) => {
    const { ports } = startWave(log, ['a'], 600);
    continueDeferred(ports);
    for (let item = 0; item < 600; item++) ports.succeed('a', item);
  },
  'is closed before it begins': (log) => {
    startRunMachine([['a']], { begin: false, inspect: log.inspect }).actor.stop();
  },
  'is closed while it starts tasks': (log) => {
    startInSlices(log, ['a', 'b']).actor.stop();
  },
  'is closed while tasks call, wait and fan out': (log) => {
    const { actor, ports } = startWave(log, ['a', 'b', 'c'], 2);
    ports.find('b').slot.wait();
    ports.find('a', 1).slot.wait();
    actor.stop();
  },
  'is closed while the tools of items ignore the abort': (log) => {
    const ports = new FakeRunPorts();
    ports.expansions.set('a', { items: 2, concurrency: UNLIMITED });
    const invoke = ports.invoke.bind(ports);
    ports.invoke = (...invocation) => {
      invoke(...invocation);
      return { abort: () => {} };
    };
    const { actor } = startRunMachine([['a']], { ports, inspect: log.inspect });
    ports.find('a', 1).slot.wait();
    actor.stop();
  },
  'is closed with a fan-out of many items at work': (log) => {
    startWave(log, ['a'], 600).actor.stop();
  },
};

const PLANS: Record<string, Drive> = {
  'succeeds, one sub-pipeline after another': (log) => {
    const { ports } = startPlan(log, 2, { concurrency: 1 });
    for (const id of ['t0', 't1']) ports.succeed(id);
  },
  fails: (log) => {
    const { ports } = startPlan(log, 2);
    ports.fail('t0');
    ports.succeed('t1');
  },
  'is cancelled while it is queued': (log) => {
    startPlan(log, 2, { begin: false }).actor.send({ type: 'cancel' });
  },
  'drains after a cancel, in slices': (log) => {
    const ports = new FakePlanPorts();
    const { actor } = startPlan(log, 2, { ports });
    ports.isExhausted = true;
    actor.send({ type: 'cancel' });
    continueDeferred(ports);
    for (const id of ['t0', 't1']) ports.succeed(id);
  },
  'is stopped by force': (log) => {
    startPlan(log, 2).actor.send({ type: 'force' });
  },
  'decides of sub-pipelines, of which one is left, and is cancelled meanwhile': (log) => {
    for (const type of ['cancel', 'force'] as const) {
      const plan = startConditional(log, 3);
      plan.ports.answer('t0', true);
      plan.ports.answer('t1', false);
      plan.ports.succeed('t1');
      plan.actor.send({ type });
      plan.ports.answer('t2', true);
    }
  },
  'ends with a sub-pipeline that is skipped': (log) => {
    startConditional(log, 1).ports.answer('t0', true);
  },
  'runs its handlers, whatever its end': (log) => {
    for (const end of ['succeed', 'fail'] as const) {
      const { ports } = startPlan(log, 1, { ports: new FakePlanPorts(HANDLERS) });
      ports[end]('t0');
      ports.getPorts(HANDLERS_ID).succeed('h');
    }
    const { actor } = startPlan(log, 1, { ports: new FakePlanPorts(HANDLERS) });
    actor.send({ type: 'force' });
    actor.stop();
  },
  'is stopped by force while its handlers run, in slices': (log) => {
    const ports = new FakePlanPorts(HANDLERS);
    const { actor } = startPlan(log, 1, { ports });
    ports.succeed('t0');
    ports.isExhausted = true;
    ports.getPorts(HANDLERS_ID).publication = () => undefined;
    actor.send({ type: 'force' });
    continueDeferred(ports);
  },
  'is told to continue and to step': (log) => {
    const { actor } = startPlan(log, 2);
    for (const type of ['continue', 'step'] as const) actor.send({ type });
  },
  'is told to continue and to step while it collects the blackboard': (log) => {
    const { actor } = startConcluding(log);
    for (const type of ['continue', 'step'] as const) actor.send({ type });
  },
  'is cancelled while it collects the blackboard': (log) => {
    startConcluding(log).actor.send({ type: 'cancel' });
  },
  'is stopped by force while it collects the blackboard': (log) => {
    startConcluding(log).actor.send({ type: 'force' });
  },
  'begins many sub-pipelines in turns': (log) => {
    const { ports } = startPlan(log, 40);
    continueDeferred(ports);
  },
  'has succeeded when its next turn comes': (log) => {
    const { ports } = startPlan(log, 32);
    for (const id of list(32)) ports.succeed(id);
    continueDeferred(ports);
  },
  'has failed when its next turn comes': (log) => {
    const { ports } = startPlan(log, 32);
    for (const id of list(32)) ports.fail(id);
    continueDeferred(ports);
  },
  'is closed at work': (log) => {
    startPlan(log, 2).actor.stop();
  },
  'is closed while it collects the blackboard': (log) => {
    startConcluding(log).actor.stop();
  },
};

function startPlan(
  log: TransitionLog,
  count: number,
  options: Omit<NonNullable<Parameters<typeof startPlanMachine>[1]>, 'inspect'> = {},
): ReturnType<typeof startPlanMachine> {
  const subPipelines = list(count).map((id) => ({ id, needs: [] }));
  return startPlanMachine(subPipelines, { concurrency: count, ...options, inspect: log.inspect });
}

function startConditional(log: TransitionLog, count: number): ReturnType<typeof startPlanMachine> {
  const subPipelines = list(count).map((id) => ({ id, needs: [], isConditional: true }));
  return startPlanMachine(subPipelines, { inspect: log.inspect });
}

function startConcluding(log: TransitionLog): ReturnType<typeof startPlanMachine> {
  const ports = new FakePlanPorts();
  ports.holdsConclusion = true;
  const plan = startPlan(log, 1, { ports });
  ports.succeed('t0');
  return plan;
}

describe('the charts of the hand-written logics', () => {
  const seen = new Set<string>();
  const declared = Object.entries(CHARTS).flatMap(([src, chart]) => formatChart(src, chart));

  for (const [what, drives] of Object.entries({ run: RUNS, plan: PLANS })) {
    for (const [name, drive] of Object.entries(drives)) {
      it(`declare every transition of the actors of a ${what} that ${name}`, () => {
        const log = new TransitionLog(Object.keys(CHARTS));
        drive(log);
        expect(log.transitions.length).to.be.above(0);
        const found = log.transitions.map((text) => declared.find((one) => matches(text, one)) ?? text);
        for (const text of found) seen.add(text);
        expect(found.filter((text) => !declared.includes(text))).to.deep.equal([]);
      });
    }
  }

  it('declare no transition that is in none of these runs and plans', () => {
    expect(declared.filter((text) => !seen.has(text))).to.deep.equal([]);
  });

  it('name no state as a target that they do not have, and lead to every state', () => {
    for (const [src, { initial, states }] of Object.entries(CHARTS)) {
      const targets = Object.values(states).flatMap((state) =>
        state === 'final' ? [] : Object.values(state).flatMap((to) => toList(to)),
      );
      expect([...new Set([...toList(initial), ...targets])].sort(), src).to.deep.equal(
        Object.keys(states).sort(),
      );
    }
  });

  it('let every state that is not final be stopped', () => {
    for (const [src, { states }] of Object.entries(CHARTS)) {
      for (const [state, on] of Object.entries(states)) {
        if (on !== 'final') expect(on, `${src}: ${state}`).to.include({ [STOP]: 'stopped' });
      }
    }
  });
});

/** Each transition as a line, such as `wave: idle --wave.begin--> settling`. */
function formatChart(src: string, { initial, states }: LogicChart<string, string>): string[] {
  const first = toList(initial).map((to) => `${src}: (none) --xstate.init--> ${to}`);
  const others = Object.entries(states).flatMap(([from, on]) =>
    on === 'final'
      ? []
      : Object.entries(on).flatMap(([type, to]) =>
          toList(to).map((target) => `${src}: ${from} --${type}--> ${target}`),
        ),
  );
  return [...first, ...others];
}

function toList(targets: string | { readonly [state: string]: string | undefined } | undefined): string[] {
  if (targets === undefined) return [];
  return typeof targets === 'string' ? [targets] : Object.keys(targets);
}

/** True when a transition is the declared one, whose event may end in `*`. */
function matches(text: string, declared: string): boolean {
  const [before = '', after] = declared.split('*');
  return after === undefined ? text === declared : text.startsWith(before) && text.endsWith(after);
}
