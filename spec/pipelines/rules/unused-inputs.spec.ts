import { expect } from 'chai';
import { checkDefinition } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checking, codes, only, pipelineOf } from '../../support/definitions/checking.js';
import { checkingPlan, onlyProblem, planCodes, planOf } from '../../support/definitions/checking-plans.js';

const READS_LEAST = pipelineOf('- {id: t, tool: mock, inputs: {x: "{{pipeline.inputs.least ?? 1}}"}}');

describe('inputs given for a run that nothing takes (D5)', () => {
  it('are told by a warning, with the input that was probably meant', () => {
    const check = checking(READS_LEAST, { inputs: { leest: 1 } });
    expect(check.ok).to.be.true;
    expect(only(check)).to.deep.equal({
      code: 'unknown_input',
      severity: 'warning',
      message: 'the input "leest" is given for the run, and the pipeline neither declares nor reads it',
      path: '',
      hint: 'did you mean "least"?',
    });
  });

  it('are told of a definition that came as an object, too', () => {
    const value = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };
    const check = checkDefinition(value, { catalog: builtinCatalog(), inputs: { zebra: 1 } });
    expect(codes(check)).to.deep.equal(['unknown_input at ']);
    expect(only(check)).not.to.have.property('hint');
  });

  it('are none that the pipeline declares, or reads with a value to fall back on', () => {
    expect(checking(READS_LEAST, { inputs: { least: 1 } }).problems).to.deep.equal([]);
    const declaring = READS_LEAST.replace('  goal:', '  inputs: {most: 1}\n  goal:');
    expect(checking(declaring, { inputs: { most: 2 } }).problems).to.deep.equal([]);
  });

  it('are pointed to the params when one is called so (D4)', () => {
    const withParam = READS_LEAST.replace('  goal:', '  params: {city: {default: Oslo}}\n  goal:');
    expect(only(checking(withParam, { inputs: { city: 'Bergen' } })).hint).to.equal(
      '"city" is a param: pass it with --params',
    );
  });

  it('are not looked for in a pipeline within a task, nor in what its call gives it (D49)', () => {
    const nested = '{id: n, goal: g, tasks: [{id: t, tool: mock}]}';
    for (const inputs of ['{most: 1}', '"{{pipeline.inputs.all ?? null}}"']) {
      const task = `- {id: call, tool: run_pipeline, inputs: {pipeline: ${nested}, inputs: ${inputs}}}`;
      expect(checking(pipelineOf(task)).problems).to.deep.equal([]);
    }
  });

  it('are not looked for in a pipeline that only the run knows (D49)', () => {
    const caller = checking(READS_LEAST);
    if (!caller.ok) throw new Error('it cannot run');
    const called = caller.pipeline.checkAnother({ text: READS_LEAST }, { inputs: { most: 1 } });
    expect(called).to.deep.include({ ok: true, problems: [] });
  });
});

describe('inputs given for the run of a plan that nothing takes (D5)', () => {
  const pipeline = '{id: p, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{pipeline.inputs.least}}"}}]}';
  const plan = planOf(`- {id: b, inputs: [least], pipeline: ${pipeline}}`, '  inputs: {most: 1}\n');

  it('are told by one warning, with the input that was probably meant', () => {
    const check = checkingPlan(plan, { inputs: { least: 1, leest: 1 } });
    expect(check.ok).to.be.true;
    expect(onlyProblem(check)).to.deep.equal({
      code: 'unknown_input',
      severity: 'warning',
      message:
        'the input "leest" is given for the run, and the plan neither declares it nor hands it on to a sub-pipeline',
      path: '',
      hint: 'did you mean "least"?',
    });
  });

  it('are none that the plan declares or hands on', () => {
    expect(checkingPlan(plan, { inputs: { least: 1, most: 1 } }).problems).to.deep.equal([]);
  });

  it('are told beside errors', () => {
    expect(planCodes(checkingPlan(plan, { inputs: { leest: 1 } }))).to.deep.equal([
      'unknown_input at /plan/sub_pipelines/0/inputs/0',
      'warning: unknown_input at ',
    ]);
  });
});
