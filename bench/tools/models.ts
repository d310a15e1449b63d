import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, fetch } from 'undici';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import { systemClock } from '../../lib/common/clock.js';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import { createModels } from '../../lib/models/create-models.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { compare, median } from '../measure.js';

const REQUESTS = 1000;
const IN_FLIGHT = 64;

/** Runs the server in a thread of its own, so that its time is not counted. Streams an answer of ten words. */
const SERVER = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const chunk = (fields) => 'data: ' + JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields }) + '\\n\\n';
  const words = Array.from({ length: 10 }, () => chunk({ choices: [{ index: 0, delta: { content: 'word ' }, finish_reason: null }] }));
  const end = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    + chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } }) + 'data: [DONE]\\n\\n';
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(words.join('') + end);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** The median times in milliseconds. */
export interface ModelTimes {
  readonly ours: number;
  readonly fetch: number;
  /** The AI SDK's provider package alone, over fetch. */
  readonly sdk: number;
  /** From the question to the first text, of one request alone. */
  readonly firstText: number;
  readonly firstBytes: number;
}

/** Measures 1,000 tasks of `llm_job`, each an item of a fan-out, and as many requests with fetch alone. */
export async function measureModels(): Promise<ModelTimes> {
  const server = new Worker(SERVER, { eval: true });
  const [port] = (await once(server, 'message')) as [number];
  const url = `http://127.0.0.1:${port}/v1`;
  const config = readModelConfig({ OPENAI_BASE_URL: url, WAVETRAIN_MODEL: 'openai/m' });
  const models = createModels(config, { folders: [], inFlight: IN_FLIGHT });
  const executor = new LocalExecutor({ models });
  const list = JSON.stringify(Array.from({ length: REQUESTS }, (_, n) => n));
  const jobs = 'parallel_over: "{{list.output}}", inputs: {prompt: "Count to {{item}}"}';
  const pipeline = parsePipeline(
    `{id: models, goal: be measured, tasks: [{id: list, tool: store, inputs: {key: k, value: ${list}}}, {id: each, tool: llm_job, ${jobs}}]}`,
  );
  const dispatcher = new Agent();
  const ask = async (n: number): Promise<ReadableStream<Uint8Array> | null> => {
    const messages = [{ role: 'user', content: `Count to ${n}` }];
    const body = JSON.stringify({ model: 'm', messages, stream: true });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/chat/completions`, { method: 'POST', body, headers, dispatcher });
    return answer.body as ReadableStream<Uint8Array> | null;
  };
  const send = ((address: string, init: object) =>
    fetch(address, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
  const sdkModel = createOpenAI({ apiKey: 'none', baseURL: url, fetch: send }).chat('m');
  const askSdk = async (n: number): Promise<void> => {
    const content = [{ type: 'text' as const, text: `Count to ${n}` }];
    const { stream } = await sdkModel.doStream({ prompt: [{ role: 'user', content }] });
    for await (const _ of stream);
  };
  const caller = {
    tenant_id: 'bench',
    clock: systemClock,
    signal: new AbortController().signal,
    pauseTimeout: () => () => undefined,
    onUsage: () => undefined,
  };
  try {
    const { ours, bare, sdk } = await compare(
      {
        ours: async () => {
          const runId = await executor.submit({ pipeline, options: { fan_out_concurrency: IN_FLIGHT } });
          await executor.getResult(runId);
          executor.forget(runId);
        },
        bare: async () => {
          const limit = pLimit(IN_FLIGHT);
          const read = async (n: number): Promise<string> => new Response(await ask(n)).text();
          await Promise.all(Array.from({ length: REQUESTS }, (_, n) => limit(() => read(n))));
        },
        sdk: async () => {
          const limit = pLimit(IN_FLIGHT);
          await Promise.all(Array.from({ length: REQUESTS }, (_, n) => limit(() => askSdk(n))));
        },
      },
      { rounds: 9, warmup: 3 },
    );
    const texts: number[] = [];
    const bytes: number[] = [];
    for (let round = 0; round < 300; round++) {
      let start = performance.now();
      let first: number | undefined;
      const onText = (): void => void (first ??= performance.now() - start);
      await models.generate({ messages: [{ role: 'user', content: 'Count' }], onText }, caller);
      texts.push(first ?? Number.NaN);
      start = performance.now();
      for await (const _ of (await ask(1)) ?? []) {
        first = undefined;
        bytes.push(performance.now() - start);
        break;
      }
    }
    return { ours, fetch: bare, sdk, firstText: median(texts), firstBytes: median(bytes) };
  } finally {
    await dispatcher.close();
    await server.terminate();
  }
}
