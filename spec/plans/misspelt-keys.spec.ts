import { expect } from 'chai';
import type { Problem } from '../../lib/definition/problems/problem.js';
import { onlyProblem } from '../support/definitions/check-pipeline.js';
import {
  checkPlanText,
  toFile,
  wrapSubPipelines,
  checkSubPipelines,
} from '../support/definitions/check-plan.js';

const STORING = '{id: p, goal: g, tasks: [{id: s, tool: store, inputs: {key: lines, value: 1}}]}';

function pipelineReading(expression: string): string {
  return `{id: p, goal: g, tasks: [{id: r, tool: mock, inputs: {x: "{{${expression}}}"}}]}`;
}

const READER = `- {id: b, reads: [lines], pipeline: ${pipelineReading('session.lines')}}`;
const LEAST = '  inputs: {least: 1}\n';

describe('A single mistake in a plan is one problem with a hint (D8)', () => {
  function storing(list: string): Problem {
    return onlyProblem(checkSubPipelines(`- {id: a, ${list}, pipeline: ${STORING}}\n${READER}`));
  }

  function problemOfInputs(list: string, head = LEAST): Problem {
    const text = `- {id: b, inputs: ${list}, pipeline: ${pipelineReading('pipeline.inputs.least')}}`;
    return onlyProblem(checkPlanText(wrapSubPipelines(text, head)));
  }

  it('reads a misspelt field as the one that was meant', () => {
    expect(storing('store: [lines]')).to.deep.include({
      code: 'unknown_field',
      hint: 'did you mean "stores"?',
    });
  });

  it('reads a word of another product as no misspelt field, although it is similar', () => {
    const text = `- {id: a, pipeline: {id: p, goal: g, tasks: [{id: s, tool: mock}]}}
- {id: b, needs: [a], pipeline: {id: p, goal: g, tasks: [{id: s, tool: mock}]}}`;
    const { code, hint } = onlyProblem(checkSubPipelines(text));
    expect(code).to.equal('unknown_field');
    expect(hint).to.match(/^the order follows from the keys/);
  });

  it('reads a key in place of a list as a list of that key', () => {
    expect(storing('stores: lines')).to.deep.include({
      code: 'wrong_type',
      message: '"stores" must be a list, not text',
      hint: 'write stores: [lines]',
    });
    const several = storing('stores: "lines, more"');
    expect(several.hint).to.equal('write stores: [lines, more]');
  });

  it('suggests the inputs of the plan for values in place of input keys', () => {
    expect(problemOfInputs('{least: 3}')).to.deep.include({
      code: 'wrong_type',
      message: '"inputs" must be a list, not a map',
      hint: 'write inputs: [least], a list of the plan\'s inputs; values go under the plan\'s own "inputs"',
    });
  });

  it('does not report a misspelt input in the pipeline again', () => {
    expect(problemOfInputs('[leest]')).to.deep.include({
      code: 'unknown_input',
      path: '/plan/sub_pipelines/0/inputs/0',
      hint: 'did you mean "least"?',
    });
  });

  it('suggests the key that was meant for a misspelt session key in a template', () => {
    const misspelt = `- {id: b, reads: [lines], pipeline: ${pipelineReading('session.lined')}}`;
    const storesOne = `- {id: a, stores: [lines], pipeline: ${STORING}}`;
    const near = { code: 'undeclared_read', severity: 'warning', hint: 'did you mean "lines"?' };
    expect(onlyProblem(checkSubPipelines(`${storesOne}\n${misspelt}`))).to.deep.include(near);
    const undeclared = misspelt.replace('reads: [lines], ', '');
    expect(onlyProblem(checkSubPipelines(`${storesOne}\n${undeclared}`))).to.deep.include(near);
    const given = checkSubPipelines(misspelt, { session: { lines: 1 } });
    expect(onlyProblem(given)).to.deep.include(near);
    const own = STORING.replace(
      'tasks: [',
      `tasks: [{id: r, tool: mock, inputs: {x: "{{session.lined}}"}}, `,
    );
    const storesIt = `- {id: a, stores: [lines], pipeline: ${own}}`;
    expect(onlyProblem(checkSubPipelines(storesIt))).to.deep.include(near);
  });

  it('does not compare the second sub-pipeline of an id with the file of the first', () => {
    const text = wrapSubPipelines('- {id: b, inputs: [least]}\n- {id: b}', LEAST);
    const pipelines = new Map([['b', toFile(pipelineReading('pipeline.inputs.least'))]]);
    expect(onlyProblem(checkPlanText(text, { pipelines }))).to.deep.include({
      code: 'duplicate_sub_pipeline',
      hint: 'rename one of them',
    });
  });

  it('suggests "pipeline:" for a pipeline that starts with "plan:"', () => {
    const pipelines = new Map([['b', toFile(`plan: ${pipelineReading('pipeline.goal')}`)]]);
    expect(onlyProblem(checkSubPipelines('- {id: b}', { pipelines }))).to.deep.include({
      message: 'it starts with "plan:" but contains "tasks"',
      path: '/plan',
      file: 'b.yaml',
      hint: 'start with "pipeline:"',
    });
  });

  it('reports a plan that starts with "pipeline:" as a plan in place of a pipeline', () => {
    const pipelines = new Map([['b', toFile('pipeline: {id: p, sub_pipelines: [{id: s}]}')]]);
    expect(onlyProblem(checkSubPipelines('- {id: b}', { pipelines })).code).to.equal('nested_plan');
  });
});
