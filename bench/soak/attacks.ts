import { sleep } from './api.js';
import { type Attack, pipeline, range, submit, submitBody } from './attack.js';
import { TOOL_ATTACKS } from './tool-attacks.js';

const KIB = 1024;
const DAY_SECONDS = 86_400;

function transform(id: string, expression: string, input: unknown = 1): object {
  return { id, tool: 'transform', inputs: { input, expression } };
}

const TAMPERING = [
  '({"a":1} ~> |$sum|function($x){ 666 }|; "planted")',
  '{"a":1} ~> |$string|{}, ["implementation","signature"]|',
  '$map([1..500000], function($i){ $string($i) })',
  '$pad("", 9000000, "y")',
  '($f := function($n){ $f($n + 1) + 1 }; $f(1))',
];

const tamperWithExpressions: Attack = async (api, { random }) => {
  const expression = TAMPERING[Math.floor(random() * TAMPERING.length)] ?? '$';
  await api.send('POST', '/pipelines/run', pipeline({ tasks: [transform('a', expression)] }));
};

const SLOW = '$sum($map([1..100000000], function($i){ $i * 2 }))';

const slowExpressionsThenCancel: Attack = async (api, { patienceMs }) => {
  const tasks = [
    {
      id: 'a',
      tool: 'transform',
      parallel_over: '{{pipeline.inputs.items}}',
      inputs: { input: '{{item}}', expression: SLOW },
    },
  ];
  const runId = await submitBody(api, { ...pipeline({ tasks }), inputs: { items: range(40, (i) => i) } });
  await sleep(patienceMs / 10);
  if (runId !== '') await api.send('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
};

const schemaBombs: Attack = async (api) => {
  let value: unknown = 1;
  for (let depth = 0; depth < 40; depth++) value = { x: value };
  const bomb = { allOf: [{ $ref: '#' }, { $ref: '#' }] };
  const params = { p: { type: 'object', properties: { x: bomb }, default: value } };
  await api.send('POST', '/pipelines/validate', pipeline({ params, tasks: [{ id: 'a', tool: 'mock' }] }));
  const list = range(20_000, (i) => ({ i }));
  const unique = { p: { type: 'list', items: { type: 'array', uniqueItems: true }, default: [list] } };
  await api.send(
    'POST',
    '/pipelines/validate',
    pipeline({ params: unique, tasks: [{ id: 'a', tool: 'mock' }] }),
  );
  const wrong = { p: { type: 'list', items: { type: 'string' } } };
  const body = pipeline({ params: wrong, tasks: [{ id: 'a', tool: 'mock' }] });
  await api.send('POST', '/pipelines/run', { ...body, params: { p: range(200_000, (i) => i) } });
};

const renderedTexts: Attack = async (api) => {
  const big = transform('big', '{"x": $pad("", 9000000, "y")}');
  const inputs = { v: range(700, () => 'a{{big.output}}') };
  await api.send('POST', '/pipelines/run', pipeline({ tasks: [big, { id: 'a', tool: 'mock', inputs }] }));
  const sleeping = range(600, (i) => ({
    id: `s${i}`,
    tool: 'sleep',
    inputs: { seconds: 5, value: 'a{{big.output}}' },
  }));
  await submit(api, { tasks: [big, ...sleeping] });
  const templates = { v: range(4000, () => '{{params.o}}!') };
  const params = { o: { type: 'string' } };
  await api.send('POST', '/pipelines/run', {
    ...pipeline({ params, tasks: [{ id: 'a', tool: 'mock', inputs: templates }] }),
    params: { o: 'x'.repeat(500 * KIB) },
  });
};

const outputsKeptAtWork: Attack = async (api) => {
  const made = range(24, (i) => transform(`o${i}`, '$pad("", 9000000, "y")'));
  const wait = { id: 'wait', tool: 'sleep', inputs: { seconds: 20, value: '{{o0.output.length}}' } };
  await submit(api, { tasks: [...made, wait] });
};

const answersNeverRead: Attack = async (api, { patienceMs }) => {
  const made = range(8, (i) => transform(`o${i}`, '$pad("", 9000000, "y")'));
  const runId = await submit(api, { tasks: made });
  if (runId === '') return;
  await api.send('GET', `/pipelines/runs/${runId}?wait=20`);
  const sockets = range(20, () => api.open('GET', `/pipelines/runs/${runId}`, [], ''));
  await sleep(patienceMs);
  for (const socket of sockets) socket.destroy();
};

const failuresWithLongTexts: Attack = async (api) => {
  const message = 'x'.repeat(4000);
  const task = {
    id: 'a',
    tool: 'fail',
    retry: 1,
    parallel_over: '{{pipeline.inputs.items}}',
    inputs: { message: `${message}{{item}}` },
  };
  const items = range(20_000, (i) => i);
  await api.send('POST', '/pipelines/run', {
    ...pipeline({ tasks: [task] }),
    inputs: { items },
    options: { retry_base_delay: 0 },
  });
};

const rerunsOfLargeRuns: Attack = async (api) => {
  const tasks = [
    ...range(6, (i) => transform(`o${i}`, '$pad("", 9000000, "y")')),
    { id: 'f', tool: 'fail', inputs: { message: 'no' } },
  ];
  let runId = await submit(api, { tasks });
  for (let time = 0; time < 5 && runId !== ''; time++) {
    await api.send('GET', `/pipelines/runs/${runId}?wait=20`);
    const { status, text } = await api.send('POST', `/pipelines/runs/${runId}/rerun`, { from: 'failed' });
    await api.send('DELETE', `/pipelines/runs/${runId}`);
    runId = status === 202 ? (JSON.parse(text) as { run_id: string }).run_id : '';
  }
};

const unfinishedBodies: Attack = async (api, { patienceMs }) => {
  const headers = ['Content-Type: application/json', `Content-Length: ${1024 * KIB}`];
  const sockets = range(300, () =>
    api.open('POST', '/pipelines/run', headers, `{"a":"${'x'.repeat(900 * KIB)}`),
  );
  await sleep(patienceMs);
  for (const socket of sockets) socket.destroy();
};

const bodiesInTinyChunks: Attack = async (api, { patienceMs }) => {
  const headers = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
  const sockets = range(20, () => api.open('POST', '/pipelines/run', headers, '1\r\nx\r\n'.repeat(200_000)));
  await sleep(patienceMs / 5);
  for (const socket of sockets) socket.destroy();
};

const longGoals: Attack = async (api) => {
  const tasks = [{ id: 'a', tool: 'mock' }];
  for (let time = 0; time < 10; time++) await submit(api, { tasks, goal: 'g'.repeat(900 * KIB) });
  await Promise.all(range(6, () => api.send('GET', '/pipelines/runs?limit=500')));
};

const everySlot: Attack = async (api, { patienceMs }) => {
  const tasks = [{ id: 'a', tool: 'sleep', inputs: { seconds: 30 * DAY_SECONDS } }];
  const runIds = await Promise.all(range(64, () => submit(api, { tasks })));
  await sleep(patienceMs);
  for (const runId of runIds) {
    if (runId !== '') await api.send('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
  }
};

const fullQueue: Attack = async (api) => {
  const tasks = [{ id: 'a', tool: 'sleep', inputs: { seconds: 1 } }];
  for (let time = 0; time < 20; time++) await Promise.all(range(50, () => submit(api, { tasks })));
};

const manySmallRuns: Attack = async (api) => {
  const body = pipeline({ tasks: [{ id: 'a', tool: 'mock' }] });
  for (let time = 0; time < 60; time++) await Promise.all(range(16, () => submitBody(api, body)));
};

const wideFanOut: Attack = async (api) => {
  const tasks = [
    { id: 'a', tool: 'mock', parallel_over: '{{pipeline.inputs.items}}', inputs: { v: '{{item}}' } },
  ];
  const items = range(100_000, (i) => i);
  await submitBody(api, { ...pipeline({ tasks }), inputs: { items } });
};

const manyStreams: Attack = async (api, { patienceMs }) => {
  const tasks = [{ id: 'a', tool: 'sleep', inputs: { seconds: 5 } }];
  const runId = await submit(api, { tasks });
  if (runId === '') return;
  const sockets = range(500, () => api.open('GET', `/pipelines/runs/${runId}/events`, [], ''));
  await sleep(patienceMs);
  for (const socket of sockets) socket.destroy();
};

const manyLongPolls: Attack = async (api, { patienceMs }) => {
  const tasks = [
    { id: 'a', tool: 'mock', parallel_over: '{{pipeline.inputs.items}}', inputs: { v: '{{item}}' } },
  ];
  const runId = await submitBody(api, { ...pipeline({ tasks }), inputs: { items: range(20_000, (i) => i) } });
  if (runId === '') return;
  const sockets = range(500, () => api.open('GET', `/pipelines/runs/${runId}?wait=10`, [], ''));
  await sleep(patienceMs);
  for (const socket of sockets) socket.destroy();
};

const WORST_TEXTS = [', : }', '[,,,', '{a:,', '- !x y\n', '- &a 1\n', 'a: 1\n'];

const textsHardToParse: Attack = async (api, { random }) => {
  const part = WORST_TEXTS[Math.floor(random() * WORST_TEXTS.length)] ?? ', ';
  const text = part.repeat(Math.floor((250 * KIB) / part.length));
  await api.send('POST', '/pipelines/validate', text);
};

const definitionsFullOfMistakes: Attack = async (api) => {
  const inputs = Object.fromEntries(range(9000, (i) => [`k${i}`, `{{unknown${i}.output}}`]));
  await api.send('POST', '/pipelines/validate', pipeline({ tasks: [{ id: 'a', tool: 'mock', inputs }] }));
};

const longChains: Attack = async (api) => {
  const tasks = range(2000, (i) => ({
    id: `t${i}`,
    tool: 'mock',
    inputs: i === 0 ? {} : { v: `{{t${i - 1}.output.status}}` },
  }));
  await submit(api, { tasks });
};

/** Compiled templates take far more memory than their text. None of these runs begins, so that they pile up. */
const manyTemplates: Attack = async (api, { random, patienceMs }) => {
  const isDense = random() < 0.5;
  const tasks = range(300, (i) => ({
    id: `t${i}`,
    tool: 'mock',
    inputs: {
      v: isDense
        ? range(Math.min(i, 80), (before) => `{{t${before}.output.x}}`).join('')
        : '{{t0}}'.repeat(i === 0 ? 0 : 150),
    },
  }));
  const runIds: string[] = [];
  for (let time = 0; time < 20; time++) {
    // A definition that was checked before would be shared.
    const body = { ...pipeline({ tasks, goal: `g${random()}` }), breakpoints: { before: ['t0'] } };
    runIds.push(await submitBody(api, body));
  }
  await sleep(patienceMs);
  for (const runId of runIds) {
    if (runId !== '') await api.send('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
  }
};

const nestedPipelines: Attack = async (api, { patienceMs }) => {
  const inner = { id: 'inner', goal: 'g', tasks: [{ id: 'b', tool: 'sleep', inputs: { seconds: 2 } }] };
  const task = {
    id: 'a',
    tool: 'run_pipeline',
    parallel_over: '{{pipeline.inputs.items}}',
    inputs: { pipeline: inner, inputs: { i: '{{item}}' } },
  };
  const items = range(5000, (i) => i);
  const runId = await submitBody(api, { ...pipeline({ tasks: [task] }), inputs: { items } });
  await sleep(patienceMs / 10);
  if (runId !== '') await api.send('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
};

const PATHS = [
  '/pipelines/run',
  '/pipelines/run_async',
  '/pipelines/validate',
  '/plans/validate',
  '/plans/run',
];

const randomBodies: Attack = async (api, { random }) => {
  const path = PATHS[Math.floor(random() * PATHS.length)] ?? '/pipelines/run';
  await api.send('POST', path, randomValue(random, 6));
};

const NAMES = ['pipeline', 'id', 'tasks', 'tool', 'inputs', 'params', 'plan', 'goal', '__proto__', 'default'];

function randomValue(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth === 0 ? 4 : 6));
  if (kind === 0) return Math.floor(random() * 1e9);
  if (kind === 1) return 'x'.repeat(Math.floor(random() * 1000));
  if (kind === 2) return '{{params.p}}';
  if (kind === 3) return random() < 0.5 ? null : 'mock';
  const size = Math.floor(random() * 8);
  if (kind === 4) return range(size, () => randomValue(random, depth - 1));
  const pairs = range(size, () => [
    NAMES[Math.floor(random() * NAMES.length)] ?? 'x',
    randomValue(random, depth - 1),
  ]);
  return Object.fromEntries(pairs) as unknown;
}

/** By the name under which the results list them. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  tamperWithExpressions,
  slowExpressionsThenCancel,
  schemaBombs,
  renderedTexts,
  outputsKeptAtWork,
  answersNeverRead,
  failuresWithLongTexts,
  rerunsOfLargeRuns,
  unfinishedBodies,
  bodiesInTinyChunks,
  longGoals,
  everySlot,
  fullQueue,
  manySmallRuns,
  wideFanOut,
  manyStreams,
  manyLongPolls,
  textsHardToParse,
  definitionsFullOfMistakes,
  longChains,
  manyTemplates,
  nestedPipelines,
  randomBodies,
  ...TOOL_ATTACKS,
};
