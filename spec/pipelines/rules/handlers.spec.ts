import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { checkPipelineText } from '../../support/definitions/check-pipeline.js';

const head = 'id: p\ngoal: g\ntasks:\n- {id: a, tool: mock}\n- {id: b, tool: mock, await: [a]}\n';

const check = (fields: string): readonly Problem[] => checkPipelineText(`${head}${fields}`).problems;

describe('The check of handlers (D80)', () => {
  for (const fields of [
    'finally: [{id: z, tool: mock}]',
    'on_success: [{id: y, tool: mock, inputs: {v: "{{a.output}}"}}]',
    'on_failure: [{id: y, tool: mock, inputs: {v: "{{a.output ?? 0}} {{run.error}} {{run.failed_task}}"}}]',
    'on_cancel: null',
    'finally: [{id: z, tool: mock, retry: null, timeout: null, await: null}]',
    'on_failure: [{id: y, tool: mock}]\nfinally: [{id: z, tool: mock, await: [a, y], inputs: {v: "{{y.output ?? 0}}"}}]',
    'handler_timeout: 10m\nfinally: [{id: z, tool: mock, retry: 2}, {id: y, tool: mock, await: [z]}]',
  ]) {
    it(`allows ${fields}`, () => {
      expect(check(fields)).to.deep.equal([]);
    });
  }

  const problems: readonly (readonly [fields: string, path: string, message: RegExp])[] = [
    ['finally: []', 'finally', /must not be empty/],
    ['finally: {id: z, tool: mock}', 'finally', /must be a list/],
    ['finally: [{tool: mock}]', 'finally/0', /handler 1 has no "id"/],
    ['finally: [{id: z, tool: mock, retries: 2}]', 'finally/0/retries', /no field "retries"/],
    ['finally: [{id: z, tool: nothing}]', 'finally/0/tool', /no tool "nothing"/],
    ['finally: [{id: a, tool: mock}]', 'finally/0/id', /duplicate task id "a"/],
    ['handler_timeout: 0', 'handler_timeout', /> 0/],
    ['handler_timeout: 0s', 'handler_timeout', /> 0/],
    ['handler_timeout: 4000d', 'handler_timeout', /<= 3650d/],
    [
      'finally: [{id: z, tool: mock, await: [y]}, {id: y, tool: mock, await: [z]}]',
      'finally/0',
      /wait for each other/,
    ],
    [
      'on_success: [{id: x, tool: mock}]\non_failure: [{id: y, tool: mock, inputs: {v: "{{x.output ?? 0}}"}}]',
      'on_failure/0/inputs/v',
      /runs in another case/,
    ],
    [
      'on_failure: [{id: y, tool: mock, await: [z]}]\nfinally: [{id: z, tool: mock}]',
      'on_failure/0/await/0',
      /which runs later/,
    ],
  ];
  for (const [fields, path, message] of problems) {
    it(`refuses ${fields}`, () => {
      const [problem] = check(fields);
      expect(problem).to.include({ severity: 'error', path: `/${path}` });
      expect(problem?.message).to.match(message);
    });
  }

  for (const [template, meant] of [
    ['error', 'run.error'],
    ['failed_task', 'run.failed_task'],
    ['run.message', 'run.error'],
    ['run.conclusion', 'run.status'],
  ] as const) {
    it(`suggests {{${meant}}} for {{${template}}} in a handler`, () => {
      const [problem] = check(`on_failure: [{id: z, tool: mock, inputs: {v: "{{${template}}}"}}]`);
      expect(problem?.hint).to.equal(`did you mean "${meant}"?`);
    });
  }

  it('refuses tasks that read or await a handler, or how the run has ended', () => {
    const text = `id: p\ngoal: g\ntasks:\n- {id: a, tool: mock, await: [z], inputs: {v: "{{z.output}}", w: "{{run.error}}", x: "{{run.nothing}}"}}\nfinally: [{id: z, tool: mock}]`;
    expect(
      checkPipelineText(text)
        .problems.map(({ path, message }) => `${path} ${message}`)
        .sort(),
    ).to.deep.equal([
      '/tasks/0/await/0 task "a" awaits "z", which runs when all tasks have ended',
      '/tasks/0/inputs/v {{z.output}}: "z" is a handler, which runs when all tasks have ended',
      '/tasks/0/inputs/w {{run.error}}: task "a" runs before the end of the run is known',
      '/tasks/0/inputs/x {{run.nothing}}: "run" has only id, url, started_by, trigger, scheduled_for, answer_url, status, error, error_code, failed_task',
    ]);
  });

  it('warns of an output that may be missing when the handler runs', () => {
    for (const list of ['on_failure', 'on_cancel', 'finally']) {
      const [problem] = check(
        `${list}: [{id: z, tool: mock, inputs: {v: "{{b.output}}", w: "{{b.output.x}}"}}]`,
      );
      expect(problem).to.deep.include({
        code: 'may_be_skipped',
        severity: 'warning',
        path: `/${list}/0/inputs/v`,
      });
      expect(problem?.hint).to.contain('{{b.output ?? null}}');
    }
  });

  it('reports a list without handlers once, and fixes a handler without an id where it stands', () => {
    expect(check('finally: []').map(({ code }) => code)).to.deep.equal(['invalid_value']);
    const [problem] = check('finally:\n- {tool: mock}');
    expect(problem?.fix?.edits.map(({ from }) => from.line)).to.deep.equal([7]);
  });

  it('says nothing of an unquoted template in the pipeline of a handler but that it needs quotes', () => {
    const nested = '{id: n, goal: g, tasks: [{id: t, tool: mock, timeout: {{x}}}]}';
    const problems = check(`finally: [{id: z, tool: run_pipeline, inputs: {pipeline: ${nested}}}]`);
    expect(problems.map(({ code }) => code)).to.deep.equal(['unquoted_template']);
  });

  it('warns of a task that hides the namespace of the run', () => {
    const [problem] = checkPipelineText('id: p\ngoal: g\ntasks:\n- {id: run, tool: mock}').problems;
    expect(problem).to.include({ code: 'reserved_id', severity: 'warning' });
  });

  it('layers each list by itself, after the waves of the tasks', () => {
    const pipeline = parsePipeline(
      `${head}on_failure: [{id: y, tool: mock, await: [x]}, {id: x, tool: mock}]\nfinally: [{id: z, tool: mock, await: [b]}]`,
    );
    expect(pipeline.waves).to.deep.equal([['a'], ['b']]);
    expect(pipeline.allWaves).to.deep.equal([['a'], ['b'], ['x'], ['y'], ['z']]);
    expect([...pipeline.tasks.keys()]).to.deep.equal(['a', 'b']);
    expect(pipeline.allTasks.get('z')).to.include({ wave: 4, handlerOf: 'finally' });
    expect(pipeline.statistics).to.include({ tasks: 2, waves: 2, handlers: 3 });
  });
});
