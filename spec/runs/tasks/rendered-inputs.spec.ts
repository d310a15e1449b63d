import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { InputRenderer } from '../../../lib/execution/run/input-renderer.js';
import type { PipelineRun } from '../../../lib/execution/run/pipeline-run.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import type { Task } from '../../../lib/pipelines/pipeline.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { cases } from '../../support/measuring/cases.js';

/** A tool that returns its inputs, writes some of them, and fails when it is told to. */
class Recorder {
  /** By task or item. */
  readonly inputs = new Map<string, JsonObject>();
  readonly tool = defineTool({
    name: 'recorder',
    description: 'records its inputs',
    inputs: { extra: { description: 'has a default', default: 'none' } },
    openInputs: true,
    run: (inputs, { task_id, item_index, blackboard }) => {
      const values = inputs as JsonObject;
      this.inputs.set(item_index === null ? task_id : `${task_id}[${item_index}]`, values);
      const { key, fails } = values;
      if (typeof key === 'string') blackboard.write(key, values['value'], values['append'] === true);
      if (fails === true) throw new Error('told to');
      return { text: JSON.stringify({ of: task_id }), of: values };
    },
  });
}

const SOURCES = [
  '{{pipeline.goal}}',
  '{{params.n}}',
  'n is {{params.n}} in {{pipeline.inputs.list}}',
  '{{pipeline.inputs.list.last}}',
  '{{session.given}}',
  '{{session.k ?? "nothing"}}',
  '{{session.l ?? []}}',
];

/** One task of each wave: what its input reads, what it writes, and whether it runs over a list. */
const TASK = fc.record({
  source: fc.constantFrom(
    ...SOURCES,
    '{{BEFORE.output.of}}',
    '{{BEFORE.output.text.of}}',
    'after {{BEFORE.output}}',
  ),
  key: fc.constantFrom(undefined, 'k', 'l'),
  append: fc.boolean(),
  isFanOut: fc.boolean(),
});

const HEAD =
  'goal: "of {{params.n}}", params: {n: {type: integer, default: 4}}, inputs: {list: [1, {a: "x"}, null]}';

function taskText(task: typeof TASK extends fc.Arbitrary<infer T> ? T : never, index: number): string {
  const { source, key, append, isFanOut } = task;
  const isFirst = index === 0;
  const before = isFirst ? '{{params.n}}' : source.replaceAll('BEFORE', `t${index - 1}`);
  const isReadable = isFirst || !source.includes('BEFORE.output.');
  const inputs: JsonObject = {
    v: isReadable ? before : `{{t${index - 1}.output}}`,
    ...(key !== undefined && { key, append, value: `by ${index}` }),
    ...(isFanOut && { item: '{{item}}' }),
  };
  const fields = {
    id: `t${index}`,
    tool: 'recorder',
    inputs,
    ...(isFanOut && { parallel_over: '{{pipeline.inputs.list}}' }),
    ...(isFirst ? {} : { await: [`t${index - 1}`] }),
  };
  return JSON.stringify(fields);
}

describe('The inputs that are shown of a task or item (D59)', () => {
  it('are those that its tool was called with, whatever templates read and tasks store', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(TASK, { minLength: 1, maxLength: 6 }), async (tasks) => {
        const recorder = new Recorder();
        const text = `{id: p, ${HEAD}, tasks: [${tasks.map(taskText).join(', ')}]}`;
        const session = { given: { a: [1] }, l: ['s'] };
        const pipeline = parsePipeline(text, { tools: [recorder.tool], session });
        const registry = new RunRegistry();
        const runId = await registry.submit({ pipeline, session });
        const record = await registry.settled(runId);
        expect(record.error).to.equal(null);
        const shown = new Map<string, JsonObject | null>();
        for (const task of (await registry.tasks(runId, { whole: true })).tasks) {
          if (task.items === null) shown.set(task.task_id, task.inputs);
          else {
            for (const item of (await registry.items(runId, task.task_id, { whole: true })).items) {
              shown.set(`${task.task_id}[${item.item}]`, item.inputs);
            }
          }
        }
        expect(shown).to.deep.equal(recorder.inputs);
      }),
      cases(60),
    );
  });

  it('are those of each sub-pipeline of a plan, as it found what others had stored', async () => {
    const recorder = new Recorder();
    const write = (id: string, key: string, append: boolean, value: string): string =>
      `{id: ${id}, tool: recorder, inputs: {key: ${key}, value: "${value}", append: ${append}}}`;
    const plan = parsePlan(
      planText([
        subPipelineText(
          'c',
          '{id: c1, tool: recorder, inputs: {k: "{{session.k}}", l: "{{session.l}}", g: "{{session.given}}"}}',
          'reads: [k, l, given]',
        ),
        subPipelineText(
          'b',
          `{id: b1, tool: recorder, inputs: {k: "{{session.k}}"}}, ${write('b2', 'l', true, 'from b')}`,
          'reads: [k], stores: [l]',
        ),
        subPipelineText('a', write('a1', 'k', false, 'from a'), 'stores: [k]'),
      ]),
      { tools: [recorder.tool], session: { given: 7 } },
    );
    const registry = new RunRegistry();
    const runId = await registry.submitPlan({ plan, session: { given: 7, l: ['s'] } });
    expect((await registry.settled(runId)).error).to.equal(null);
    const { tasks } = await registry.tasks(runId);
    expect(new Map(tasks.map(({ task_id, inputs }) => [task_id, inputs]))).to.deep.equal(recorder.inputs);
    expect(recorder.inputs.get('c1')).to.deep.include({ l: ['s', 'from b'], k: 'from a', g: 7 });
  });

  it('find the keys that they read of the session in steps, of which a task may have tens of thousands', () => {
    const inputs = Object.fromEntries(
      Array.from({ length: 30_000 }, (_, i) => [`i${i}`, `{{session.k${i}}}`]),
    );
    const text = JSON.stringify({
      pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs }] },
    });
    const pipeline = parsePipeline(text);
    const run = { prepared: { ownsBlackboard: true, pipeline }, work: { writesBefore: () => [] } };
    const renderer = new InputRenderer(
      run as unknown as PipelineRun,
      () => ({ session: {}, writes: [] }),
      () => undefined,
    );
    const [task] = pipeline.tasks.values();
    expect([...renderer.prepare(task as Task)].length).to.be.at.least(6);
  });
});
