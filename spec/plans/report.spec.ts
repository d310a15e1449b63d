import { expect } from 'chai';
import { planReportOf } from '../../lib/plans/load.js';
import { checkingPlan, fileOf, keeping, planOf } from '../support/definitions/checking-plans.js';

describe('the report of a checked plan (D33, D41)', () => {
  it('has the statistics of a sound one, and its warnings', () => {
    const check = checkingPlan(
      planOf(keeping('a', { stores: ['x'] }).replace('stores: [x]', 'stores: [x, x]')),
    );
    const report = planReportOf(check);
    expect({ ...report, stats: report.stats?.order, problems: report.problems.length }).to.deep.equal({
      ok: true,
      errors: null,
      warnings: ['line 4, column 38: "x" stands twice in "stores" (keep one of them)'],
      problems: 1,
      message: 'Plan is valid',
      stats: ['a'],
    });
  });

  it('has the errors of one that is not, and names the files that they stand in', () => {
    const pipelines = new Map([['b', fileOf('id: p\ngoal: g', 'below/b.yaml')]]);
    const report = planReportOf(checkingPlan(planOf('- {id: b, file: below/b.yaml}'), { pipelines }));
    expect({ ...report, problems: report.problems.length }).to.deep.equal({
      ok: false,
      errors: ['below/b.yaml, line 1, column 1: the pipeline has no "tasks"'],
      warnings: [],
      problems: 1,
      message: 'Validation failed',
      stats: null,
    });
  });
});
