import { sleep } from './api.js';
import { type Attack, pipeline, range, submitBody } from './attack.js';

const PATHS = ['lists', 'nested', 'html', 'csv', 'bomb', 'drip', 'away', 'busy'];

function task(tool: string, inputs: object, more: object = {}): object {
  return { id: 'a', tool, inputs, ...more };
}

const answersOfHostileServers: Attack = async (api, { random, originUrl }) => {
  const path = PATHS[Math.floor(random() * PATHS.length)] ?? 'lists';
  const tool = random() < 0.5 ? 'http_request' : 'ingest_document';
  const url = tool === 'http_request' ? { url: '{{item}}' } : { path: '{{item}}' };
  const body = {
    ...pipeline({ tasks: [task(tool, url, { parallel_over: '{{pipeline.inputs.urls}}', timeout: 10 })] }),
    inputs: { urls: range(20, () => `${originUrl}/${path}`) },
  };
  await api.send('POST', '/pipelines/run', body);
};

const requestsThatHang: Attack = async (api, { patienceMs, originUrl }) => {
  const hanging = task(
    'http_request',
    { url: `${originUrl}/drip`, headers: { 'x-item': '{{item}}' } },
    { parallel_over: '{{pipeline.inputs.items}}', timeout: 60 },
  );
  const inputs = { items: range(2000, (i) => i) };
  const runId = await submitBody(api, { ...pipeline({ tasks: [hanging] }), inputs });
  await sleep(patienceMs);
  if (runId !== '') await api.send('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
};

const largeWorkbooks: Attack = async (api, { workbooks }) => {
  const row = range(100, (i) => `cell ${i}`);
  const sheets = Object.fromEntries(range(20, (i) => [`s${i}`, '{{params.rows}}']));
  const params = { rows: { type: 'list' } };
  const body = pipeline({ params, tasks: [task('export', { format: 'xlsx', sheets })] });
  await Promise.all(
    range(workbooks, () =>
      api.send('POST', '/pipelines/run', { ...body, params: { rows: range(250, () => row) } }),
    ),
  );
};

const tablesOfUnlikeObjects: Attack = async (api, { random }) => {
  const format = ['csv', 'md', 'xlsx'][Math.floor(random() * 3)] ?? 'csv';
  const data = range(20_000, (i) => ({ [`key${i}`]: 1 }));
  await api.send('POST', '/pipelines/run', pipeline({ tasks: [task('export', { format, data })] }));
  const fences = `\`\`\`${'\n'.repeat(900_000)}x`;
  await api.send('POST', '/pipelines/run', pipeline({ tasks: [task('export', { data: fences })] }));
};

const filesThatFillTheDisk: Attack = async (api) => {
  const make = { id: 'big', tool: 'transform', inputs: { input: 1, expression: '$pad("", 9000000, "y")' } };
  const write = {
    id: 'write',
    tool: 'export',
    parallel_over: '{{pipeline.inputs.items}}',
    inputs: { format: 'text', filename: 'f{{item}}', data: '{{big.output}}' },
  };
  await submitBody(api, { ...pipeline({ tasks: [make, write] }), inputs: { items: range(500, (i) => i) } });
};

const longDocuments: Attack = async (api) => {
  const make = {
    id: 'text',
    tool: 'transform',
    inputs: { input: 1, expression: '$join($map([1..60000], function($i){ "word" & $i & " revenue. " }))' },
  };
  const tasks = range(6, (i) => ({
    id: `s${i}`,
    tool: 'select',
    inputs: { document: '{{text.output}}', granularity: 'chunk', prompt: `revenue word${i} `.repeat(5000) },
  }));
  await submitBody(api, pipeline({ tasks: [make, ...tasks] }));
};

const manyPageRanges: Attack = async (api) => {
  const document = { source: 'x', format: 'text', pages: range(10_000, (i) => ({ number: i, text: '' })) };
  const pages = ['1,'.repeat(99_999) + '9', ...range(20_000, () => '1-10000')];
  await api.send('POST', '/pipelines/run', pipeline({ tasks: [task('select', { document, pages })] }));
};

const fieldsOfReports: Attack = async (api) => {
  const record = Object.fromEntries(range(20, (i) => [`Net Sales ${i}`, '1,234']));
  const inputs = { function: 'compute_derived_fields', extracted_fields: range(2500, () => record) };
  await api.send('POST', '/pipelines/run', pipeline({ tasks: [task('compute', inputs)] }));
};

const cachedOutputs: Attack = async (api, { random }) => {
  const cached = {
    id: 'a',
    tool: 'transform',
    cache: true,
    parallel_over: '{{pipeline.inputs.items}}',
    inputs: { input: '{{item}}', expression: '$pad("", 1000000, "y") & $' },
  };
  const start = Math.floor(random() * 1e6);
  await submitBody(api, {
    ...pipeline({ tasks: [cached] }),
    inputs: { items: range(200, (i) => String(start + i)) },
  });
};

const notificationsWithoutEnd: Attack = async (api, { random }) => {
  const server = random() < 0.5 ? 'loud' : 'web';
  await api.send(
    'POST',
    '/pipelines/run',
    pipeline({ tasks: [task(`mcp.${server}.flood`, {}, { timeout: 3 })] }),
  );
};

const answersInSingleLetters: Attack = async (api, { patienceMs }) => {
  const asking = task(
    'llm_job',
    { prompt: '{{item}}', model: 'compatible/m' },
    { parallel_over: '{{pipeline.inputs.items}}', timeout: (2 * patienceMs) / 1000 },
  );
  await api.send('POST', '/pipelines/run', {
    ...pipeline({ tasks: [asking] }),
    inputs: { items: range(8, (i) => `question ${i}`) },
  });
};

/** Attacks with the tools that fetch, read documents, export and keep outputs. */
export const TOOL_ATTACKS: Readonly<Record<string, Attack>> = {
  answersOfHostileServers,
  requestsThatHang,
  largeWorkbooks,
  tablesOfUnlikeObjects,
  filesThatFillTheDisk,
  longDocuments,
  manyPageRanges,
  fieldsOfReports,
  cachedOutputs,
  notificationsWithoutEnd,
  answersInSingleLetters,
};
