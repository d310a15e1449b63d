import { expect } from 'chai';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkTaskList, formatProblems, onlyProblem } from '../../support/definitions/check-pipeline.js';

const TASK = '- {id: a, tool: mock, pool: erp}';

function check(tasks: string, pools?: readonly string[]) {
  const catalog = builtinCatalog();
  return checkTaskList(tasks, { catalog: pools === undefined ? catalog : catalog.withPools(pools) });
}

describe('The pool of a task (D81)', () => {
  it('is one of those that are set', () => {
    expect(check(TASK, ['erp', 'gpu']).problems).to.deep.equal([]);
  });

  it('is an error where the pools are known and it is none of them, with a fix for a misspelt one', () => {
    expect(onlyProblem(check('- {id: a, tool: mock, pool: erpp}', ['gpu', 'erp']))).to.deep.include({
      code: 'unknown_pool',
      severity: 'error',
      path: '/pipeline/tasks/0/pool',
      message: 'there is no pool "erpp": SERVICE_POOLS sets "gpu", "erp"',
      hint: 'did you mean "erp"?',
    });
    expect(onlyProblem(check(TASK, []))).to.deep.include({
      code: 'unknown_pool',
      message: 'there is no pool "erp": SERVICE_POOLS sets none',
      hint: 'SERVICE_POOLS sets the pools, as in SERVICE_POOLS=erp=3',
    });
  });

  it('is a warning, once for each pool, where nobody knows the pools: the file may be fine on its server', () => {
    const result = check(`${TASK}\n- {id: b, tool: mock, pool: erp}`);
    expect(result.ok).to.equal(true);
    expect(onlyProblem(result)).to.deep.include({
      code: 'unknown_pool',
      severity: 'warning',
      path: '/pipeline/tasks/0/pool',
      message: 'whether there is a pool "erp" is not known here',
      hint: 'a run needs it: SERVICE_POOLS sets the pools, as in SERVICE_POOLS=erp=3',
    });
  });

  it('is a name as the id of a task, or null', () => {
    expect(formatProblems(check('- {id: a, tool: mock, pool: "a b"}', ['a b']))).to.include(
      'invalid_value at /pipeline/tasks/0/pool',
    );
    expect(check('- {id: a, tool: mock, pool: null}', []).problems).to.deep.equal([]);
  });

  const nest = (outer: string, inner: string): string =>
    `- {id: o, tool: run_pipeline${outer}, inputs: {pipeline: {id: n, goal: g, tasks: [${inner}]}}}`;

  it('is refused within a pipeline that runs in a place of a pool, at any depth, whichever pool it is', () => {
    const deep = `{id: m, tool: run_pipeline, inputs: {pipeline: {id: d, goal: g, tasks: [{id: a, tool: mock, pool: gpu}]}}}`;
    expect(onlyProblem(check(nest(', pool: erp', deep), ['erp', 'gpu']))).to.deep.include({
      code: 'pool_within_pool',
      severity: 'error',
      path: '/pipeline/tasks/0/inputs/pipeline/tasks/0/inputs/pipeline/tasks/0/pool',
      message: 'this pipeline runs in a place of pool "erp": its tasks take none',
    });
    expect(check(nest('', '{id: a, tool: mock, pool: erp}'), ['erp']).problems).to.deep.equal([]);
  });
});
