import { expect } from 'chai';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';

const catalog = builtinCatalog();

/** Creates tasks with unknown tools. */
function mistakes(count: number): object {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, tool: `none_${index}` }));
  return { id: 'p', goal: 'g', tasks };
}

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
