import { expect } from 'chai';
import type { Problem } from '../../lib/definition/problems/problem.js';
import type { PlanCheckOptions, PlanCheckResult } from '../../lib/plans/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { onlyProblem } from '../support/definitions/check-pipeline.js';
import { checkPlanText, formatPlanProblems, toFile, validPlan } from '../support/definitions/check-plan.js';
import { subPipelineText } from '../support/definitions/parse-plan.js';

const STORES_KA = subPipelineText('a', '{id: s, tool: store, inputs: {key: ka, value: 1}}', 'stores: [ka]');
const SKIPPED = subPipelineText(
  'b',
  '{id: t, tool: store, inputs: {key: kb, value: 1}}',
  'stores: [kb], when: "{{session.ka}}"',
);
const LISTS = ['on_success', 'on_failure', 'on_cancel', 'finally'] as const;

/** Checks a plan with these fields in block style, each on a line of its own from line 3 on. */
function check(fields: string, options?: Partial<PlanCheckOptions>): PlanCheckResult {
  return checkPlanText(
    `id: p\ninputs: {limit: 3}\n${fields}\nsub_pipelines: [${STORES_KA}, ${SKIPPED}]`,
    options,
  );
}

/** A handler that reads a template. */
const reading = (template: string, more = ''): string =>
  `{id: z, tool: mock, ${more}inputs: {v: "${template}"}}`;

describe('The handlers of a plan (D80)', () => {
  for (const fields of [
    'finally: [{id: z, tool: mock}]',
    'on_cancel: null',
    'finally: [{id: z, tool: mock, retry: null, timeout: null}]',
    `on_success: [${reading('{{session.ka}} {{pipeline.inputs.limit}} {{pipeline.goal}} {{run.status}}')}]`,
    `on_failure: [${reading('{{session.ka ?? 0}} {{run.error}} {{run.failed_task}}')}]`,
    `on_failure: [${reading('{{session.ka}}', 'when: "{{session.ka ?? null}}", ')}]`,
    `on_cancel: [{id: y, tool: mock}]\nfinally: [${reading('{{y.output ?? 0}}')}]`,
    `finally: [{id: y, tool: store, inputs: {key: own, value: 1}}, ${reading('{{session.own}}', 'await: [y], ')}]`,
    'handler_timeout: 10m\nfinally: [{id: z, tool: mock, retry: 2}, {id: y, tool: mock, await: [z]}]',
  ]) {
    it(`may be ${fields}`, () => {
      expect(check(fields).problems).to.deep.equal([]);
    });
  }

  it('are a pipeline without tasks, which lists the keys that they read', () => {
    const finallyZ = { id: 'z', tool: 'mock', inputs: { v: '{{session.ka ?? 0}} {{session.kb ?? 0}}' } };
    const fields = `goal: "{{as}} it {{stands"\nhandler_timeout: 1m\non_failure: [{id: y, tool: mock}]\nfinally: [${JSON.stringify(finallyZ)}]`;
    const { handlers, statistics, sizeBytes } = validPlan(check(fields));
    expect(handlers?.definition).to.deep.equal({
      id: 'p',
      goal: '{{as}} it {{stands',
      inputs: { limit: 3 },
      reads: ['ka', 'kb'],
      handler_timeout: '1m',
      on_failure: [{ id: 'y', tool: 'mock' }],
      finally: [finallyZ],
      tasks: [],
    });
    expect(handlers?.goal.render({ params: {} } as never, undefined)).to.equal('{{as}} it {{stands');
    expect(handlers?.waves).to.deep.equal([]);
    expect([...(handlers?.tasks.keys() ?? [])]).to.deep.equal([]);
    expect(handlers?.allWaves).to.deep.equal([['y'], ['z']]);
    expect(handlers?.handlers?.lists).to.deep.equal(['on_failure', 'finally']);
    expect(statistics).to.include({ tasks: 2, handlers: 2 });
    expect(statistics.handler_waves).to.deep.equal([
      { list: 'on_failure', ids: ['y'] },
      { list: 'finally', ids: ['z'] },
    ]);
    const without = validPlan(check(''));
    expect(without.handlers).to.equal(undefined);
    expect(without.statistics).to.not.have.any.keys('handlers', 'handler_waves');
    expect(sizeBytes).to.be.above(without.sizeBytes + (handlers?.sizeBytes ?? Number.POSITIVE_INFINITY));
  });

  const wrong: readonly (readonly [fields: string, path: string, message: RegExp, hint?: RegExp])[] = [
    ['finally: []', 'finally', /must not be empty/],
    ['finally: {id: z, tool: mock}', 'finally', /must be a list/, /begin each task with/],
    ['finally: [1]', 'finally/0', /must be a map/],
    ['finally: [{tool: mock}]', 'finally/0', /handler 1 has no "id"/, /write id: NAME/],
    ['finally: [{id: z, tool: mock, retries: 2}]', 'finally/0/retries', /no field "retries"/, /"retry"/],
    ['finally: [{id: z, tool: moc}]', 'finally/0/tool', /no tool "moc"/, /"mock"/],
    ['finally: [{id: z, tool: store}]', 'finally/0/inputs', /"key"/],
    [
      'finally: [{id: z, tool: mock, when: never}]',
      'finally/0/when',
      /needs a template/,
      /session\.KEY \?\? null/,
    ],
    ['finally: [{id: a, tool: mock}]', 'finally/0/id', /handler "a" has the id of a sub-pipeline/],
    [
      'finally: [{id: z, tool: mock, repeat: {until: "{{run.id}}"}}]',
      'finally/0/repeat/until',
      /never reads {{this\.output}}/,
    ],
    [
      'on_cancel: [{id: z, tool: mock}]\nfinally: [{id: z, tool: mock}]',
      'finally/0/id',
      /duplicate task id "z"/,
    ],
    ['handler_timeout: 0s', 'handler_timeout', /> 0/],
    [
      'finally: [{id: z, tool: mock, await: [y]}, {id: y, tool: mock, await: [z]}]',
      'finally/0',
      /wait for each other/,
    ],
    [
      `on_failure: [{id: y, tool: mock}]\non_success: [${reading('{{y.output}}')}]`,
      'on_success/0/inputs/v',
      /another case/,
    ],
    [`finally: [${reading('{{pipeline.inputs.limt}}')}]`, 'finally/0/inputs/v', /no input "limt"/, /"limit"/],
    [
      `finally: [${reading('{{params.limit}}')}]`,
      'finally/0/inputs/v',
      /no param/,
      /pipeline\.inputs\.limit/,
    ],
    [`finally: [${reading('{{params.x}}')}]`, 'finally/0/inputs/v', /no param/, /^a plan has no params/],
    [`finally: [${reading('{{run.state}}')}]`, 'finally/0/inputs/v', /"run" has only/],
    [`finally: [${reading('{{item}}')}]`, 'finally/0/inputs/v', /without parallel_over/],
    [
      `finally: [${reading('{{item}}', 'parallel_over: "{{secrets.X}}", ')}]`,
      'finally/0/parallel_over',
      /secrets/,
    ],
  ];
  for (const [fields, path, message, hint] of wrong) {
    it(`may not be ${fields}`, () => {
      const [problem] = check(fields).problems;
      expect(problem).to.include({ severity: 'error', path: `/${path}` });
      expect(problem?.message).to.match(message);
      if (hint !== undefined) expect(problem?.hint).to.match(hint);
    });
  }

  it('read no output of a sub-pipeline or its tasks, and the hint says to store it', () => {
    for (const template of ['{{a.output}}', '{{s.output.x}}']) {
      const problem = onlyProblem(check(`finally: [${reading(template)}]`));
      expect(problem).to.include({ code: 'unknown_reference', path: '/finally/0/inputs/v', line: 3 });
      expect(problem.hint).to.match(/store it in "a" with the tool store, and write {{session\.KEY}}$/);
    }
    const awaiting = onlyProblem(check('finally: [{id: z, tool: mock, await: [s]}]'));
    expect(awaiting.hint).to.match(/^remove it: handlers of a plan run when all/);
    const key = onlyProblem(check(`finally: [${reading('{{ka}}')}]`));
    expect(key.fix?.edits.map(({ text }) => text)).to.deep.equal(['session.ka']);
  });

  describe('read keys of the blackboard', () => {
    const unknown: readonly (readonly [template: string, severity: Problem['severity'], hint: RegExp])[] = [
      ['{{session.kx}}', 'error', /"ka"/],
      ['{{session.other}}', 'error', /^add it to the "stores" .*, or pass it in the session$/],
      ['{{session.other ?? 1}}', 'warning', /unless it comes with the session$/],
    ];
    for (const [template, severity, hint] of unknown) {
      it(`of which none is ${template}, unless it is submitted`, () => {
        const problem = onlyProblem(check(`on_success: [${reading(template)}]`));
        expect(problem).to.include({ code: 'unsatisfied_read', severity, path: '/on_success/0/inputs/v' });
        expect(problem.message).to.match(/^no sub-pipeline stores "\w+", which handler "z" reads$/);
        expect(problem.hint).to.match(hint);
        const session = { kx: 1, other: 2 };
        expect(check(`on_success: [${reading(template)}]`, { session }).problems).to.deep.equal([]);
      });
    }

    it('of which each may be missing when the plan has not succeeded', () => {
      for (const list of LISTS.slice(1)) {
        const problem = onlyProblem(check(`${list}: [${reading('{{session.ka.x}} {{session.ka}}')}]`));
        expect(problem).to.include({
          code: 'may_be_skipped',
          severity: 'warning',
          path: `/${list}/0/inputs/v`,
          message: 'handler "z" fails when "a" has not stored it: only that one stores "ka"',
        });
        expect(problem.hint).to.contain('{{session.ka.x ?? null}}');
        expect(
          check(`${list}: [${reading('{{session.ka}}')}]`, { session: { ka: 1 } }).problems,
        ).to.deep.equal([]);
      }
    });

    it('of which those of a skipped sub-pipeline are missing when the plan has succeeded', () => {
      const problem = onlyProblem(check(`on_success: [${reading('{{session.kb}}')}]`));
      expect(problem).to.include({
        code: 'may_be_skipped',
        message: 'handler "z" fails when "b" was skipped: only that one stores "kb"',
      });
    });
  });

  it('are checked with the pipelines that they run, which see the whole blackboard', () => {
    const nested = (template: string): string =>
      `finally: [{id: z, tool: run_pipeline, inputs: {pipeline: {id: n, goal: g, tasks: [{id: t, tool: mock, inputs: {v: "${template}"}}]}}}]`;
    expect(check(nested('{{session.anything}}')).problems).to.deep.equal([]);
    const problem = onlyProblem(check(nested('{{nothing.output}}')));
    expect(problem).to.include({ line: 3, path: '/finally/0/inputs/pipeline/tasks/0/inputs/v' });
    expect(problem.message).to.match(/no task "nothing"/);
  });

  it('have problems in the order of the text, which hide none of the sub-pipelines and are hidden by none', () => {
    const plan = [
      'plan:',
      '  id: p',
      '  on_failure:',
      '    - {id: y, tool: moc}',
      '  sub_pipelines:',
      '    - id: a',
      '      stores: [ka]',
      '      pipeline: {id: a, goal: g, tasks: [{id: s, tool: nothing}]}',
      '    - {id: b}',
      '  finally:',
      '    - {id: z, tool: mock, inputs: {v: "{{session.kx}}"}}',
    ].join('\n');
    const pipelines = new Map([['b', toFile('{id: b, goal: g, tasks: [{id: t, tool: nothing}]}')]]);
    expect(formatPlanProblems(checkPlanText(plan, { pipelines }))).to.deep.equal([
      'unknown_tool at /plan/on_failure/0/tool',
      'unknown_tool at /plan/sub_pipelines/0/pipeline/tasks/0/tool',
      'unsatisfied_read at /plan/finally/0/inputs/v',
      'unknown_tool at /tasks/0/tool',
    ]);
  });

  it('read inputs of the run, which are then used', () => {
    const fields = `on_success: [${reading('{{pipeline.inputs.extra}}')}]`;
    expect(check(fields, { inputs: { extra: 1 } }).problems).to.deep.equal([]);
    expect(check('', { inputs: { extra: 1 } }).problems.map(({ code }) => code)).to.deep.equal([
      'unknown_input',
    ]);
  });

  it('have the tools, pools and secrets that there are', () => {
    const fields = `on_success: [${reading('{{secrets.TOKEN}}', 'pool: erp, ')}]`;
    const catalog = builtinCatalog().withPools(['gpu']);
    const codes = check(fields, { catalog, secrets: new Set() }).problems.map(({ code }) => code);
    expect(codes.sort()).to.deep.equal(['missing_secret', 'unknown_pool']);
    expect([...(validPlan(check(fields)).handlers?.contract.secrets.keys() ?? [])]).to.deep.equal(['TOKEN']);
  });

  it('of a plan that was checked before are not checked again', () => {
    const fields = `finally: [${reading('{{session.kx}}')}]`;
    const checked = check(fields, { isChecked: true });
    expect(checked.problems).to.deep.equal([]);
    expect(validPlan(checked).handlers?.definition.reads).to.deep.equal(['kx']);
  });
});
