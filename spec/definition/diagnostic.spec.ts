import { expect } from 'chai';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { checkPipelineText, wrapTasks } from '../support/definitions/check-pipeline.js';

const catalog = builtinCatalog();

/** Creates tasks with unknown tools. */
function mistakes(count: number): object {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, tool: `none_${index}` }));
  return { id: 'p', goal: 'g', tasks };
}

describe('toProblem (D8)', () => {
  const COMMA = 'a comma ends a value inside { }: put the text in quotes';
  const hintsOf = (text: string): Record<string, string | undefined> =>
    Object.fromEntries(
      checkPipelineText(text).problems.map(({ path, hint }) => [path.replace(/^.*\//, ''), hint]),
    );

  it('says for an unknown input without a colon that a comma ends a text inside braces', () => {
    const inputs = '{ input: 1, expression: $round($sum(total), 2) }';
    const text = wrapTasks(`- { id: a, tool: transform, inputs: ${inputs} }`);
    expect(hintsOf(text)).to.have.property('2)', COMMA);
    const inText = `{ pipeline: ${JSON.stringify(text)} }`;
    expect(hintsOf(wrapTasks(`- { id: b, tool: run_pipeline, inputs: ${inText} }`))).to.have.property(
      '2)',
      COMMA,
    );
  });

  it('says the same for an unknown field without a colon', () => {
    const text =
      '{id: p, goal: g, params: {c: {description: a city, or town}}, tasks: [{id: a, tool: mock}]}';
    expect(hintsOf(text)).to.deep.equal({ 'or town': COMMA });
  });

  it('gives the other hint for an unknown name with a colon, and for one in an object', () => {
    const inputs = 'input: 1\n    expression: $\n    rest:';
    const definition = {
      id: 'p',
      goal: 'g',
      tasks: [{ id: 'a', tool: 'transform', inputs: { input: 1, expression: '$', rest: null } }],
    };
    const hint = 'it takes input, expression, bindings';
    expect(hintsOf(wrapTasks(`- id: a\n  tool: transform\n  inputs:\n    ${inputs}`))).to.deep.equal({
      rest: hint,
    });
    expect(checkDefinition(definition, { catalog }).problems.map((problem) => problem.hint)).to.deep.equal([
      hint,
    ]);
  });
});

describe('limitProblems (D8)', () => {
  it('keeps all problems, up to 1,000', () => {
    const { problems } = checkDefinition(mistakes(1000), { catalog });
    expect(problems).to.have.length(1000);
    expect(new Set(problems.map(({ code }) => code))).to.deep.equal(new Set(['unknown_tool']));
  });

  it('says that there are more problems than 1,000, so that no response is many times the size of its text', () => {
    const { ok, problems } = checkDefinition(mistakes(5000), { catalog });
    expect(ok).to.equal(false);
    expect(problems).to.have.length(1001);
    expect(problems.at(-1)).to.deep.equal({
      code: 'too_many',
      message: 'and more problems, not listed here',
      path: '',
      severity: 'error',
      hint: 'fix these first',
    });
    expect(checkDefinition(mistakes(1001), { catalog }).problems.at(-1)?.code).to.equal('too_many');
  });

  it('limits the problems of a plan and its pipelines together', () => {
    const sub_pipelines = ['a', 'b', 'c'].map((id) => ({ id, pipeline: mistakes(600) }));
    const { problems } = checkPlanDefinition({ id: 'p', sub_pipelines }, { catalog });
    expect(problems).to.have.length(1001);
    expect(problems.at(-1)?.message).to.equal('and more problems, not listed here');
  });
});
