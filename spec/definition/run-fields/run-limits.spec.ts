import { expect } from 'chai';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkPipelineText, onlyProblem } from '../../support/definitions/check-pipeline.js';

const pipeline = (fields: string): string =>
  `id: p\ngoal: "{{params.customer}}"\nparams: {customer: {}}\n${fields}\ntasks: [{id: a, tool: mock}]\n`;

describe('The limits of runs of a definition (D81)', () => {
  for (const fields of [
    'priority: -100',
    'priority: 100',
    'priority:',
    'max_running: 1',
    'max_running: 3\non_busy: cancel_running\nconcurrency_key: "{{params.customer}}"',
    'max_running: 1\non_busy: skip\nconcurrency_key: "to {{params.customer.id ?? 0}}"',
  ]) {
    it(`may be ${fields.replaceAll('\n', ', ')}`, () => {
      expect(checkPipelineText(pipeline(fields)).problems).to.deep.equal([]);
    });
  }

  for (const [fields, code, path, message] of [
    ['priority: 101', 'invalid_value', '/priority', '"priority" must be <= 100'],
    ['priority: 1.5', 'wrong_type', '/priority', '"priority" must be'],
    ['priority: high', 'wrong_type', '/priority', '"priority" must be'],
    ['max_running: 0', 'invalid_value', '/max_running', '"max_running" must be >= 1'],
    ['max_running: 1\non_busy: wait', 'invalid_value', '/on_busy', '"on_busy" must be'],
    ['on_busy: skip', 'no_effect', '/on_busy', '"on_busy" has no effect without "max_running"'],
    [
      'concurrency_key: "{{params.customer}}"',
      'no_effect',
      '/concurrency_key',
      '"concurrency_key" has no effect without "max_running"',
    ],
    [
      'max_running: 1\nconcurrency_key: "{{a.output}}"',
      'invalid_value',
      '/concurrency_key',
      '"concurrency_key" may only use params, not {{a.output}}',
    ],
    [
      'max_running: 1\nconcurrency_key: "{{params.custmer}}"',
      'invalid_value',
      '/concurrency_key',
      'the pipeline has no param "custmer"',
    ],
    [
      'max_running: 1\nconcurrency_key: "{{params."',
      'invalid_value',
      '/concurrency_key',
      '"concurrency_key": ',
    ],
  ] as const) {
    it(`may not be ${fields.replaceAll('\n', ', ')}`, () => {
      const problem = onlyProblem(checkPipelineText(pipeline(fields)));
      expect(problem).to.include({ code, path });
      expect(problem.message).to.contain(message);
    });
  }

  it('say what to write for a param of another name, and for a missing max_running', () => {
    const misspelt = pipeline('max_running: 1\nconcurrency_key: "{{params.custmer}}"');
    expect(onlyProblem(checkPipelineText(misspelt)).hint).to.equal('did you mean "customer"?');
    const { hint, fix } = onlyProblem(checkPipelineText(pipeline('on_busy: skip')));
    expect(hint).to.equal('write max_running: 1 beside it');
    expect(fix).not.to.equal(undefined);
  });

  it('are those of plans, too, which have no params to count by', () => {
    const plan = 'id: q\nmax_running: 1\npriority: 5\nconcurrency_key: x\nsub_pipelines: [{id: a}]';
    const { problems } = checkPlan(plan, { catalog: builtinCatalog(), pipelines: new Map() });
    const own = problems.filter(({ path }) => !path.startsWith('/sub_pipelines'));
    expect(own.map(({ path, hint }) => [path, hint])).to.deep.equal([
      ['/concurrency_key', 'a plan has no params: max_running counts all of its runs'],
    ]);
  });
});
