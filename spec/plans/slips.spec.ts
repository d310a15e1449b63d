import { expect } from 'chai';
import type { Problem } from '../../lib/definition/problem.js';
import { checkingPlan, fileOf, onlyProblem, planOf } from '../support/definitions/checking-plans.js';

const STORING = '{id: p, goal: g, tasks: [{id: s, tool: store, inputs: {key: lines, value: 1}}]}';

function reading(expression: string): string {
  return `{id: p, goal: g, tasks: [{id: r, tool: mock, inputs: {x: "{{${expression}}}"}}]}`;
}

const READER = `- {id: b, reads: [lines], pipeline: ${reading('session.lines')}}`;
const LEAST = '  inputs: {least: 1}\n';

describe('one slip in a plan is one problem, with what to do about it (D8)', () => {
  function storing(list: string): Problem {
    return onlyProblem(checkingPlan(planOf(`- {id: a, ${list}, pipeline: ${STORING}}\n${READER}`)));
  }

  function handing(list: string, head = LEAST): Problem {
    const text = `- {id: b, inputs: ${list}, pipeline: ${reading('pipeline.inputs.least')}}`;
    return onlyProblem(checkingPlan(planOf(text, head)));
  }

  it('a misspelt field is read as the one that was meant', () => {
    expect(storing('store: [lines]')).to.deep.include({
      code: 'unknown_field',
      hint: 'did you mean "stores"?',
    });
  });

  it('a key where a list of keys belongs is read as the list of it', () => {
    expect(storing('stores: lines')).to.deep.include({
      code: 'wrong_type',
      message: '"stores" must be a list, not text',
      hint: 'write stores: [lines]',
    });
    const several = storing('stores: "lines, more"');
    expect(several.hint).to.equal('write stores: [lines, more]');
  });

  it('values where the keys of inputs belong are sent to the inputs of the plan', () => {
    expect(handing('{least: 3}')).to.deep.include({
      code: 'wrong_type',
      message: '"inputs" must be a list, not a map',
      hint: 'write inputs: [least], a list of the plan\'s inputs; values go under the plan\'s own "inputs"',
    });
  });

  it('an input that is misspelt where it is handed on is not missed in the pipeline too', () => {
    expect(handing('[leest]')).to.deep.include({
      code: 'unknown_input',
      path: '/plan/sub_pipelines/0/inputs/0',
      hint: 'did you mean "least"?',
    });
  });

  it('a session key that is misspelt in a template is held against those that may be meant', () => {
    const misspelt = `- {id: b, reads: [lines], pipeline: ${reading('session.lined')}}`;
    const storesOne = `- {id: a, stores: [lines], pipeline: ${STORING}}`;
    const near = { code: 'undeclared_read', severity: 'warning', hint: 'did you mean "lines"?' };
    expect(onlyProblem(checkingPlan(planOf(`${storesOne}\n${misspelt}`)))).to.deep.include(near);
    const undeclared = misspelt.replace('reads: [lines], ', '');
    expect(onlyProblem(checkingPlan(planOf(`${storesOne}\n${undeclared}`)))).to.deep.include(near);
    const given = checkingPlan(planOf(misspelt), { session: { lines: 1 } });
    expect(onlyProblem(given)).to.deep.include(near);
    const own = STORING.replace(
      'tasks: [',
      `tasks: [{id: r, tool: mock, inputs: {x: "{{session.lined}}"}}, `,
    );
    const storesIt = `- {id: a, stores: [lines], pipeline: ${own}}`;
    expect(onlyProblem(checkingPlan(planOf(storesIt)))).to.deep.include(near);
  });

  it('an id that two have is not compared with the file of the first', () => {
    const text = planOf('- {id: b, inputs: [least]}\n- {id: b}', LEAST);
    const pipelines = new Map([['b', fileOf(reading('pipeline.inputs.least'))]]);
    expect(onlyProblem(checkingPlan(text, { pipelines }))).to.deep.include({
      code: 'duplicate_sub_pipeline',
      hint: 'give one of them another id',
    });
  });

  it('a pipeline that begins with "plan:" is told to begin otherwise', () => {
    const pipelines = new Map([['b', fileOf(`plan: ${reading('pipeline.goal')}`)]]);
    expect(onlyProblem(checkingPlan(planOf('- {id: b}'), { pipelines }))).to.deep.include({
      message: 'it begins with "plan:" but holds "tasks"',
      path: '/plan',
      file: 'b.yaml',
      hint: 'begin with "pipeline:"',
    });
  });

  it('a plan that begins with "pipeline:" is a plan, where a pipeline belongs', () => {
    const pipelines = new Map([['b', fileOf('pipeline: {id: p, sub_pipelines: [{id: s}]}')]]);
    expect(onlyProblem(checkingPlan(planOf('- {id: b}'), { pipelines })).code).to.equal('nested_plan');
  });
});
