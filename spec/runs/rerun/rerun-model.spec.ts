import { expect } from 'chai';
import fc from 'fast-check';
import { errorCode } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import { Reruns } from './reruns.js';
import { cases } from '../../support/measuring/cases.js';

/** A task of a random pipeline and what it reads; its id is its index. */
interface RandomTask {
  readonly kind: 'echo' | 'each' | 'store' | 'session';
  readonly literal: number;
  readonly reads: readonly number[];
  readonly broken: boolean;
}

interface RandomRun {
  readonly tasks: readonly RandomTask[];
  readonly p: number;
  readonly list: readonly number[];
}

const PARAM = 0;
const anyTask: fc.Arbitrary<RandomTask> = fc.record({
  kind: fc.constantFrom('echo', 'each', 'store', 'session'),
  literal: fc.nat(1),
  reads: fc.uniqueArray(fc.nat(5), { maxLength: 2 }),
  broken: fc.boolean(),
});
const anyRun: fc.Arbitrary<RandomRun> = fc.record({
  tasks: fc.array(anyTask, { minLength: 1, maxLength: 6 }),
  p: fc.nat(1),
  list: fc.array(fc.nat(3), { maxLength: 4 }),
});
/** A run, and two more of which some tasks are those of the first. */
const anyRuns = fc
  .tuple(anyRun, anyRun, anyRun, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }))
  .map(([first, second, third, kept]): [RandomRun, RandomRun, RandomRun] => {
    const mix = (before: RandomRun, after: RandomRun, offset: number): RandomRun => ({
      ...after,
      tasks: after.tasks.map((task, index) =>
        kept[offset + index] === true ? (before.tasks[index] ?? task) : task,
      ),
    });
    const mixed = mix(first, second, 0);
    return [first, mixed, mix(mixed, third, 6)];
  });

/** A task reads those before it; one that reads the session awaits all of them. */
function toText({ kind, literal, reads }: RandomTask, index: number): string {
  const sources = reads.map((read) => {
    if (read === PARAM || read > index) return '{{params.p}}';
    return kind === 'session' ? `{{session.k${read - 1} ?? 0}}` : `{{t${read - 1}.output}}`;
  });
  const text = `${literal} ${sources.join(' ')}`;
  const id = `id: t${index}`;
  if (kind === 'store') return `{${id}, tool: store, inputs: {key: k${index}, value: "${text}"}}`;
  const all = Array.from({ length: index }, (_, before) => `t${before}`).join(', ');
  if (kind === 'session') return `{${id}, tool: echo, await: [${all}], inputs: {text: "${text}"}}`;
  if (kind === 'echo') return `{${id}, tool: echo, inputs: {text: "${text}"}}`;
  return `{${id}, tool: echo, parallel_over: "{{pipeline.inputs.list}}", inputs: {text: "{{item}} ${text}"}}`;
}

class RerunModel {
  readonly reruns = new Reruns();

  async play([first, second, third]: readonly [RandomRun, RandomRun, RandomRun]): Promise<void> {
    this.#break(first);
    const head = 'params: {p: {type: integer}}, inputs: {list: []},';
    const values = ({ p, list }: RandomRun): { params: { p: number }; inputs: { list: number[] } } => ({
      params: { p },
      inputs: { list: [...list] },
    });
    const parse = ({ tasks }: RandomRun): ReturnType<Reruns['parse']> =>
      this.reruns.parse(tasks.map(toText).join(', '), {}, head);
    const { registry } = this.reruns;
    let runId = await registry.submit({ pipeline: parse(first), ...values(first) });
    await registry.settled(runId);
    for (const next of [second, third]) {
      if (next === third) this.reruns.broken.clear();
      else this.#break(next);
      try {
        runId = await registry.rerun(runId, { pipeline: parse(next), ...values(next) });
        await registry.settled(runId);
      } catch (error) {
        if (errorCode(error) !== 'nothing_to_rerun') throw error;
      }
    }
    const fresh = await registry.settled(await registry.submit({ pipeline: parse(third), ...values(third) }));
    const outputs: Record<string, Json> = registry.record(runId).result?.outputs ?? {};
    for (const [taskId, output] of Object.entries(fresh.result?.outputs ?? {})) {
      expect(outputs[taskId], taskId).to.deep.equal(output);
    }
    expect(fresh.status).to.equal('succeeded');
  }

  /** Breaks tasks, and of a fan-out one item. */
  #break({ tasks }: RandomRun): void {
    this.reruns.broken.clear();
    for (const [index, { broken, kind }] of tasks.entries()) {
      if (broken) this.reruns.broken.add(kind === 'each' ? `t${index}[1]` : `t${index}`);
    }
  }
}

describe('A rerun with random changes (D60)', () => {
  it('gives what a new run gives, also after a rerun that failed', async () => {
    await fc.assert(
      fc.asyncProperty(anyRuns, (runs) => new RerunModel().play(runs)),
      cases(60),
    );
  });
});
