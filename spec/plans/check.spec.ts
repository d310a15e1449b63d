import { expect } from 'chai';
import { checkPipeline } from '../../lib/pipelines/check.js';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import {
  checkingPlan,
  errorsIn,
  fileOf,
  keeping,
  onlyProblem,
  pipelineWith,
  planCodes,
  planOf,
  soundPlan,
} from '../support/definitions/checking-plans.js';

const catalog = builtinCatalog();
const IDLE = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };

describe('checking a plan (Plan, rule 3; D44)', () => {
  it('takes a plan under its key or bare, as YAML, JSON or an object (D3, D44)', () => {
    const definition = { id: 'spec', sub_pipelines: [{ id: 'a', pipeline: IDLE }] };
    expect(checkingPlan(planOf('- {id: a, pipeline: {id: p, goal: g, tasks: [{id: t, tool: mock}]}}')).ok).to
      .be.true;
    for (const value of [definition, { plan: definition }]) {
      expect(checkingPlan(JSON.stringify(value)).ok, JSON.stringify(value)).to.be.true;
      expect(checkPlanDefinition(value, { catalog }).ok, JSON.stringify(value)).to.be.true;
    }
  });

  it('gives the plan with its pipelines, in declared order, and who needs whom (Plan, rule 1)', () => {
    const plan = soundPlan(
      checkingPlan(
        planOf(`
${keeping('write', { reads: ['facts'], stores: ['text'] })}
- id: collect
  stores: [facts, facts]
  inputs: [topic]
  pipeline:
    id: p
    goal: g
    tasks: [{id: s, tool: store, inputs: {key: facts, value: "{{pipeline.inputs.topic}}"}}]
`),
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
    expect(plan.weight).to.be.above(500);
  });

  it('gives the statistics of the plan: order, waves, tasks, and who stores and reads each key', () => {
    const text = planOf(
      [
        keeping('c', { reads: ['x', 'given'], stores: ['y'] }),
        keeping('a', { stores: ['x'] }),
        keeping('b', { reads: ['x'] }),
      ].join('\n'),
      '  goal: be counted\n  inputs: {i: 1}\n  plan_concurrency: 3\n',
    );
    const check = checkingPlan(text, { session: { given: 1 } });
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

  it('refuses a pipeline as what it is, and the pipeline check a plan', () => {
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
    const text = planOf(keeping('a', {}));
    for (const plan of [text, text.replaceAll(/^plan:\n/g, '').replaceAll(/^ {2}/gm, '')]) {
      const [problem] = checkPipeline(plan, { catalog }).problems;
      expect(problem?.message).to.equal('this is a plan, not a pipeline');
      expect(problem?.hint).to.equal('run and validate it as a plan');
    }
  });

  it('holds the plan against the schema, in words of plans', () => {
    const check = checkingPlan(
      planOf('- {id: a, store: [x]}\n- {reads: x, pipeline: 1}\n- {id: 5}\n- {id: c d, stores: [""]}'),
      { complete: false },
    );
    expect(errorsIn(check).map(({ message, hint = '' }) => `${message} (${hint})`)).to.deep.equal([
      'there is no field "store" here (did you mean "stores"?)',
      'sub-pipeline 2 has no "id" ()',
      '"reads" must be a list, not text (write reads: [x])',
      '"pipeline" must be a map, not 1 ()',
      '"id" must be text, not 5 ()',
      '"c d" is no id (an id is letters, digits, _ and -, up to 128 of them, and starts with a letter or _; a plan may have dots in its own)',
      'entry 1 of "stores" must not be empty ()',
    ]);
    expect(
      onlyProblem(checkingPlan(planOf(`- {id: a, reads: [""], pipeline: ${pipelineWith({})}}`))),
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

  it('tells a pipeline that is no map once', () => {
    for (const pipeline of ['null', '1', '[]', 'text']) {
      expect(planCodes(checkingPlan(planOf(`- {id: a, pipeline: ${pipeline}}`))), pipeline).to.deep.equal([
        'wrong_type at /plan/sub_pipelines/0/pipeline',
      ]);
    }
  });

  it('says where each problem is, in the text and as a JSON pointer (D8)', () => {
    expect(onlyProblem(checkingPlan(planOf(keeping('a', { reads: ['x'] }))))).to.deep.equal({
      code: 'unsatisfied_read',
      message: 'no sub-pipeline stores "x", which "a" reads',
      path: '/plan/sub_pipelines/0/reads/0',
      severity: 'error',
      line: 4,
      column: 23,
      hint: 'add it to the "stores" of the one that writes it, or give it as session',
    });
  });

  it('tells the problems of an inline pipeline at their place in the plan', () => {
    const text = planOf(`
- id: a
  pipeline:
    id: p
    goal: g
    tasks:
      - {id: t, tool: mok}
`);
    expect(onlyProblem(checkingPlan(text))).to.deep.equal({
      code: 'unknown_tool',
      message: 'there is no tool "mok"',
      path: '/plan/sub_pipelines/0/pipeline/tasks/0/tool',
      severity: 'error',
      line: 9,
      column: 27,
      hint: 'did you mean "mock"?',
    });
  });

  it('tells an unquoted template of an inline pipeline once, in better words', () => {
    const text = planOf(
      '- id: a\n  pipeline:\n    id: p\n    goal: g\n    tasks: [{id: t, tool: mock, timeout: {{x.output}}}]',
    );
    expect(planCodes(checkingPlan(text))).to.deep.equal([
      'unquoted_template at /plan/sub_pipelines/0/pipeline/tasks/0/timeout',
    ]);
    expect(planCodes(checkingPlan(planOf(`- {id: {{x}}, pipeline: ${pipelineWith({})}}`)))).to.deep.equal([
      'unquoted_template at /plan/sub_pipelines/0/id',
    ]);
  });

  it('tells the problems of a file at their place in that file', () => {
    const pipelines = new Map([
      ['b', fileOf('pipeline:\n  id: p\n  goal: g\n  tasks:\n    - {id: t, tool: mok}')],
    ]);
    expect(onlyProblem(checkingPlan(planOf('- {id: b}'), { pipelines }))).to.deep.equal({
      code: 'unknown_tool',
      message: 'there is no tool "mok"',
      path: '/pipeline/tasks/0/tool',
      severity: 'error',
      line: 5,
      column: 21,
      file: 'b.yaml',
      hint: 'did you mean "mock"?',
    });
    const broken = new Map([['b', fileOf('a: [')]]);
    expect(onlyProblem(checkingPlan(planOf('- {id: b}'), { pipelines: broken }))).to.include({
      code: 'syntax',
      file: 'b.yaml',
      line: 1,
    });
  });

  it('tells the problems of a pipeline given beside the plan with a pointer to it', () => {
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

  it('warns of pipelines given beside the plan that nobody takes', () => {
    const pipelines = new Map([
      ['a', { value: IDLE }],
      ['bb', { value: IDLE }],
    ]);
    const check = checkingPlan(
      planOf(`- {id: a, pipeline: ${pipelineWith({})}}\n- {id: b, pipeline: ${pipelineWith({})}}`),
      {
        pipelines,
      },
    );
    expect(check.ok).to.be.true;
    expect(check.problems.map(({ path, message, hint }) => [path, message, hint])).to.deep.equal([
      ['/pipelines/a', 'the pipeline given for "a" is not used: the plan has one of its own', undefined],
      [
        '/pipelines/bb',
        'a pipeline is given for "bb", which is no sub-pipeline of the plan',
        'did you mean "b"?',
      ],
    ]);
  });

  it('takes a pipeline given beside the plan for the first of two sub-pipelines with one id', () => {
    const pipelines = new Map([['a', { value: IDLE }]]);
    const text = planOf(`- {id: a}\n- {id: a, pipeline: ${pipelineWith({})}}`);
    expect(planCodes(checkingPlan(text, { pipelines }))).to.deep.equal([
      'duplicate_sub_pipeline at /plan/sub_pipelines/1/id',
    ]);
  });

  it('wants every pipeline at hand, or warns of those that were not compared', () => {
    const text = planOf(`- {id: a, file: sub/a.yaml, stores: [x]}\n- {id: b, reads: [x]}`);
    expect(planCodes(checkingPlan(text))).to.deep.equal([
      'missing_pipeline at /plan/sub_pipelines/0/file',
      'missing_pipeline at /plan/sub_pipelines/1',
    ]);
    const check = checkingPlan(text, { complete: false });
    expect(planCodes(check)).to.deep.equal([
      'warning: missing_pipeline at /plan/sub_pipelines/0/file',
      'warning: missing_pipeline at /plan/sub_pipelines/1',
    ]);
    expect(check.ok && check.plan).to.equal(undefined);
    expect(check.ok && check.statistics.order).to.deep.equal(['a', 'b']);
  });

  it('tells why a pipeline could not be had', () => {
    const pipelines = new Map([['a', { missing: { message: 'it has gone', hint: 'look for it' } }]]);
    expect(onlyProblem(checkingPlan(planOf('- {id: a}'), { pipelines }))).to.include({
      code: 'missing_pipeline',
      message: 'it has gone',
      hint: 'look for it',
    });
    expect(onlyProblem(checkingPlan(planOf('- {id: a}'), { pipelines, complete: false })).message).to.equal(
      'sub-pipeline "a" was not compared with its pipeline: it has gone',
    );
  });

  it('refuses file and pipeline both (D44)', () => {
    expect(
      onlyProblem(checkingPlan(planOf(`- {id: a, file: a.yaml, pipeline: ${pipelineWith({})}}`))),
    ).to.include({
      code: 'invalid_value',
      message: 'sub-pipeline "a" has both "file" and "pipeline"',
      path: '/plan/sub_pipelines/0/file',
    });
  });

  it('refuses a plan as a sub-pipeline, inline, in a file or given, however deep they nest', () => {
    let nested: unknown = IDLE;
    for (let level = 0; level < 12; level++) {
      nested = { plan: { id: `level${level}`, sub_pipelines: [{ id: 'a', pipeline: nested }] } };
    }
    const levels = checkPlanDefinition(nested, { catalog });
    expect(planCodes(levels)).to.deep.equal(['nested_plan at /plan/sub_pipelines/0/pipeline']);
    expect(planCodes(checkingPlan(JSON.stringify(nested)))).to.deep.equal(planCodes(levels));
    const text = planOf('- {id: a, file: x.yaml}\n- {id: b}');
    const pipelines = new Map([
      ['a', fileOf(text, 'x.yaml')],
      ['b', { value: nested }],
    ]);
    expect(planCodes(checkingPlan(text, { pipelines }))).to.deep.equal([
      'nested_plan at /plan/sub_pipelines/0/file',
      'nested_plan at /plan/sub_pipelines/1',
    ]);
  });

  it('refuses plans that nest deeper than any definition may, without falling over', () => {
    const deep = '{"sub_pipelines":[{"id":"a","pipeline":'.repeat(5000);
    expect(planCodes(checkingPlan(deep))).to.deep.equal(['too_deep at ']);
  });

  it('holds a broken pipeline against what the plan and the run give it, as far as that goes', () => {
    const broken = pipelineWith({ reads: ['declared', 'given', 'neither'] }).replace('mock', 'mok');
    const text = planOf(
      `- {id: b, reads: [declared], pipeline: ${broken}}\n${keeping('a', { stores: ['declared'] })}`,
    );
    expect(planCodes(checkingPlan(text, { session: { given: 1 } }))).to.deep.equal([
      'unknown_tool at /plan/sub_pipelines/0/pipeline/tasks/0/tool',
      'warning: session_never_stored at /plan/sub_pipelines/0/pipeline/tasks/2/inputs/x',
    ]);
  });

  it('gives each pipeline the inputs that are handed on to it, and no others', () => {
    const reading = (inputs: string) =>
      planOf(
        `- {id: a${inputs}, pipeline: {id: p, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{pipeline.inputs.topic}}"}}]}}`,
        '  inputs: {topic: tea}\n',
      );
    expect(checkingPlan(reading(', inputs: [topic]')).ok).to.be.true;
    const problem = onlyProblem(checkingPlan(reading('')));
    expect(problem.code).to.equal('unknown_reference');
    expect(problem.hint).to.equal(
      'give it a default under "inputs", or hand it on: name it in the "inputs" of sub-pipeline "a"',
    );
  });

  it('puts errors before warnings, and the plan before its files', () => {
    const pipelines = new Map([
      ['a', fileOf('id: p\ngoal: g\ntasks:\n- {id: t, tool: mok}\n- {id: t2, tool: mok}', 'a.yaml')],
    ]);
    const text = planOf(
      `- {id: a}\n- {id: b, stores: [x, x], pipeline: ${pipelineWith({ stores: ['x'] })}}\n- {id: b, pipeline: {}}`,
    );
    const check = checkingPlan(text, { pipelines });
    expect(
      check.problems.map(({ file = 'plan', severity, line }) => `${severity} ${file} ${line}`),
    ).to.deep.equal(['error plan 6', 'error plan 6', 'error a.yaml 4', 'error a.yaml 5', 'warning plan 5']);
  });
});
