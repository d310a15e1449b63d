import { expect } from 'chai';
import { createPlanReport } from '../../lib/plans/report.js';
import { toFile, matchingSubPipeline, checkSubPipelines } from '../support/definitions/check-plan.js';

describe('createPlanReport (D33, D41)', () => {
  it('contains the statistics and warnings of a valid plan', () => {
    const check = checkSubPipelines(
      matchingSubPipeline('a', { stores: ['x'] }).replace('stores: [x]', 'stores: [x, x]'),
    );
    const report = createPlanReport(check);
    expect({ ...report, stats: report.stats?.order, problems: report.problems.length }).to.deep.equal({
      ok: true,
      errors: null,
      warnings: ['line 4, column 38: "x" is listed twice in "stores" (keep one of them)'],
      problems: 1,
      message: 'Plan is valid',
      stats: ['a'],
    });
  });

  it('contains the errors of an invalid plan, with their files', () => {
    const pipelines = new Map([['b', toFile('id: p\ngoal: g', 'below/b.yaml')]]);
    const report = createPlanReport(checkSubPipelines('- {id: b, file: below/b.yaml}', { pipelines }));
    expect({ ...report, problems: report.problems.length }).to.deep.equal({
      ok: false,
      errors: [
        'below/b.yaml, line 1, column 1: the pipeline has no "tasks" (list the tasks under "tasks", each with an "id" and a "tool")',
      ],
      warnings: [],
      problems: 1,
      message: 'Validation failed',
      stats: null,
    });
  });
});
