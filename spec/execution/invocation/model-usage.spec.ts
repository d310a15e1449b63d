import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { modelAccess } from '../../../lib/models/create-models.js';
import { Metrics } from '../../../lib/telemetry/metrics.js';
import { ModelMetrics } from '../../../lib/telemetry/model-metrics.js';
import { Registry } from 'prom-client';
import { parseSamples, readSamples, under } from '../../telemetry/exposition.js';
import type { ModelAccess, ModelCaller } from '../../../lib/models/models.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { ManualClock } from '../../support/manual-clock.js';
import { deferred, settle } from '../../support/deferred.js';
import { catchRejection, collectUnhandledRejections } from '../../support/rejection.js';
import { startRun, type TestRun } from '../../support/runs/start-run.js';

const LIST = '{id: list, tool: store, inputs: {key: k, value: [ab, cd]}}';
const JOBS = `${LIST}, {id: job, tool: llm_job, parallel_over: "{{list.output}}", inputs: {prompt: "12345{{item}}8", system: ""}}`;

/** Counts the events of a run that no registry has. */
const countIn =
  ({ onEvent }: Metrics) =>
  (event: LiveEvent): void =>
    onEvent(event, {
      run_id: event.run_id,
      tenant_id: 'default',
      pipeline_id: 'p',
      trigger: null,
      is_of_folder: false,
    });

describe('what a run uses of language models (D50)', () => {
  const start = (tasks: string, onEvent?: (event: LiveEvent) => void): Promise<TestRun> =>
    startRun(tasks, {
      executor: { models: modelAccess({ WAVETRAIN_MODEL: 'mock/echo' }) },
      ...(onEvent && { onEvent }),
    });

  it('is added up in the record, and events say where it was used', async () => {
    const run = await start(JOBS);
    await run.executor.getResult(run.runId);
    expect(run.record().usage).to.deep.equal([
      { model: 'mock/echo', requests: 2, input_tokens: 4, output_tokens: 4 },
    ]);
    const texts = run.events.filter((event) => event.kind === 'text');
    expect(texts.map(({ item, request, text }) => ({ item, request, text }))).to.deep.equal([
      { item: 0, request: 1, text: '12345ab8' },
      { item: 1, request: 1, text: '12345cd8' },
    ]);
    const usage = run.events.filter((event) => event.kind === 'usage');
    expect(usage.map(({ usage: { requests }, task_id }) => ({ requests, task_id }))).to.deep.equal([
      { requests: 1, task_id: 'job' },
      { requests: 1, task_id: 'job' },
    ]);
  });

  it('has an event that names the model, when its answer has not begun after 0.8 s', async () => {
    const asked = deferred<void>();
    const answer = deferred<void>();
    const echo = modelAccess({ WAVETRAIN_MODEL: 'mock/echo' });
    const models: ModelAccess = {
      assertConfigured: () => undefined,
      generate: async (request, caller) => {
        const answered = caller.onWait?.('openai/slow');
        asked.resolve();
        await answer.promise;
        answered?.();
        return await echo.generate(request, caller);
      },
    };
    const clock = new ManualClock();
    const job = '{id: job, tool: llm_job, inputs: {prompt: hi, system: ""}}';
    const run = await startRun(job, { executor: { models, clock } });
    await asked.promise;
    clock.advance(799);
    expect(run.events.filter(({ kind }) => kind === 'log')).to.deep.equal([]);
    clock.advance(1);
    const [wait] = run.events.filter(({ kind }) => kind === 'log');
    expect(wait).to.include({ task_id: 'job', message: 'waits for openai/slow', waits_for: 'openai/slow' });
    answer.resolve();
    await run.executor.getResult(run.runId);
    expect(run.events.filter(({ kind }) => kind === 'log')).to.have.length(1);
  });

  it('shows no secret that is part of the name of a model, in waits and in the record (D61)', async () => {
    const asked = deferred<void>();
    const answer = deferred<void>();
    const models: ModelAccess = {
      assertConfigured: () => undefined,
      generate: async ({ model = '' }, { onWait, onUsage }) => {
        onWait?.(model);
        asked.resolve();
        await answer.promise;
        onUsage(model, { input_tokens: 1, output_tokens: 1 });
        return { model, text: 'hi', finish: 'stop', usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    const clock = new ManualClock();
    const job = '{id: job, tool: llm_job, inputs: {prompt: hi, model: "mock/{{secrets.KEY}}"}}';
    const secrets = { find: () => 'sesame-12345' };
    const run = await startRun(job, { executor: { models, clock, secrets } });
    await asked.promise;
    clock.advance(1000);
    answer.resolve();
    await run.executor.getResult(run.runId);
    const texts = JSON.stringify([run.events, run.record().usage]);
    expect(texts).to.contain('waits for mock/***').and.not.contain('sesame');
  });

  it('includes that of pipelines within a task', async () => {
    const inner = `{id: inner, goal: g, tasks: [{id: ask, tool: llm_job, inputs: {prompt: hello, system: ""}}]}`;
    const run = await start(`{id: outer, tool: run_pipeline, inputs: {pipeline: ${inner}}}`);
    await run.executor.getResult(run.runId);
    expect(run.record().usage).to.deep.equal([
      { model: 'mock/echo', requests: 1, input_tokens: 2, output_tokens: 2 },
    ]);
  });

  it('shows no part of a secret that stands across two parts of an answer (D61)', async () => {
    const prompt = `${'word '.repeat(300)}{{secrets.KEY}}`;
    const job = `{id: job, tool: llm_job, inputs: {prompt: "${prompt}", system: ""}}`;
    const run = await startRun(job, {
      executor: {
        models: modelAccess({ WAVETRAIN_MODEL: 'mock/echo' }),
        secrets: { find: () => 'one two three four' },
      },
    });
    await run.executor.getResult(run.runId);
    const texts = run.events.flatMap((event) => (event.kind === 'text' ? event.text : []));
    expect(texts).to.have.length(1);
    expect(texts.join('')).to.contain('***').and.not.contain('three');
  });

  describe('with prices', () => {
    const prices = { 'mock/echo': { input: 2.5, output: 10 } };
    const models = modelAccess({
      WAVETRAIN_MODEL: 'mock/echo',
      SERVICE_MODEL_PRICES: JSON.stringify(prices),
    });

    it('has a cost in US dollars, in each event, by model and of the run', async () => {
      const run = await startRun(JOBS, { executor: { models } });
      await run.executor.getResult(run.runId);
      expect(run.record()).to.have.property('cost', 0.00005);
      expect(run.record().usage).to.deep.equal([
        { model: 'mock/echo', requests: 2, input_tokens: 4, output_tokens: 4, cost: 0.00005 },
      ]);
      const events = run.events.filter((event) => event.kind === 'usage');
      expect(events.map(({ usage }) => usage.cost)).to.deep.equal([0.000025, 0.000025]);
    });

    it('has no cost where the price of the model is not known, and the metrics know none', async () => {
      const metrics = new Metrics();
      const others = modelAccess({
        WAVETRAIN_MODEL: 'mock/echo',
        SERVICE_MODEL_PRICES: '{"openai/*": {"input": 1, "output": 1}}',
      });
      const run = await startRun(JOBS, { executor: { models: others }, onEvent: countIn(metrics) });
      await run.executor.getResult(run.runId);
      expect(run.record()).not.to.have.property('cost');
      expect(await metrics.read()).not.to.contain('cost');
      metrics.close();
    });

    it('is counted by the metrics in dollars', async () => {
      const metrics = new Metrics();
      const run = await startRun(JOBS, { executor: { models }, onEvent: countIn(metrics) });
      await run.executor.getResult(run.runId);
      expect(under(await readSamples(metrics), 'wavetrain_model_cost_')).to.deep.equal({
        'dollars_total{provider="mock",model="echo"}': 0.00005,
      });
      metrics.close();
    });
  });

  it('is nothing without a request', async () => {
    expect((await start(LIST)).record().usage).to.deep.equal([]);
  });

  it('is counted by the metrics, by provider, model and direction', async () => {
    const metrics = new Metrics();
    const run = await start(JOBS, countIn(metrics));
    await run.executor.getResult(run.runId);
    const labels = 'provider="mock",model="echo"';
    expect(under(await readSamples(metrics), 'wavetrain_model_')).to.deep.equal({
      [`requests_total{${labels}}`]: 2,
      [`tokens_total{${labels},direction="input"}`]: 4,
      [`tokens_total{${labels},direction="output"}`]: 4,
    });
    metrics.close();
  });

  it('is counted as model "other" beyond 50 models of a provider, since callers name them', async () => {
    const registry = new Registry();
    const metrics = new ModelMetrics(registry);
    const counts = { requests: 1, input_tokens: 1, output_tokens: 0 };
    for (let n = 0; n < 80; n++) metrics.record({ model: `ollama/m${n}`, ...counts });
    for (let n = 0; n < 80; n++) metrics.record({ model: `ollama/m${n}`, ...counts });
    metrics.record({ model: 'openai/other', ...counts });
    const requests = under(parseSamples(await registry.metrics()), 'wavetrain_model_requests_total');
    expect(Object.keys(requests)).to.have.length(52);
    expect(requests).to.include({
      '{provider="ollama",model="m49"}': 2,
      '{provider="ollama",model="other"}': 60,
      '{provider="openai",model="other"}': 1,
    });
  });
});

describe('a request to a language model that a tool has left at work', () => {
  /** Never answers, and keeps who has asked. */
  const createStalledModels = (): { readonly models: ModelAccess; readonly callers: ModelCaller[] } => {
    const callers: ModelCaller[] = [];
    const generate: ModelAccess['generate'] = (_, caller) => {
      callers.push(caller);
      const answer = deferred<never>();
      caller.signal.addEventListener('abort', () => answer.reject(caller.signal.reason));
      return answer.promise;
    };
    return { models: { assertConfigured: () => undefined, generate }, callers };
  };
  const request = { messages: [{ role: 'user' as const, content: 'hi' }] };

  for (const [how, run, status] of [
    ['has failed', () => Promise.reject(new Error('no')), 'failed'],
    ['has returned', () => Promise.resolve('done'), 'succeeded'],
  ] as const) {
    it(`stops when its attempt ${how}, without an unhandled rejection`, async () => {
      const { models, callers } = createStalledModels();
      const tool = defineTool({
        name: 'hasty',
        description: 'does not wait for its models',
        inputs: {},
        run: (_, { llm }) => {
          void llm.generate(request);
          void llm.generate(request);
          return run();
        },
      });
      const unhandled = await collectUnhandledRejections(async () => {
        const test = await startRun('{id: t, tool: hasty, retry: 1}', {
          tools: [tool],
          executor: { models },
        });
        await test.advance(60_000);
        await settle();
        expect(test.record()).to.include({ status });
      });
      expect(callers.map(({ signal }) => signal.aborted)).to.deep.equal(callers.map(() => true));
      expect(callers).to.have.length(status === 'failed' ? 4 : 2);
      expect(unhandled).to.deep.equal([]);
    });
  }
});

describe('the memory of requests to language models', () => {
  it('counts while they wait, and is free when they were answered', async () => {
    const long = 'x'.repeat(100_000);
    const task = `{id: job, tool: llm_job, inputs: {prompt: "${long}", system: ""}}`;
    const models = modelAccess({ WAVETRAIN_MODEL: 'mock/echo' });
    const enough = await startRun(task, { executor: { models, runOutputLimitBytes: 1_500_000 } });
    await enough.executor.getResult(enough.runId);
    expect(enough.record()).to.include({ status: 'succeeded' });
    const little = await startRun(task, { executor: { models, runOutputLimitBytes: 150_000 } });
    const error = await catchRejection(little.executor.getResult(little.runId));
    expect(error).to.have.property('message').that.includes('memory');
  });
});
