import { expect } from 'chai';
import { checkToEnd } from '../../../lib/definition/text/source.js';
import { checkDefinition } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import {
  checkPipelineText,
  formatProblems,
  onlyProblem,
  wrapTasks,
  checkTaskList,
} from '../../support/definitions/check-pipeline.js';
import { checkPlanText, formatPlanProblems, wrapSubPipelines } from '../../support/definitions/check-plan.js';

const READS_LEAST = wrapTasks('- {id: t, tool: mock, inputs: {x: "{{pipeline.inputs.least ?? 1}}"}}');

describe('Unused inputs of a pipeline run (D5)', () => {
  it('cause a warning that suggests the input that was probably meant', () => {
    const check = checkPipelineText(READS_LEAST, { inputs: { leest: 1 } });
    expect(check.ok).to.be.true;
    expect(onlyProblem(check)).to.deep.equal({
      code: 'unknown_input',
      severity: 'warning',
      message: 'the input "leest" of the run is not used: the pipeline neither declares nor reads it',
      path: '',
      hint: 'did you mean "least"?',
    });
  });

  it('cause a warning for a definition that came as an object', () => {
    const value = { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] };
    const check = checkDefinition(value, { catalog: builtinCatalog(), inputs: { zebra: 1 } });
    expect(formatProblems(check)).to.deep.equal(['unknown_input at ']);
    expect(onlyProblem(check)).not.to.have.property('hint');
  });

  it('do not include inputs that the pipeline declares, or reads with a fallback', () => {
    expect(checkPipelineText(READS_LEAST, { inputs: { least: 1 } }).problems).to.deep.equal([]);
    const declaring = READS_LEAST.replace('  goal:', '  inputs: {most: 1}\n  goal:');
    expect(checkPipelineText(declaring, { inputs: { most: 2 } }).problems).to.deep.equal([]);
  });

  it('have a hint when a param has that name (D4)', () => {
    const withParam = READS_LEAST.replace('  goal:', '  params: {city: {default: Oslo}}\n  goal:');
    expect(onlyProblem(checkPipelineText(withParam, { inputs: { city: 'Bergen' } })).hint).to.equal(
      '"city" is a param: pass it with --params',
    );
  });

  it('are not reported for the inputs that a task passes to an inline pipeline (D49)', () => {
    const nested = '{id: n, goal: g, tasks: [{id: t, tool: mock}]}';
    for (const inputs of ['{most: 1}', '"{{pipeline.inputs.all ?? null}}"']) {
      const task = `- {id: call, tool: run_pipeline, inputs: {pipeline: ${nested}, inputs: ${inputs}}}`;
      expect(checkTaskList(task).problems).to.deep.equal([]);
    }
  });

  it('are not reported for the inputs that a task passes to a pipeline that is unknown before the run (D49)', () => {
    const caller = checkPipelineText(READS_LEAST);
    if (!caller.ok) throw new Error('it cannot run');
    const steps = caller.pipeline.checkNestedPipeline({ text: READS_LEAST }, { inputs: { most: 1 } });
    expect(checkToEnd(steps)).to.deep.include({ ok: true, problems: [] });
  });
});

describe('Unused inputs of a plan run (D5)', () => {
  const pipeline = '{id: p, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{pipeline.inputs.least}}"}}]}';
  const plan = wrapSubPipelines(`- {id: b, inputs: [least], pipeline: ${pipeline}}`, '  inputs: {most: 1}\n');

  it('cause one warning that suggests the input that was probably meant', () => {
    const check = checkPlanText(plan, { inputs: { least: 1, leest: 1 } });
    expect(check.ok).to.be.true;
    expect(onlyProblem(check)).to.deep.equal({
      code: 'unknown_input',
      severity: 'warning',
      message:
        'the input "leest" of the run is not used: the plan neither declares it nor passes it to a sub-pipeline',
      path: '',
      hint: 'did you mean "least"?',
    });
  });

  it('do not include inputs that the plan declares or passes on', () => {
    expect(checkPlanText(plan, { inputs: { least: 1, most: 1 } }).problems).to.deep.equal([]);
  });

  it('are reported together with errors', () => {
    expect(formatPlanProblems(checkPlanText(plan, { inputs: { leest: 1 } }))).to.deep.equal([
      'unknown_input at /plan/sub_pipelines/0/inputs/0',
      'warning: unknown_input at ',
    ]);
  });
});
