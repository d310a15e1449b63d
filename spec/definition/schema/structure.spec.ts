import { expect } from 'chai';
import { validate as validatePipeline } from '../../../lib/definition/generated/pipeline-validator.js';
import { validate as validatePlan } from '../../../lib/definition/generated/plan-validator.js';
import { MAX_PROBLEMS } from '../../../lib/definition/problems/problem.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

function repeat<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

describe('The generated validators of definitions (rule 11, D8)', () => {
  const wrong: [string, typeof validatePipeline, object][] = [
    ['pipeline', validatePipeline, { id: 'p', goal: 'g', tasks: Array(500_000).fill(1) }],
    ['plan', validatePlan, { id: 'p', sub_pipelines: repeat(500_000, () => ({})) }],
  ];
  for (const [kind, validate, definition] of wrong) {
    itTimed(`end at one error more than is reported, for a ${kind} that is wrong 500,000 times`, () => {
      const cpuMs = measureCpuMsSync(() => {
        expect(validate(definition)).to.equal(false);
      });
      expect(validate.errors).to.have.length(MAX_PROBLEMS + 1);
      validate.errors = null;
      expect(cpuMs).to.be.lessThan(50);
    });
  }

  it('report all errors of a definition with fewer', () => {
    expect(validatePipeline({ id: 'p', goal: 'g', tasks: repeat(300, () => ({ id: 'a' })) })).to.equal(false);
    expect(validatePipeline.errors).to.have.length(300);
    validatePipeline.errors = null;
  });
});
