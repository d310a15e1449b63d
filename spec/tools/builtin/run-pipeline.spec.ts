import { expect } from 'chai';
import { runPipeline } from '../../../lib/tools/builtin/run-pipeline.js';
import { checkInputs } from '../../../lib/tools/inputs/input-check.js';
import type { PipelineCall } from '../../../lib/tools/pipeline-call.js';
import { toolContext } from '../../support/tool-context.js';

describe('run_pipeline (D49)', () => {
  it('hands what it is given to the run around it, and gives the outcome', async () => {
    const calls: PipelineCall[] = [];
    const outcome = { outputs: { t: 1 }, waves_executed: 1, tasks_executed: 1 };
    const context = toolContext({
      run_pipeline: (call) => {
        calls.push(call);
        return Promise.resolve(outcome);
      },
    });
    const checked = checkInputs(runPipeline, { file: 'x.yaml', inputs: { a: 1 } });
    expect(checked.ok && (await runPipeline.run(checked.inputs, context))).to.equal(outcome);
    expect(calls).to.deep.equal([{ file: 'x.yaml', inputs: { a: 1 }, params: {}, session: {} }]);
  });

  it('refuses what is no file name, no params, no inputs and no session', () => {
    const checked = checkInputs(runPipeline, { file: '', params: [], inputs: 1, session: 'x' });
    expect(!checked.ok && checked.errors).to.have.length(4);
  });
});
