import { expect } from 'chai';
import { WavetrainClient } from '../../lib/client/client.js';
import { ToolError } from '../../lib/common/errors.js';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import type { CompileProgress, CompileResult } from '../../lib/compile/result.js';
import { createModels } from '../../lib/models/create-models.js';
import { ModelError } from '../../lib/models/model.js';
import { BROKEN, VALID } from './definitions.js';
import { ScriptedModels } from '../models/scripted-models.js';
import { deferred, settle } from '../support/deferred.js';
import { startTestServer, type TestServer } from '../support/http/test-server.js';
import { ManualClock } from '../support/manual-clock.js';
import { parseSamples, under } from '../telemetry/exposition.js';
import { catchRejection } from '../support/rejection.js';

interface Failed {
  readonly detail: Record<string, unknown>;
}

describe('POST /pipelines/compile (D35)', () => {
  let opened: TestServer | undefined;

  afterEach(async () => {
    await opened?.close(0);
    opened = undefined;
  });

  async function open(models: ScriptedModels): Promise<TestServer> {
    opened = await startTestServer({ models });
    return opened;
  }

  it('answers with the definition, its text, its repairs and what they took', async () => {
    const server = await open(new ScriptedModels(BROKEN, VALID));
    const { status, body } = await server.request<CompileResult>('POST', '/pipelines/compile', {
      prompt: 'ask',
    });
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      kind: 'pipeline',
      yaml_text: VALID,
      attempts: 2,
      usage: { input_tokens: 200, output_tokens: 20 },
      model: 'spec/model',
      warnings: [],
    });
    expect(body.repair_history[0]).to.have.all.keys('yaml', 'error');
  });

  it('answers with a plan under its own key', async () => {
    const server = await open(
      new ScriptedModels('plan:\n  id: p\n  sub_pipelines:\n    - {id: a, stores: [k]}\n'),
    );
    const { body } = await server.request('POST', '/pipelines/compile', { prompt: 'ask' });
    expect(body).to.include({ kind: 'plan' }).and.to.have.property('plan').that.includes({ id: 'p' });
    expect(body).not.to.have.property('pipeline');
  });

  it('answers with 422 and every answer when the model gave up', async () => {
    const server = await open(new ScriptedModels(BROKEN));
    const { status, body } = await server.request<Failed>('POST', '/pipelines/compile', {
      prompt: 'ask',
      max_repairs: 0,
    });
    expect(status).to.equal(422);
    expect(body.detail).to.deep.include({ code: 'compile_failed', attempts: 1, last_yaml: BROKEN });
    expect(body.detail['repair_history']).to.have.length(1);
  });

  it('answers with 400 for a model that is not configured, without asking any', async () => {
    const models = createModels(readModelConfig({}), { folders: [] });
    const server = (opened = await startTestServer({ models }));
    for (const body of [
      { prompt: 'ask' },
      { prompt: 'ask', model: 'openai/gpt-4o' },
      { prompt: 'ask', model: 'x' },
    ]) {
      const response = await server.request<Failed>('POST', '/pipelines/compile', body);
      expect(response.status).to.equal(400);
      expect(response.body.detail['code']).to.equal('provider_misconfigured');
    }
    await server.close(0);
    opened = await startTestServer();
    const { body } = await opened.request<Failed>('POST', '/pipelines/compile', { prompt: 'ask' });
    expect(body.detail).to.include({ code: 'provider_misconfigured' });
  });

  it('answers with 502 when the provider does not answer', async () => {
    const cause = new ModelError('network', 'no route');
    const server = await open(
      new ScriptedModels(() => Promise.reject(new ToolError('spec/model: no route', { cause }))),
    );
    const { status, headers, body } = await server.request<Failed>('POST', '/pipelines/compile', {
      prompt: 'ask',
    });
    expect(status).to.equal(502);
    expect(headers.get('retry-after')).to.equal('30');
    expect(body.detail).to.deep.equal({ code: 'provider_failed', message: 'spec/model: no route' });
  });

  it('refuses an empty prompt, one of over 20,000 characters, too many repairs, and unknown fields', async () => {
    const server = await open(new ScriptedModels());
    for (const body of [
      {},
      { prompt: '' },
      { prompt: ' \n' },
      { prompt: 'x'.repeat(20_001) },
      { prompt: 'ask', max_repairs: 6 },
      { prompt: 'ask', temperature: 1 },
    ]) {
      const { status } = await server.request('POST', '/pipelines/compile', body);
      expect(status, JSON.stringify(body).slice(0, 50)).to.equal(400);
    }
  });

  it('ends the request to the model when the client disconnects', async () => {
    const asked = deferred<AbortSignal>();
    const ended = deferred<void>();
    const { url, log } = await open(
      new ScriptedModels((_, { signal }) => {
        asked.resolve(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(ToolError.nonRetryable('stopped'));
            ended.resolve();
          });
        });
      }),
    );
    const leaving = new AbortController();
    const client = new WavetrainClient({ url });
    const response = client.compile('ask', { signal: leaving.signal }).catch(() => 'left');
    await asked.promise;
    leaving.abort();
    expect(await response).to.equal('left');
    await ended.promise;
    await settle();
    expect(log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  for (const accept of ['application/json', 'text/event-stream']) {
    it(`is refused while the server shuts down, which lets those at work end in time: ${accept}`, async () => {
      const asked = deferred<void>();
      const answer = deferred<never>();
      const clock = new ManualClock();
      const models = new ScriptedModels(() => {
        asked.resolve();
        return answer.promise;
      });
      const server = await startTestServer({ models, clock });
      const send = () => server.request<Failed>('POST', '/pipelines/compile', { prompt: 'ask' }, { accept });
      const first = send();
      await asked.promise;
      const closed = server.close(10_000);
      const late = await send();
      expect(late.status).to.equal(503);
      expect(late.body.detail['code']).to.equal('shutting_down');
      answer.reject(ToolError.nonRetryable('no luck'));
      expect(JSON.stringify((await first).body)).to.contain('no luck');
      await closed;
      expect(models.requests).to.have.length(1);
    });

    it(`ends with the server when the time for shutting down is over: ${accept}`, async () => {
      const asked = deferred<void>();
      const clock = new ManualClock();
      const models = new ScriptedModels(
        (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(ToolError.nonRetryable('stopped')));
            asked.resolve();
          }),
      );
      const server = await startTestServer({ models, clock });
      const response = server.request('POST', '/pipelines/compile', { prompt: 'ask' }, { accept });
      await asked.promise;
      const closed = server.close(10_000);
      clock.advance(10_000);
      expect(JSON.stringify((await response).body)).to.contain('shutting_down');
      await closed;
    });
  }

  it('compiles eight requests at once, and one of a tenant that has none; the others wait', async () => {
    const answers: (() => void)[] = [];
    const hold = (): Promise<never> =>
      new Promise((_resolve, reject) => {
        answers.push(() => reject(ToolError.nonRetryable('over')));
      });
    const models = new ScriptedModels(...Array.from({ length: 12 }, () => hold));
    const server = await open(models);
    const send = (tenant_id: string) =>
      server.request('POST', '/pipelines/compile', { prompt: 'ask', tenant_id });
    const responses = Array.from({ length: 10 }, () => send('a'));
    while (models.requests.length < 8) await settle();
    await settle(20);
    expect(models.requests).to.have.length(8);
    responses.push(send('b'));
    while (models.requests.length < 9) await settle();
    expect(models.callers.at(-1)?.tenant_id).to.equal('b');
    while (models.requests.length < 11 || answers.length > 0) {
      answers.shift()?.();
      await settle();
    }
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([502]));
  });

  it('streams the progress and the result as Server-Sent Events when they are asked for', async () => {
    const server = await open(new ScriptedModels(BROKEN, VALID));
    const headers = { accept: 'text/event-stream' };
    const response = await server.request<string>('POST', '/pipelines/compile', { prompt: 'ask' }, headers);
    expect(response.headers.get('content-type')).to.contain('text/event-stream');
    expect(eventsOf(response.body).map(({ name }) => name)).to.deep.equal([
      'progress',
      'progress',
      'progress',
      'progress',
      'result',
    ]);
    expect(eventsOf(response.body)[2]?.data).to.deep.equal({ state: 'repairing', attempt: 2 });
    expect(eventsOf(response.body).at(-1)?.data).to.include({ yaml_text: VALID });
  });

  it('ends a stream with the error, and beats while the model thinks', async () => {
    const asked = deferred<void>();
    const answer = deferred<never>();
    const clock = new ManualClock();
    const models = new ScriptedModels(() => {
      asked.resolve();
      return answer.promise;
    });
    const server = (opened = await startTestServer({ models, clock }));
    const headers = { accept: 'text/event-stream' };
    const response = server.request<string>('POST', '/pipelines/compile', { prompt: 'ask' }, headers);
    await asked.promise;
    clock.advance(15_000);
    answer.reject(ToolError.nonRetryable('no luck'));
    const { body } = await response;
    expect(body).to.contain('\n\n: \n\n');
    expect(eventsOf(body).at(-1)).to.deep.equal({
      name: 'error',
      data: { status: 502, detail: { code: 'provider_failed', message: 'no luck' } },
    });
  });

  it('reports to the callback of the client what the model is doing, as it begins', async () => {
    const { url } = await open(new ScriptedModels(BROKEN, VALID));
    const told: string[] = [];
    const onProgress = ({ state, attempt }: CompileProgress): void => void told.push(`${state} ${attempt}`);
    const { attempts } = await new WavetrainClient({ url }).compile('ask', { onProgress });
    expect(attempts).to.equal(2);
    expect(told).to.deep.equal(['drafting 1', 'validating 1', 'repairing 2', 'validating 2']);
  });

  it('ends when the callback of the client throws, with what it has thrown', async () => {
    const ended = deferred<void>();
    const hang: ConstructorParameters<typeof ScriptedModels>[number] = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(ToolError.nonRetryable('stopped'));
          ended.resolve();
        });
      });
    const { url } = await open(new ScriptedModels(hang));
    const thrown = new Error('no more');
    const onProgress = (): void => {
      throw thrown;
    };
    expect(await catchRejection(new WavetrainClient({ url }).compile('ask', { onProgress }))).to.equal(
      thrown,
    );
    await ended.promise;
  });

  it('fails in the client when the stream ends before its result, or nothing arrives for 45 seconds', async () => {
    const clock = new ManualClock();
    const headers = { 'content-type': 'text/event-stream' };
    const fetch = (_url: unknown, init?: RequestInit): Promise<Response> => {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
      };
      return Promise.resolve(new Response(new ReadableStream({ start }), { headers }));
    };
    const client = new WavetrainClient({ url: 'http://s', fetch, clock });
    const idle = catchRejection(client.compile('ask'));
    await settle();
    clock.advance(45_000);
    expect(String(await idle)).to.contain('no data for 45 seconds');
    const cutClient = new WavetrainClient({
      url: 'http://s',
      fetch: () => Promise.resolve(new Response('event: progress\ndata: {}\n\n', { headers })),
    });
    const cut = await catchRejection(cutClient.compile('ask'));
    expect(cut).to.include({
      code: 'server_unreachable',
      message: 'http://s closed the event stream before its end',
    });
  });

  it('is counted in the metrics: how it ended, how long it took, its answers and their tokens', async () => {
    const clock = new ManualClock();
    const left = new AbortController();
    const models = new ScriptedModels(
      BROKEN,
      VALID,
      BROKEN,
      () => {
        clock.advance(1500);
        return Promise.reject(ToolError.nonRetryable('no route'));
      },
      (_, { signal }) => {
        left.abort();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(ToolError.nonRetryable('stopped')));
        });
      },
    );
    const { url } = (opened = await startTestServer({ models, clock }));
    const client = new WavetrainClient({ url });
    await client.compile('ask');
    for (const options of [{ maxRepairs: 0 }, {}, { signal: left.signal }])
      await catchRejection(client.compile('ask', options));
    const read = async (): Promise<Record<string, number>> =>
      under(parseSamples(await (await fetch(`${url}/metrics`)).text()), 'wavetrain_compilation');
    while ((await read())['s_total{outcome="disconnected"}'] === 0) await settle();
    expect(await read()).to.deep.include({
      's_total{outcome="succeeded"}': 1,
      's_total{outcome="gave_up"}': 1,
      's_total{outcome="failed"}': 1,
      's_total{outcome="disconnected"}': 1,
      _answers_total: 3,
      _duration_seconds_count: 4,
      _duration_seconds_sum: 1.5,
    });
    const tokens = parseSamples(await (await fetch(`${url}/metrics`)).text());
    expect(
      tokens.get('wavetrain_model_tokens_total{provider="spec",model="model",direction="input"}'),
    ).to.equal(300);
  });

  it('is a method of the client, whose error has every answer', async () => {
    const { url } = await open(new ScriptedModels(VALID, BROKEN));
    const client = new WavetrainClient({ url });
    expect(await client.compile('ask', { maxRepairs: 0 })).to.include({ yaml_text: VALID });
    const error = await catchRejection(client.compile('ask', { maxRepairs: 0 }));
    expect(error).to.include({ code: 'compile_failed', status: 422 });
    expect(error).to.have.nested.property('detail.repair_history[0].yaml', BROKEN);
  });
});

function eventsOf(stream: string): { readonly name: string; readonly data: unknown }[] {
  return [...stream.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name = '', data = 'null']) => ({
    name,
    data: JSON.parse(data) as unknown,
  }));
}
