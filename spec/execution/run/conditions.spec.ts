import { expect } from 'chai';
import { ControlledTool } from '../../support/controlled-tool.js';
import { startRun, type TestRun } from '../../support/runs/start-run.js';

const reasonsOf = (run: TestRun): Record<string, string> =>
  Object.fromEntries((run.record().skipped ?? []).map(({ task_id: id, reason }) => [id, reason]));

const outputsOf = (run: TestRun): Readonly<Record<string, unknown>> => run.record().result?.outputs ?? {};

/** Runs a task `a` of which `when` is the condition, over an input `x`. */
async function decide(when: string, x: unknown): Promise<string | undefined> {
  const run = await startRun(`{id: a, tool: mock, when: ${when}}`, { inputs: { x: x as never } });
  expect(run.record().status).to.equal('succeeded');
  return reasonsOf(run)['a'];
}

describe('A task with a condition (D77, D78)', () => {
  for (const x of [true, 1, 'yes', 'False', [0], { a: null }]) {
    it(`runs when the template gives ${JSON.stringify(x)}`, async () => {
      expect(await decide('"{{pipeline.inputs.x}}"', x)).to.equal(undefined);
    });
  }

  for (const [x, shown] of [
    [false, 'false'],
    [null, 'null'],
    [0, '0'],
    ['', 'an empty text'],
    ['false', '"false"'],
    [[], '[]'],
    [{}, '{}'],
  ] as const) {
    it(`is skipped when the template gives ${JSON.stringify(x)}, and says so`, async () => {
      expect(await decide('"{{pipeline.inputs.x}}"', x)).to.equal(`{{pipeline.inputs.x}} is ${shown}`);
    });
  }

  const schemas: readonly (readonly [keywords: string, x: unknown, reason: string | undefined])[] = [
    ['const: invoice', 'invoice', undefined],
    ['const: invoice', 'receipt', '{{pipeline.inputs.x}} must be "invoice", not "receipt"'],
    ['minimum: 3', 2, '{{pipeline.inputs.x}} must be at least 3, not 2'],
    ['pattern: "^a+$"', 'aab', '{{pipeline.inputs.x}} must match the pattern ^a+$, not "aab"'],
    ['not: {const: 1}', 1, '{{pipeline.inputs.x}} is 1, which "not" excludes'],
    ['not: {const: 1}', 2, undefined],
    ['minItems: 1', [], '{{pipeline.inputs.x}} must have at least 1 items'],
    [
      'exclusiveMinimum: 5',
      '12',
      '{{pipeline.inputs.x}} is the text "12", and exclusiveMinimum needs a number',
    ],
    ['not: {maximum: 5}', '12', '{{pipeline.inputs.x}} is the text "12", and maximum needs a number'],
    ['not: {maximum: 5}', 12, undefined],
    ['not: {not: {minimum: 5}}', '12', '{{pipeline.inputs.x}} is the text "12", and minimum needs a number'],
    ['not: {type: string, maximum: 5}', '12', '{{pipeline.inputs.x}} is "12", which "not" excludes'],
    ['minItems: 1', null, '{{pipeline.inputs.x}} is null, and minItems needs a list'],
    ['pattern: a', [1], '{{pipeline.inputs.x}} is a list, and pattern needs a text'],
    ['required: [a]', '', '{{pipeline.inputs.x}} is an empty text, and required needs an object'],
    ['type: [string, number], minimum: 5', '12', undefined],
    ['anyOf: [{const: none}, {minimum: 5}]', 'none', undefined],
    ['anyOf: [{const: none}, {minimum: 5}]', 'some', '{{pipeline.inputs.x}} must match a schema in "anyOf"'],
    [
      'not: {anyOf: [{const: none}, {minimum: 5}]}',
      'some',
      '{{pipeline.inputs.x}} is the text "some", and minimum needs a number',
    ],
    [
      'properties: {n: {minimum: 5}}',
      { n: '12' },
      '{{pipeline.inputs.x}}: field "n" is the text "12", and minimum needs a number',
    ],
    ['not: {const: 5}', '12', undefined],
  ];
  for (const [keywords, x, reason] of schemas) {
    it(`looks at ${keywords} of ${JSON.stringify(x)}`, async () => {
      expect(await decide(`{value: "{{pipeline.inputs.x}}", ${keywords}}`, x)).to.equal(reason);
    });
  }

  it('shows nothing of a long text that has the wrong type', async () => {
    const reason = await decide('{value: "{{pipeline.inputs.x}}", minimum: 1}', 'x'.repeat(1000));
    expect(reason).to.equal('{{pipeline.inputs.x}} is a text, and minimum needs a number');
  });

  it('needs all conditions of a list, and looks at none after the first that does not hold', async () => {
    const when = '["{{pipeline.inputs.x}}", "{{pipeline.inputs.x.y.z}}"]';
    expect(await decide(when, false)).to.equal('{{pipeline.inputs.x}} is false');
  });

  it('fails when a condition reads what is not there (D13)', async () => {
    const run = await startRun('{id: a, tool: mock, when: "{{pipeline.inputs.x.y}}"}', { inputs: { x: 1 } });
    expect(run.record().status).to.equal('failed');
    expect(run.record().error).to.contain('pipeline.inputs.x');
  });

  it('fails when the check of a condition would take too long', async () => {
    const x = Array.from({ length: 60_000 }, (_, at) => at);
    const items = '{type: integer, minimum: 0}';
    const run = await startRun(
      `{id: a, tool: mock, when: {value: "{{pipeline.inputs.x}}", items: ${items}}}`,
      { inputs: { x } },
    );
    expect(run.record().error).to.match(
      /^\{\{pipeline\.inputs\.x\}\}: cannot be checked: that takes more than 100,000 steps/,
    );
  });

  it('calls nothing, has no output, and has one event', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled, when: "{{pipeline.inputs.x}}"}', {
      tools: [controlled.tool],
      inputs: { x: 0 },
    });
    expect(controlled.calls).to.deep.equal([]);
    expect(outputsOf(run)).to.deep.equal({});
    const [event, ...others] = run.events.filter((each) => 'task_id' in each);
    expect(event).to.deep.include({ kind: 'skip', task_id: 'a', reason: '{{pipeline.inputs.x}} is 0' });
    expect(others).to.deep.equal([]);
    expect(run.record().progress).to.deep.include({ waves_executed: 0, tasks_settled: 1, invocations: 0 });
  });

  it('takes those with it that read its output without a default, also through others, and no others', async () => {
    const run = await startRun(
      `{id: a, tool: mock, when: "{{pipeline.inputs.x}}"}, {id: b, tool: mock, inputs: {v: "{{a.output}}"}},
       {id: c, tool: mock, inputs: {v: "{{b.output}}"}}, {id: d, tool: mock, await: [a, c]},
       {id: e, tool: mock, inputs: {v: "{{a.output ?? 7}} {{a.status}}"}}`,
      { inputs: { x: false } },
    );
    expect(reasonsOf(run)).to.deep.equal({
      a: '{{pipeline.inputs.x}} is false',
      b: 'it reads the output of "a", which was skipped',
      c: 'it reads the output of "b", which was skipped',
    });
    expect(Object.keys(outputsOf(run))).to.have.members(['d', 'e']);
    expect(outputsOf(run)['e']).to.deep.include({ inputs: { v: '7 skipped' } });
  });
});

describe('A fan-out with a condition (D77, D78)', () => {
  it('skips the items of which it does not hold, with null in their places', async () => {
    const run = await startRun(
      '{id: a, tool: mock, parallel_over: "{{pipeline.inputs.x}}", when: {value: "{{item.n}}", minimum: 2}, inputs: {n: "{{item.n}}"}}',
      { inputs: { x: [{ n: 1 }, { n: 2 }] } },
    );
    const [first, second] = outputsOf(run)['a'] as readonly unknown[];
    expect(first).to.equal(null);
    expect(second).to.deep.include({ inputs: { n: 2 } });
    const skips = run.events.filter((event) => event.kind === 'item' && event.phase === 'skip');
    expect(skips.map((event) => 'reason' in event && event.reason)).to.deep.equal([
      '{{item.n}} must be at least 2, not 1',
    ]);
  });

  it('does not render its list when a condition without the item does not hold', async () => {
    const run = await startRun(
      '{id: a, tool: mock, parallel_over: "{{pipeline.inputs.x}}", when: ["{{item}}", "{{pipeline.inputs.y}}"], inputs: {n: "{{item}}"}}',
      { inputs: { x: 'no list', y: false } },
    );
    expect(reasonsOf(run)['a']).to.equal('{{pipeline.inputs.y}} is false');
  });

  it('fails for the item of which the condition reads what is not there', async () => {
    const run = await startRun(
      '{id: a, tool: mock, on_item_error: collect, parallel_over: "{{pipeline.inputs.x}}", when: "{{item.ok}}", inputs: {n: "{{item}}"}}',
      { inputs: { x: [{}, { ok: true }] } },
    );
    expect(run.record().failures.map(({ item }) => item)).to.deep.equal([0]);
  });
});

describe('A task with on_error: continue (D79)', () => {
  const TASKS = `{id: a, tool: controlled, on_error: continue, retry: 1, retry_delay: 0},
    {id: b, tool: mock, inputs: {v: "{{a.output}}"}}, {id: c, tool: mock, inputs: {v: "{{a.status}}: {{a.error}}"}}`;

  it('lets its run go on when it has failed after its retries, and lists the failure', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(TASKS, { tools: [controlled.tool] });
    await controlled.rejects(new Error('no luck'));
    await run.advance(0);
    await controlled.rejects(new Error('no luck at all'));
    expect(run.record()).to.deep.include({
      status: 'succeeded',
      error: null,
      failed_task: null,
      failures: [{ task_id: 'a', error: 'no luck at all', attempts: 2, tolerated: true }],
    });
    expect(reasonsOf(run)).to.deep.equal({ b: 'it reads the output of "a", which has failed' });
    expect(outputsOf(run)['c']).to.deep.include({ inputs: { v: 'failed: no luck at all' } });
  });

  it('gives no error when it has succeeded', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(TASKS, { tools: [controlled.tool] });
    await controlled.returns('fine');
    expect(outputsOf(run)['b']).to.deep.include({ inputs: { v: 'fine' } });
    expect(outputsOf(run)['c']).to.deep.include({ inputs: { v: 'succeeded: ' } });
  });

  it('leaves fields of its output that are called like its state', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      '{id: a, tool: controlled, on_error: continue}, {id: b, tool: mock, inputs: {v: "{{a.output.status ?? 0}} {{a.output.error ?? 0}}"}}',
      { tools: [controlled.tool] },
    );
    await controlled.returns({ status: 204, error: 'none' });
    expect(outputsOf(run)['b']).to.deep.include({ inputs: { v: '204 none' } });
  });

  it('lets the run fail for another task, which is its cause', async () => {
    const controlled = new ControlledTool();
    const run = await startRun(
      '{id: a, tool: controlled, on_error: continue}, {id: b, tool: controlled}, {id: c, tool: mock, await: [a]}',
      { tools: [controlled.tool] },
    );
    const [first, second] = controlled.calls;
    await controlled.rejects(new Error('borne'), first);
    await controlled.rejects(new Error('fatal'), second);
    expect(run.record()).to.deep.include({ status: 'failed', error: 'fatal', failed_task: { task_id: 'b' } });
  });

  it('bears the failure of a fan-out', async () => {
    const run = await startRun(
      '{id: a, tool: mock, on_error: continue, parallel_over: "{{pipeline.inputs.x}}", inputs: {n: "{{item.y}}"}}, {id: b, tool: mock, await: [a]}',
      { inputs: { x: [1] } },
    );
    expect(run.record().status).to.equal('succeeded');
    expect(Object.keys(outputsOf(run))).to.deep.equal(['b']);
  });
});
