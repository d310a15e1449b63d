import { expect } from 'chai';
import { checkPipeline } from '../../lib/pipelines/check.js';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { onlyProblem } from '../support/definitions/check-pipeline.js';
import {
  checkPlanText,
  listErrors,
  toFile,
  matchingSubPipeline,
  pipelineWith,
  formatPlanProblems,
  wrapSubPipelines,
  validPlan,
  checkSubPipelines,
} from '../support/definitions/check-plan.js';

const catalog = builtinCatalog();
const IDLE = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };

describe('checkPlan (Plan, rule 3; D44)', () => {
  it('accepts a plan under its key or bare, as YAML, JSON or an object (D3, D44)', () => {
    const definition = { id: 'spec', sub_pipelines: [{ id: 'a', pipeline: IDLE }] };
    expect(checkSubPipelines('- {id: a, pipeline: {id: p, goal: g, tasks: [{id: t, tool: mock}]}}').ok).to.be
      .true;
    for (const value of [definition, { plan: definition }]) {
      expect(checkPlanText(JSON.stringify(value)).ok, JSON.stringify(value)).to.be.true;
      expect(checkPlanDefinition(value, { catalog }).ok, JSON.stringify(value)).to.be.true;
    }
  });

  it('returns the plan with its pipelines in declared order and their needs (Plan, rule 1)', () => {
    const plan = validPlan(
      checkSubPipelines(
        `
${matchingSubPipeline('write', { reads: ['facts'], stores: ['text'] })}
- id: collect
  stores: [facts, facts]
  inputs: [topic]
  pipeline:
    id: p
    goal: g
    tasks: [{id: s, tool: store, inputs: {key: facts, value: "{{pipeline.inputs.topic}}"}}]
`,
        { inputs: { topic: 'tea' } },
      ),
    );
    const facts = [...plan.subPipelines.values()].map(({ pipeline, ...fact }) => ({
      ...fact,
      tasks: [...pipeline.tasks.keys()],
    }));
    expect(facts).to.deep.equal([
      {
        id: 'write',
        reads: ['facts'],
        stores: ['text'],
        inputs: [],
        needs: ['collect'],
        tasks: ['read0', 'store0'],
      },
      { id: 'collect', reads: [], stores: ['facts'], inputs: ['topic'], needs: [], tasks: ['s'] },
    ]);
    expect(plan.warnings.map(({ code, path }) => `${code} at ${path}`)).to.deep.equal([
      'repeated_key at /plan/sub_pipelines/1/stores/1',
    ]);
    expect(plan.sizeBytes).to.be.above(500);
  });

  it('refuses a plan of more than 2000 sub-pipelines', () => {
    const planOf = (count: number): unknown => ({
      id: 'p',
      sub_pipelines: Array.from({ length: count }, (_, index) => ({
        id: `s${index}`,
        pipeline: { id: 'q', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] },
      })),
    });
    const catalog = builtinCatalog();
    expect(checkPlanDefinition(planOf(2000), { catalog }).ok).to.equal(true);
    const { problems } = checkPlanDefinition(planOf(2001), { catalog });
    expect(problems.map(({ message }) => message)).to.deep.equal([
      '"sub_pipelines" must have at most 2000 entries',
    ]);
  });

  it('returns the statistics of the plan: order, waves, tasks, and the writers and readers of each key', () => {
    const text = wrapSubPipelines(
      [
        matchingSubPipeline('c', { reads: ['x', 'given'], stores: ['y'] }),
        matchingSubPipeline('a', { stores: ['x'] }),
        matchingSubPipeline('b', { reads: ['x'] }),
      ].join('\n'),
      '  goal: be counted\n  inputs: {i: 1}\n  plan_concurrency: 3\n',
    );
    const check = checkPlanText(text, { session: { given: 1 } });
    expect(check.ok && check.statistics).to.deep.equal({
      id: 'spec',
      goal: 'be counted',
      sub_pipelines: 3,
      inputs_count: 1,
      order: ['a', 'c', 'b'],
      waves: 2,
      wave_ids: [['a'], ['c', 'b']],
      plan_concurrency: 3,
      tasks: 5,
      keys: [
        { key: 'x', stored_by: 'a', read_by: ['c', 'b'] },
        { key: 'given', stored_by: null, read_by: ['c'] },
        { key: 'y', stored_by: 'c', read_by: [] },
      ],
    });
  });

  it('rejects a pipeline, as checkPipeline rejects a plan', () => {
    for (const value of [IDLE, { pipeline: IDLE }]) {
      expect(checkPlanDefinition(value, { catalog }).problems).to.deep.equal([
        {
          code: 'invalid_value',
          message: 'this is a pipeline, not a plan',
          path: '',
          severity: 'error',
          hint: 'run and validate it as a pipeline',
        },
      ]);
    }
    const text = wrapSubPipelines(matchingSubPipeline('a', {}));
    for (const plan of [text, text.replaceAll(/^plan:\n/g, '').replaceAll(/^ {2}/gm, '')]) {
      const [problem] = checkPipeline(plan, { catalog }).problems;
      expect(problem?.message).to.equal('this is a plan, not a pipeline');
      expect(problem?.hint).to.equal('run and validate it as a plan');
    }
  });

  it('validates the plan against the schema, with messages for plans', () => {
    const check = checkSubPipelines(
      '- {id: a, store: [x]}\n- {reads: x, pipeline: 1}\n- {id: 5}\n- {id: c d, stores: [""]}',
      { complete: false },
    );
    expect(listErrors(check).map(({ message, hint = '' }) => `${message} (${hint})`)).to.deep.equal([
      'there is no field "store" here (did you mean "stores"?)',
      'sub-pipeline 2 has no "id" ()',
      '"reads" must be a list, not text (write reads: [x])',
      '"pipeline" must be a map, not 1 ()',
      '"id" must be text, not 5 (put it in quotes, as in id: "5")',
      '"c d" is not a valid id (an id has up to 128 letters, digits, _ and -, and starts with a letter or _; the id of a plan may also start with a digit and contain dots)',
      'entry 1 of "stores" must not be empty ()',
    ]);
    expect(
      onlyProblem(checkSubPipelines(`- {id: a, reads: [""], pipeline: ${pipelineWith({})}}`)),
    ).to.include({
      code: 'invalid_value',
      message: 'entry 1 of "reads" must not be empty',
    });
    expect(onlyProblem(checkPlanDefinition({ id: 'p', sub_pipelines: [] }, { catalog })).message).to.equal(
      '"sub_pipelines" must not be empty',
    );
    expect(onlyProblem(checkPlanDefinition({ plan: { id: 'p' } }, { catalog })).message).to.equal(
      'the plan has no "sub_pipelines"',
    );
  });

  it('reports a pipeline that is not a map once', () => {
    for (const pipeline of ['1', '[]', 'text']) {
      expect(
        formatPlanProblems(checkSubPipelines(`- {id: a, pipeline: ${pipeline}}`)),
        pipeline,
      ).to.deep.equal(['wrong_type at /plan/sub_pipelines/0/pipeline']);
    }
  });

  it('locates each problem by line and JSON pointer (D8)', () => {
    expect(onlyProblem(checkSubPipelines(matchingSubPipeline('a', { reads: ['x'] })))).to.deep.equal({
      code: 'unsatisfied_read',
      message: 'no sub-pipeline stores "x", which "a" reads',
      path: '/plan/sub_pipelines/0/reads/0',
      severity: 'error',
      line: 4,
      column: 23,
      hint: 'add it to the "stores" of the sub-pipeline that writes it, or pass it in the session',
    });
  });

  it('locates the problems of an inline pipeline in the plan', () => {
    const text = wrapSubPipelines(`
- id: a
  pipeline:
    id: p
    goal: g
    tasks:
      - {id: t, tool: mok}
`);
    expect(onlyProblem(checkPlanText(text))).to.deep.equal({
      code: 'unknown_tool',
      message: 'there is no tool "mok"',
      path: '/plan/sub_pipelines/0/pipeline/tasks/0/tool',
      severity: 'error',
      line: 9,
      column: 27,
      hint: 'did you mean "mock"?',
      fix: {
        title: 'write "mock"',
        edits: [{ from: { line: 9, column: 27 }, to: { line: 9, column: 30 }, text: 'mock' }],
      },
    });
  });

  it('reports an unquoted template of an inline pipeline once, with the clearer message', () => {
    const text = wrapSubPipelines(
      '- id: a\n  pipeline:\n    id: p\n    goal: g\n    tasks: [{id: t, tool: mock, timeout: {{x.output}}}]',
    );
    expect(formatPlanProblems(checkPlanText(text))).to.deep.equal([
      'unquoted_template at /plan/sub_pipelines/0/pipeline/tasks/0/timeout',
    ]);
    expect(
      formatPlanProblems(checkSubPipelines(`- {id: {{x}}, pipeline: ${pipelineWith({})}}`)),
    ).to.deep.equal(['unquoted_template at /plan/sub_pipelines/0/id']);
  });

  it('locates the problems of a file in that file', () => {
    const pipelines = new Map([
      ['b', toFile('pipeline:\n  id: p\n  goal: g\n  tasks:\n    - {id: t, tool: mok}')],
    ]);
    expect(onlyProblem(checkSubPipelines('- {id: b}', { pipelines }))).to.deep.equal({
      code: 'unknown_tool',
      message: 'there is no tool "mok"',
      path: '/pipeline/tasks/0/tool',
      severity: 'error',
      line: 5,
      column: 21,
      file: 'b.yaml',
      hint: 'did you mean "mock"?',
      fix: {
        title: 'write "mock"',
        edits: [{ from: { line: 5, column: 21 }, to: { line: 5, column: 24 }, text: 'mock' }],
      },
    });
    const broken = new Map([['b', toFile('a: [')]]);
    expect(onlyProblem(checkSubPipelines('- {id: b}', { pipelines: broken }))).to.include({
      code: 'syntax',
      file: 'b.yaml',
      line: 1,
    });
  });

  it('locates the problems of a submitted pipeline with a JSON pointer to it', () => {
    const value = { ...IDLE, tasks: [{ id: 't', tool: 'mok' }] };
    const check = checkPlanDefinition(
      { id: 'p', sub_pipelines: [{ id: 'b' }, { id: 'c' }] },
      {
        catalog,
        pipelines: new Map([
          ['b', { value }],
          ['c', { text: 'id: p\ngoal: g\ntasks: [{id: t, tool: mok}]' }],
        ]),
      },
    );
    expect(check.problems).to.deep.equal([
      {
        code: 'unknown_tool',
        message: 'there is no tool "mok"',
        path: '/pipelines/b/tasks/0/tool',
        severity: 'error',
        hint: 'did you mean "mock"?',
      },
      {
        code: 'unknown_tool',
        message: 'line 3, column 23 of its text: there is no tool "mok"',
        path: '/pipelines/c/tasks/0/tool',
        severity: 'error',
        hint: 'did you mean "mock"?',
      },
    ]);
  });

  it('warns of submitted pipelines that no sub-pipeline uses', () => {
    const pipelines = new Map([
      ['a', { value: IDLE }],
      ['bb', { value: IDLE }],
    ]);
    const check = checkSubPipelines(
      `- {id: a, pipeline: ${pipelineWith({})}}\n- {id: b, pipeline: ${pipelineWith({})}}`,
      {
        pipelines,
      },
    );
    expect(check.ok).to.be.true;
    expect(check.problems.map(({ path, message, hint }) => [path, message, hint])).to.deep.equal([
      ['/pipelines/a', 'the submitted pipeline "a" is not used: the plan contains that pipeline', undefined],
      [
        '/pipelines/bb',
        'the submitted pipeline "bb" is not used: the plan has no sub-pipeline of that id',
        'did you mean "b"?',
      ],
    ]);
  });

  it('uses a submitted pipeline for the first of two sub-pipelines with the same id', () => {
    const pipelines = new Map([['a', { value: IDLE }]]);
    const text = wrapSubPipelines(`- {id: a}\n- {id: a, pipeline: ${pipelineWith({})}}`);
    expect(formatPlanProblems(checkPlanText(text, { pipelines }))).to.deep.equal([
      'duplicate_sub_pipeline at /plan/sub_pipelines/1/id',
    ]);
  });

  it('warns of pipelines that are not there yet, or requires them for a run (D55)', () => {
    const text = wrapSubPipelines(`- {id: a, file: sub/a.yaml, stores: [x]}\n- {id: b, reads: [x]}`);
    expect(formatPlanProblems(checkPlanText(text, { complete: true }))).to.deep.equal([
      'missing_pipeline at /plan/sub_pipelines/0/file',
      'missing_pipeline at /plan/sub_pipelines/1',
    ]);
    const check = checkPlanText(text);
    expect(formatPlanProblems(check)).to.deep.equal([
      'warning: missing_pipeline at /plan/sub_pipelines/0/file',
      'warning: missing_pipeline at /plan/sub_pipelines/1',
    ]);
    expect(check.ok && check.plan).to.equal(undefined);
    expect(check.ok && check.statistics.order).to.deep.equal(['a', 'b']);
  });

  it('reports why a pipeline is missing', () => {
    const text = wrapSubPipelines('- {id: a}');
    const pipelines = new Map([['a', { missing: { message: 'it has gone', hint: 'look for it' } }]]);
    expect(onlyProblem(checkPlanText(text, { pipelines, complete: true }))).to.include({
      code: 'missing_pipeline',
      severity: 'error',
      message: 'it has gone',
      hint: 'look for it',
    });
    expect(onlyProblem(checkPlanText(text, { pipelines }))).to.include({
      code: 'missing_pipeline',
      severity: 'warning',
      message: 'it has gone, so only the declaration of "a" in the plan was checked',
      hint: 'look for it',
    });
  });

  it('rejects a pipeline that is there and cannot be read, whether or not the plan will run (D55)', () => {
    const pipelines = new Map([['a', { unreadable: { message: 'it is a folder' } }]]);
    for (const complete of [true, false]) {
      const check = checkSubPipelines('- {id: a}', { pipelines, complete });
      expect(onlyProblem(check)).to.include({
        code: 'missing_pipeline',
        severity: 'error',
        message: 'it is a folder',
      });
    }
  });

  it('rejects a sub-pipeline with both file and pipeline (D44)', () => {
    expect(
      onlyProblem(checkSubPipelines(`- {id: a, file: a.yaml, pipeline: ${pipelineWith({})}}`)),
    ).to.include({
      code: 'invalid_value',
      message: 'sub-pipeline "a" has both "file" and "pipeline"',
      path: '/plan/sub_pipelines/0/file',
    });
  });

  it('rejects a plan as a sub-pipeline, whether inline, in a file or submitted, at any depth', () => {
    let nested: unknown = IDLE;
    for (let level = 0; level < 12; level++) {
      nested = { plan: { id: `level${level}`, sub_pipelines: [{ id: 'a', pipeline: nested }] } };
    }
    const levels = checkPlanDefinition(nested, { catalog });
    expect(formatPlanProblems(levels)).to.deep.equal(['nested_plan at /plan/sub_pipelines/0/pipeline']);
    expect(formatPlanProblems(checkPlanText(JSON.stringify(nested)))).to.deep.equal(
      formatPlanProblems(levels),
    );
    const text = wrapSubPipelines('- {id: a, file: x.yaml}\n- {id: b}');
    const pipelines = new Map([
      ['a', toFile(text, 'x.yaml')],
      ['b', { value: nested }],
    ]);
    expect(formatPlanProblems(checkPlanText(text, { pipelines }))).to.deep.equal([
      'nested_plan at /plan/sub_pipelines/0/file',
      'nested_plan at /plan/sub_pipelines/1',
    ]);
  });

  it('rejects plans that are nested deeper than the limit without overflowing the stack', () => {
    const deep = '{"sub_pipelines":[{"id":"a","pipeline":'.repeat(5000);
    expect(formatPlanProblems(checkPlanText(deep))).to.deep.equal(['too_deep at ']);
  });

  it('checks an invalid pipeline against the values of the plan and the run as far as possible', () => {
    const broken = pipelineWith({ reads: ['declared', 'given', 'neither'] }).replace('mock', 'mok');
    const text = wrapSubPipelines(
      `- {id: b, reads: [declared], pipeline: ${broken}}\n${matchingSubPipeline('a', { stores: ['declared'] })}`,
    );
    expect(formatPlanProblems(checkPlanText(text, { session: { given: 1 } }))).to.deep.equal([
      'unknown_tool at /plan/sub_pipelines/0/pipeline/tasks/0/tool',
      'warning: session_never_stored at /plan/sub_pipelines/0/pipeline/tasks/2/inputs/x',
    ]);
  });

  it('lets each pipeline read only the inputs that the plan passes to it', () => {
    const reading = (inputs: string) =>
      wrapSubPipelines(
        `- {id: a${inputs}, pipeline: {id: p, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{pipeline.inputs.topic}}"}}]}}`,
        '  inputs: {topic: tea}\n',
      );
    expect(checkPlanText(reading(', inputs: [topic]')).ok).to.be.true;
    const problem = onlyProblem(checkPlanText(reading('')));
    expect(problem.code).to.equal('unknown_reference');
    expect(problem.hint).to.equal(
      'give it a default under "inputs", or pass it in the "inputs" of sub-pipeline "a"',
    );
  });

  it('sorts errors before warnings, and the plan before its files', () => {
    const pipelines = new Map([
      ['a', toFile('id: p\ngoal: g\ntasks:\n- {id: t, tool: mok}\n- {id: t2, tool: mok}', 'a.yaml')],
    ]);
    const text = wrapSubPipelines(
      `- {id: a}\n- {id: b, stores: [x, x], pipeline: ${pipelineWith({ stores: ['x'] })}}\n- {id: b, pipeline: {}}`,
    );
    const check = checkPlanText(text, { pipelines });
    expect(
      check.problems.map(({ file = 'plan', severity, line }) => `${severity} ${file} ${line}`),
    ).to.deep.equal(['error plan 6', 'error plan 6', 'error a.yaml 4', 'error a.yaml 5', 'warning plan 5']);
  });
});
