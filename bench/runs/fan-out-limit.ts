import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import type { Json, JsonObject } from '../../lib/common/json/json.js';
import type { TemplateScope } from '../../lib/definition/template/scope.js';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { networkAccess } from '../../lib/tools/fetching/network.js';
import { compare } from '../measure.js';

/** Runs the fan-out task with p-limit instead: the same items, tool and templates. */
export async function runWithLimit(pipeline: Pipeline, items: number, concurrency: number): Promise<Json[]> {
  const task = pipeline.tasks.get('each');
  if (task === undefined) throw new Error('no fan-out');
  const limit = pLimit(concurrency);
  const scope: TemplateScope = { output: () => undefined, inputs: {}, params: {}, session: {}, goal: '' };
  const render = task.inputs.bind(scope);
  const calls = Array.from({ length: items }, (_, item) =>
    limit(async () => (await task.tool.run(render(item, item) as JsonObject, undefined as never)) as Json),
  );
  return Promise.all(calls);
}

const REQUESTS = 1000;
const IN_FLIGHT = 64;

/** Runs the server in a thread of its own, so that its time is not counted. */
const SERVER = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"a":[1,2,3],"b":"some text"}');
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/**
 * Measures 1,000 requests with `http_request`, each an item of a fan-out, and as many with undici alone: the median time
 * of each in milliseconds.
 */
export async function measureToolRequests(): Promise<{ readonly ours: number; readonly undici: number }> {
  const server = new Worker(SERVER, { eval: true });
  const [port] = (await once(server, 'message')) as [number];
  const url = `http://127.0.0.1:${port}/`;
  const executor = new LocalExecutor({ network: networkAccess({ allowPrivate: true }) });
  const list = JSON.stringify(Array.from({ length: REQUESTS }, (_, n) => n));
  const task = `{id: each, tool: http_request, parallel_over: "{{list.output}}", inputs: {url: "${url}?n={{item}}"}}`;
  const source = `{id: requests, goal: be measured, tasks: [{id: list, tool: store, inputs: {key: k, value: ${list}}}, ${task}]}`;
  const pipeline = parsePipeline(source);
  const dispatcher = new Agent();
  try {
    return await compare(
      {
        ours: async () => {
          const runId = await executor.submit({ pipeline, options: { fan_out_concurrency: IN_FLIGHT } });
          await executor.getResult(runId);
          executor.forget(runId);
        },
        undici: async () => {
          const limit = pLimit(IN_FLIGHT);
          const send = async (n: number): Promise<unknown> => {
            const { statusCode, headers, body } = await request(`${url}?n=${n}`, { dispatcher });
            return { status: statusCode, headers, body: await body.json() };
          };
          await Promise.all(Array.from({ length: REQUESTS }, (_, n) => limit(() => send(n))));
        },
      },
      { rounds: 9, warmup: 3 },
    );
  } finally {
    await dispatcher.close();
    await server.terminate();
  }
}
