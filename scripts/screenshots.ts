import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { startTestServer } from '../spec/support/http/test-server.js';
import { FakeRun, FakeServer } from '../spec/web/fake-server.js';
import { RunScript, writeEnd, writePausedRun } from '../spec/web/run-script.js';

/**
 * Takes screenshots of the inspector and of the console: `node --import tsx scripts/screenshots.ts FOLDER [NAME…]`. The command must be
 * built.
 */
const [folder = 'screenshots', ...names] = process.argv.slice(2);

interface Shot {
  readonly path: string;
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  readonly prepare?: (page: Page) => Promise<void>;
}

const SHOTS: Readonly<Record<string, Shot>> = {
  paused: { path: '/inspect/paused' },
  'paused-dark': { path: '/inspect/paused', scheme: 'dark' },
  'time-travel': { path: '/inspect/settled#seq=23&actor=run/wave/each/fan-out/3' },
  values: {
    path: '/inspect/settled#actor=run/wave/fetch',
    prepare: (page) => page.getByRole('tab', { name: 'Values' }).click(),
  },
  changed: { path: '/inspect/paused#actor=run' },
  many: {
    path: '/inspect/many#actor=run/wave/each/fan-out',
    prepare: (page) => page.getByRole('treeitem').filter({ hasText: 'failed' }).first().click(),
  },
  narrow: { path: '/inspect/paused', width: 420, height: 1500 },
  missing: { path: '/inspect/none' },
  rebuilt: { path: '/inspect/rebuilt', scheme: 'dark' },
  failure: { path: '/inspect/failed#actor=run/wave/bad' },
};

/** Pictures of real runs of a real server: those of the guides, and the pages of the console. */
const REAL = [
  'debug-paused',
  'debug-failure',
  'console-failure',
  'console-runs',
  'console-rerun',
  'console-library',
  'console-editor',
  'console-editor-dark',
  'console-narrow',
] as const;

const server = await FakeServer.start();
addRuns(server);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  chromiumSandbox: false,
});
for (const [name, shot] of Object.entries(SHOTS)) {
  if (names.length === 0 || names.includes(name)) await take(name, shot);
}
if (names.length === 0 || REAL.some((name) => names.includes(name))) await takeReal();
await browser.close();
await server.close();

async function takeReal(): Promise<void> {
  const pipelines = mkdtempSync(join(tmpdir(), 'wavetrain-pipelines-'));
  const daily = { ...invoices(['12', '7', '30']), schedule: '0 6 * * 1-5', timezone: 'Europe/Vienna' };
  writeFileSync(join(pipelines, 'invoices.json'), JSON.stringify({ pipeline: daily }));
  const real = await startTestServer({ env: { SERVICE_PIPELINES: pipelines } });
  const submit = async (run: object): Promise<string> => {
    const { body } = await real.request<{ run_id: string }>('POST', '/pipelines/run_async', run);
    return body.run_id;
  };
  const press = async (page: Page, name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).first().click();
  const begun = async (page: Page): Promise<void> => {
    await press(page, 'Continue');
    await page.locator('.badge', { hasText: /paused|failed/ }).waitFor();
    await page.getByRole('treeitem').nth(3).waitFor();
  };
  const before = ['rows', 'sum'];
  const broken = invoices(['12', 'seven', '30']);
  const failed = await submit({ pipeline: broken });
  await real.registry.settled(failed);
  await submit({ pipeline: invoices(['3', '4']) });
  await submit({ pipeline: invoices(['12', '7', '30']), breakpoints: { before: ['sum'] } });
  const shots: Readonly<Record<(typeof REAL)[number], Shot>> = {
    'debug-paused': {
      path: `/inspect/${await submit({ pipeline: invoices(['12', '7', '30']), breakpoints: { before } })}`,
      prepare: async (page) => {
        await begun(page);
        await page.locator('.pause').getByText('wave 3').waitFor();
        await page.locator('.pause').getByRole('button').click();
      },
    },
    'debug-failure': {
      path: `/inspect/${await submit({ pipeline: broken, breakpoints: { before: ['rows'] } })}`,
      prepare: async (page) => {
        await begun(page);
        await page.locator('.failure').getByRole('button').click();
        await page.getByRole('tab', { name: 'Event' }).click();
      },
    },
    'console-failure': {
      path: `/runs/${failed}`,
      prepare: (page) => page.locator('.failure-box').getByRole('button', { name: 'amount[1]' }).click(),
    },
    'console-runs': { path: '/' },
    'console-rerun': { path: `/runs/${failed}`, prepare: (page) => press(page, 'Rerun…') },
    'console-library': { path: '/library' },
    'console-editor': { path: `/edit?run=${failed}` },
    'console-editor-dark': { path: `/edit?pipeline=invoices`, scheme: 'dark' },
    'console-narrow': { path: `/runs/${failed}`, scheme: 'dark', width: 420, height: 1200 },
  };
  for (const name of REAL) {
    if (names.length === 0 || names.includes(name))
      await take(name, { height: 720, ...shots[name] }, real.url);
  }
  await real.close(0);
  rmSync(pipelines, { recursive: true });
}

function invoices(rows: readonly string[]): object {
  return {
    id: 'invoices',
    goal: 'add up the amounts of the invoices',
    tasks: [
      { id: 'rows', tool: 'sleep', inputs: { seconds: 0.1, value: rows } },
      {
        id: 'amount',
        tool: 'transform',
        retry: 0,
        parallel_over: '{{rows.output}}',
        inputs: { input: '{{item}}', expression: '$number($)' },
      },
      { id: 'sum', tool: 'transform', inputs: { input: '{{amount.output}}', expression: '$sum($)' } },
    ],
  };
}

async function take(
  name: string,
  { path, scheme = 'light', width = 1360, height = 820, prepare }: Shot,
  url = server.url,
) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height } });
  const page = await context.newPage();
  page.on('console', (message) => console.log(name, message.text()));
  page.on('pageerror', (error) => console.log(name, String(error)));
  await page.goto(url + path);
  await page.locator('[role=treeitem], table, .card, .task-card, main .entry, .cm-line').first().waitFor();
  await prepare?.(page);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}

function addRuns({ runs }: FakeServer): void {
  const add = (run: FakeRun, script: RunScript): FakeRun => {
    run.add(script.entries);
    runs.set(run.id, run);
    return run;
  };
  add(new FakeRun('paused', { paused: true }), writePausedRun());
  const settled = add(
    new FakeRun('settled', { status: 'succeeded', settled: true }),
    writeEnd(writePausedRun()),
  );
  settled.close();
  settled.answers.set('tasks/fetch', {
    status: 'succeeded',
    inputs: { url: 'https://example.com/pages.json', headers: { accept: 'application/json' } },
    inputs_error: null,
    output: { rows: 8, titles: ['Summer', 'Autumn'] },
    error: null,
    attempts: [],
    cut: [],
    started_at: '2026-01-01T12:00:00.000Z',
    finished_at: '2026-01-01T12:00:00.420Z',
  });
  add(new FakeRun('many'), writePausedRun(10_000));
  const rebuilt = add(
    new FakeRun('rebuilt', { status: 'succeeded', settled: true }),
    writeEnd(writePausedRun()),
  );
  rebuilt.origin = 'events';
  rebuilt.close();
  const error = 'task "bad" failed: the server answered 503 after 3 attempts';
  const failed = add(new FakeRun('failed', { status: 'failed', settled: true, error }), writeFailure());
  failed.close();
}

function writeFailure(): RunScript {
  const result = { ok: false, error: 'the server answered 503' };
  return new RunScript()
    .create('run', 'run', 'queued')
    .create('run/wave', 'wave', 'idle')
    .send('run', 'begin', 'running')
    .send('run/wave', 'wave.begin', 'starting', { source: 'run' })
    .succeed('run/wave/good')
    .create('run/wave/bad', 'task', 'invoking')
    .send('run/wave/bad', 'task.settled', 'failed', { status: 'done', data: { result } })
    .settled('run/wave/bad')
    .send('run/wave', 'wave.report', 'idle')
    .send('run', 'wave.settled', 'failed', { source: 'run/wave', status: 'done' });
}
