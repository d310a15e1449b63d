import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import { assertPipelineCall, runPipeline } from '../../../lib/tools/builtin/run-pipeline.js';
import { validateInputs } from '../../../lib/tools/inputs/validate.js';
import type { PipelineCall } from '../../../lib/tools/tool.js';
import { toolContext } from '../../support/tool-context.js';

describe('run_pipeline (D49)', () => {
  it('calls run_pipeline of its context and returns the outcome', async () => {
    const calls: PipelineCall[] = [];
    const outcome = { outputs: { t: 1 }, waves_executed: 1, tasks_executed: 1 };
    const context = toolContext({
      runPipeline: (call) => {
        calls.push(call);
        return Promise.resolve(outcome);
      },
    });
    const checked = validateInputs(runPipeline, { file: 'x.yaml', inputs: { a: 1 } });
    expect(checked.ok && (await runPipeline.run(checked.inputs, context))).to.equal(outcome);
    expect(calls).to.deep.equal([{ file: 'x.yaml', inputs: { a: 1 }, params: {}, session: {} }]);
  });

  it('rejects an empty file name and params, inputs and session that are not objects', () => {
    const checked = validateInputs(runPipeline, { file: '', params: [], inputs: 1, session: 'x' });
    expect(!checked.ok && checked.errors).to.have.length(4);
  });

  for (const key of ['params', 'inputs', 'session'])
    it(`refuses more than 10,000 ${key} of a call, whose names are compared at once`, () => {
      const values = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1]));
      const call = { file: 'x.yaml', [key]: values };
      expect(() => assertPipelineCall(call)).to.throw(
        ToolError,
        `"${key}" has 10,001 values, more than 10,000`,
      );
      delete values['k0'];
      expect(() => assertPipelineCall(call)).not.to.throw();
    });
});
