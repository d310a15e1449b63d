import { expect } from 'chai';
import { MAX_PROBLEMS } from '../../../lib/definition/problems/problem.js';
import { type CheckSteps, readSource } from '../../../lib/definition/text/source.js';
import { StepRunner } from '../../../lib/execution/prepare/step-runner.js';
import { createCheckContext } from '../../../lib/pipelines/check-context.js';
import { checkInSteps } from '../../../lib/pipelines/check.js';
import { checkPlanInSteps } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import type { EventLoopBudget } from '../../../machines/ports.js';

const catalog = builtinCatalog();

/** A budget that is used up after every step. */
class NoBudget {
  readonly tenants: string[] = [];

  forTenant(tenantId: string): EventLoopBudget {
    return {
      exhausted: () => true,
      defer: (next) => {
        this.tenants.push(tenantId);
        queueMicrotask(next);
      },
    };
  }
}

/** A budget that is used up after every step, until the spec lets the next ones begin. */
class ManualBudget {
  #waiting: (() => void)[] = [];

  forTenant(): EventLoopBudget {
    return { exhausted: () => true, defer: (next) => void this.#waiting.push(next) };
  }

  /** Lets all that wait do a step, so many times. */
  async turn(times: number): Promise<void> {
    for (let turn = 0; turn < times; turn++) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const next of waiting) next();
      await settle();
    }
  }
}

/** Steps that count themselves under a name. */
function* countTo(length: number, counts: Map<string, number>, name: string): CheckSteps<void> {
  for (let count = 1; count <= length; count++) {
    counts.set(name, count);
    yield;
  }
}

function pipelineOf(...tasks: readonly object[]): object {
  return { id: 'p', goal: 'g', tasks };
}

function taskWith(value: unknown): object {
  return { id: 'a', tool: 'mock', inputs: { value } };
}

function times<T>(count: number, create: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

function check(value: unknown): CheckSteps<{ readonly ok: boolean }> {
  return checkInSteps({ value }, createCheckContext({ catalog }));
}

/**
 * Large definitions, each with its steps. The steps are counted, so that their size need not make a slow machine wait.
 */
const LONG: readonly (readonly [string, () => CheckSteps<{ readonly ok: boolean }>])[] = [
  ['2,000 tasks', () => check(pipelineOf(...times(2000, (i) => ({ id: `t${i}`, tool: 'mock' }))))],
  ['an input with 20,000 values', () => check(pipelineOf(taskWith(times(20_000, () => ({})))))],
  ['a text with 20,000 templates', () => check(pipelineOf(taskWith('{{pipeline.goal}}'.repeat(20_000))))],
  ['3,000 unknown references', () => check(pipelineOf(taskWith(times(3000, (i) => `{{t${i}.output}}`))))],
  ['a chain of 1,000 tasks and its races', () => check(pipelineOf(...chain(1000)))],
  ['500 pipelines in tasks', () => check(pipelineOf(...times(500, callTo)))],
  ['a plan of 200 pipelines', () => checkPlanInSteps({ value: planOf(200) }, { catalog })],
];

function chain(length: number): object[] {
  return times(length, (i) => ({
    id: `t${i}`,
    tool: 'store',
    inputs: { key: 'k', value: i === 0 ? 1 : `{{t${i - 1}.output}} {{session.k}}` },
  }));
}

function callTo(index: number): object {
  return { id: `t${index}`, tool: 'run_pipeline', inputs: { pipeline: pipelineOf(taskWith(1)) } };
}

function planOf(count: number): object {
  const pipeline = pipelineOf(taskWith(1));
  return { id: 'p', sub_pipelines: times(count, (i) => ({ id: `s${i}`, pipeline })) };
}

describe('StepRunner', () => {
  for (const [title, steps] of LONG) {
    it(`checks ${title} in many short steps, between which the server does other work`, async () => {
      const budget = new NoBudget();
      await new StepRunner(undefined, budget).check(steps(), 'alice');
      expect(budget.tenants.length).to.be.above(100);
      expect(new Set(budget.tenants)).to.deep.equal(new Set(['alice']));
    });
  }

  it('finds the same as a check in one go', async () => {
    const text = `id: p\ngoal: g\ntasks:\n${times(50, (i) => `- {id: t${i}, tool: mok${i}, await: [u]}`).join('\n')}`;
    const context = createCheckContext({ catalog });
    const inSlices = await new StepRunner(undefined, new NoBudget()).check(
      checkInSteps({ text }, context),
      'alice',
    );
    const atOnce = await new StepRunner().check(checkInSteps({ text }, context), 'alice');
    expect(inSlices).to.deep.equal(atOnce);
    expect(inSlices.problems).to.have.length(100);
  });

  it('has every text parsed for the tenant: the definition, and those of the pipelines in its tasks and in a plan', async () => {
    const texts: [string, string][] = [];
    const checks = new StepRunner(async (text, tenantId) => {
      texts.push([tenantId, text]);
      return readSource(text);
    });
    const inner = '{id: inner, goal: g, tasks: [{id: a, tool: mock}]}';
    const caller = `{id: p, goal: g, tasks: [{id: a, tool: run_pipeline, inputs: {pipeline: "${inner}"}}]}`;
    const plan = '{id: p, sub_pipelines: [{id: s}]}';
    const pipelines = new Map([['s', { text: caller }]]);
    const result = await checks.check(checkPlanInSteps({ text: plan }, { catalog, pipelines }), 'alice');
    expect(result.problems).to.deep.equal([]);
    expect(texts).to.deep.equal([
      ['alice', plan],
      ['alice', caller],
      ['alice', inner],
    ]);
  });

  it('does two long checks of a tenant at once, one more of another tenant, and short ones in any case (D25)', async () => {
    const budget = new ManualBudget();
    const runner = new StepRunner(undefined, budget);
    const counts = new Map<string, number>();
    const start = (name: string, length: number): Promise<void> => {
      const [tenantId = ''] = name.split(' ');
      return runner.check(countTo(length, counts, name), tenantId);
    };
    const running = times(5, (n) => start(`alice ${n}`, 20));
    await budget.turn(10);
    // A check that is not long ends before.
    const countLong = (tenantId: string): number =>
      [...counts].filter(([name, count]) => name.startsWith(tenantId) && count > 2).length;
    expect(countLong('alice')).to.equal(2);
    running.push(start('bob 0', 20), start('bob 1', 20), start('alice short', 1));
    await budget.turn(10);
    expect(counts.get('alice short')).to.equal(1);
    expect(countLong('bob')).to.equal(1);
    await budget.turn(200);
    await Promise.all(running);
    expect([...counts.values()]).to.deep.equal([20, 20, 20, 20, 20, 20, 20, 1]);
  });

  it('has no more long texts parsed at once than it can check', async () => {
    const parsing: Deferred<void>[] = [];
    const runner = new StepRunner(async (text) => {
      const wait = deferred<void>();
      parsing.push(wait);
      await wait.promise;
      return readSource(text);
    });
    const text = `{id: p, goal: ${'g'.repeat(9000)}, tasks: [{id: a, tool: mock}]}`;
    const running = times(4, () =>
      runner.check(checkInSteps({ text }, createCheckContext({ catalog })), 'alice'),
    );
    await settle();
    expect(parsing).to.have.length(2);
    for (let n = 0; n < 4; n++) {
      parsing[n]?.resolve();
      await settle();
    }
    expect((await Promise.all(running)).map(({ ok }) => ok)).to.deep.equal([true, true, true, true]);
  });

  it('rejects with what the parser throws', async () => {
    const checks = new StepRunner(async () => {
      throw new Error('closed');
    });
    const checked = checks.check(checkInSteps({ text: 'x' }, createCheckContext({ catalog })), 'alice');
    expect(
      await checked.then(
        () => 'checked',
        ({ message }: Error) => message,
      ),
    ).to.equal('closed');
  });
});

describe('The search for problems (D8)', () => {
  const broken: readonly (readonly [string, (count: number) => unknown])[] = [
    ['unknown references', (count) => pipelineOf(taskWith(times(count, (i) => `{{t${i}.output}}`)))],
    ['invalid templates', (count) => pipelineOf(taskWith(times(count, () => '{{}}')))],
    ['unknown inputs', (count) => pipelineOf({ id: 'a', tool: 'sleep', inputs: keys(count) })],
    ['unknown fields', (count) => ({ ...pipelineOf(taskWith(1)), ...keys(count) })],
    ['fields beside the pipeline', (count) => ({ pipeline: pipelineOf(taskWith(1)), ...keys(count) })],
  ];

  function keys(count: number): Record<string, unknown> {
    return Object.fromEntries(times(count, (i) => [`k${i}`, 0]));
  }

  for (const [title, create] of broken) {
    it(`ends after 1,000 ${title}`, () => {
      expect(runAll(check(create(1500))).problems).to.have.length(MAX_PROBLEMS + 1);
      // Each problem takes a step.
      expect(countSteps(check(create(20_000))) - countSteps(check(create(2000)))).to.be.below(1000);
    });
  }

  it('ends after 1,000 problems of all pipelines in tasks together', () => {
    const pipeline = pipelineOf({ id: 'a', tool: 'no' });
    const calls = times(1500, (i) => ({ id: `t${i}`, tool: 'run_pipeline', inputs: { pipeline } }));
    expect(runAll(check(pipelineOf(...calls))).problems).to.have.length(MAX_PROBLEMS + 1);
  });

  it('goes on after 1,000 warnings, because an error may follow', () => {
    const warnings = times(1500, () => '{{b.x}}');
    const tasks = [taskWith([...warnings, '{{none.output}}']), { id: 'b', tool: 'mock' }];
    const { ok, problems } = runAll(check(pipelineOf(...tasks)));
    expect(ok).to.equal(false);
    expect(problems[0]?.code).to.equal('unknown_reference');
    expect(problems.at(-1)?.code).to.equal('too_many');
  });
});

function runAll<T>(steps: CheckSteps<T>): T & { readonly problems: readonly { readonly code: string }[] } {
  for (;;) {
    const step = steps.next();
    if (step.done === true)
      return step.value as T & { readonly problems: readonly { readonly code: string }[] };
  }
}

function countSteps(steps: CheckSteps<unknown>): number {
  let count = 1;
  while (steps.next().done !== true) count++;
  return count;
}
