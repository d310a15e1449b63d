import { expect } from 'chai';
import { ToolError } from '../../../lib/common/errors.js';
import { MODEL_LIMITS } from '../../../lib/common/limits.js';
import type { ModelAccess } from '../../../lib/models/models.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { startRun, type TestRun } from '../../support/runs/start-run.js';

const JOB = 'tool: llm_job, retry: 100000, retry_delay: 0, inputs: {prompt: hello}';

/** Asks until it is refused. */
const greedy = defineTool({
  name: 'greedy',
  description: 'asks without end',
  inputs: { item: { description: 'any' } },
  usesModel: () => 'job',
  async run(_, { llm }) {
    for (;;) await llm.generate({ messages: [] });
  },
});

describe('The requests of one invocation to language models (D50)', () => {
  let requests: number;

  const failing: ModelAccess = {
    assertConfigured: () => undefined,
    generate: (_, { onRequest }) => {
      onRequest?.();
      requests++;
      return Promise.reject(new ToolError('out of order'));
    },
  };

  const answering: ModelAccess = {
    assertConfigured: () => undefined,
    // Answers the last of five requests, as a provider may that is overloaded.
    generate: (_, { onRequest }) => {
      for (let repeat = 0; repeat < 5; repeat++) {
        onRequest?.();
        requests++;
      }
      const usage = { input_tokens: 1, output_tokens: 1 };
      return Promise.resolve({ text: '', model: 'spec/m', finish: 'stop', usage });
    },
  };

  beforeEach(() => {
    requests = 0;
  });

  /** Lets retries begin until the run has settled. */
  const finish = async (run: TestRun): Promise<string> => {
    for (let turn = 0; turn < 1000 && run.record().status === 'running'; turn++) await run.advance(1000);
    return run.record().error ?? run.record().status;
  };

  it('are made by at most 100 attempts, however often the task says to retry', async () => {
    const run = await startRun(`{id: job, ${JOB}}`, { executor: { models: failing } });
    expect(await finish(run))
      .to.contain('100 attempts have asked language models')
      .and.contain('"retry"');
    expect(requests).to.equal(MODEL_LIMITS.attemptsOfInvocation);
  });

  it('are made by at most 100 attempts of a task that runs a pipeline, which may itself ask more often', async () => {
    const inner = `{id: inner, goal: g, tasks: [{id: ask, tool: llm_job, retry: 1, retry_delay: 0, inputs: {prompt: hello}}]}`;
    const run = await startRun(
      `{id: outer, tool: run_pipeline, retry: 100000, retry_delay: 0, inputs: {pipeline: ${inner}}}`,
      { executor: { models: failing } },
    );
    expect(await finish(run)).to.contain('100 attempts have asked language models');
    expect(requests).to.equal(2 * MODEL_LIMITS.attemptsOfInvocation);
  });

  it('are 20,000 at most, with those that were repeated; each item of a fan-out has as many', async () => {
    const list = '{id: list, tool: store, inputs: {key: k, value: [1, 2]}}';
    const job =
      '{id: job, tool: greedy, parallel_over: "{{list.output}}", on_item_error: collect, inputs: {item: "{{item}}"}}';
    const run = await startRun(`${list}, ${job}`, { executor: { models: answering }, tools: [greedy] });
    while (run.record().status === 'running') await settle();
    expect(run.record().error).to.contain('20,000 requests').and.contain('parallel_over');
    expect(requests).to.equal(2 * MODEL_LIMITS.requestsOfInvocation);
  });
});
