import { Table } from '../http/table.js';
import { Reader, type LongTasks } from './reader.js';
import { ServedCommand } from './server.js';

/**
 * `npm run bench:inspector`: how the pages of the inspector and of the console keep up with large runs of a real server,
 * in a real browser. Every run pauses at its start until the page is open. `-- console` measures only what has this in its
 * name.
 */
const LONGEST_TASK_MS = 100;
const MOST_HEAP_MIB = 128;

/** Some task before which the run pauses. */
const FIRST = { id: 'first', tool: 'mock' };

/** Makes a task a fan-out. */
const EACH = { parallel_over: '{{pipeline.inputs.list}}' };

const MEASURES: Readonly<Record<string, (name: string) => Promise<void>>> = {
  'fan-out of 10,000 items': (name) => measure(name, fanOut(10_000)),
  'fan-out of 250 items, one actor each': (name) => measure(name, fanOut(250)),
  '2,000 tasks in 10 waves': (name) => measure(name, tasks(10, 200)),
  '2,000 tasks in one wave': (name) => measure(name, tasks(1, 2000)),
  'live, 1,000 events a second': measureLive,
  'console, fan-out of 10,000 items': (name) => measureConsole(name, fanOut(10_000)),
  'console, 2,000 tasks in 10 waves': (name) => measureConsole(name, tasks(10, 200)),
  'console, 2,000 tasks in one wave': (name) => measureConsole(name, tasks(1, 2000)),
  'console, 1,000 events a second': (name) => measureConsole(name, busy()),
  'console, list of 10,000 runs': measureList,
  'editor, 1 MB of text': measureEditor,
};

const [, , wanted = ''] = process.argv;
const names = Object.keys(MEASURES).filter((name) => name.includes(wanted));
if (names.length === 0) throw new Error(`nothing is called "${wanted}": ${Object.keys(MEASURES).join('; ')}`);
const table = new Table();
const server = await ServedCommand.start();
try {
  for (const name of names) await MEASURES[name]?.(name);
} finally {
  await server.close();
}
table.print();
process.exit(table.missed > 0 ? 1 : 0);

/** Reads a run while it works, then scrolls, scrubs and selects. */
async function measure(name: string, pipeline: object): Promise<void> {
  const reader = await Reader.open();
  try {
    const runId = await server.submit(pipeline);
    await reader.show(`${server.url}/inspect/${runId}`);
    await reader.watchTasks();
    await server.resume(runId);
    await reader.page.getByRole('button', { name: 'End', exact: true }).waitFor();
    const entries = `${(await reader.lastSeq()).toLocaleString('en')} entries`;
    addLongest(`${name}: while it works`, await reader.longTasks(), entries);
    addLongest(`${name}: scroll the sequence`, await reader.scroll('[role=listbox]'));
    await openGroups(reader);
    addLongest(`${name}: scroll the actors`, await reader.scroll('[role=tree]'));
    addLongest(`${name}: scrub`, await reader.scrub());
    addLongest(`${name}: select events`, await reader.select('[role=listbox]'));
    addLongest(`${name}: select actors`, await reader.select('[role=tree]'));
    addHeap(name, await reader.heap());
  } finally {
    await reader.close();
  }
}

/** Opens every row that stands for many actors. */
async function openGroups({ page }: Reader): Promise<void> {
  for (const row of await page.locator('.row.actor[aria-expanded=false]').all()) await row.click();
}

/** Follows a run that has some 1,000 events a second. */
async function measureLive(name: string): Promise<void> {
  const reader = await Reader.open();
  try {
    const runId = await server.submit(busy());
    await reader.show(`${server.url}/inspect/${runId}`);
    await reader.watchTasks();
    const began = performance.now();
    await server.resume(runId);
    const behind: number[] = [];
    let recorded = 0;
    while ((await reader.page.locator('.live').textContent()) !== 'End') {
      recorded = await server.lastSeq(runId);
      behind.push(recorded - (await reader.lastSeq()));
      await reader.page.waitForTimeout(200);
    }
    const seconds = (performance.now() - began) / 1000;
    const rate = Math.round(recorded / seconds);
    const most = Math.max(0, ...behind);
    table.add({
      measure: `${name}: behind the server at most`,
      result: `${Math.round((most / rate) * 1000)} ms`,
      limit: '<= 500 ms',
      detail: `${rate.toLocaleString('en')} entries a second for ${seconds.toFixed(0)} s; ${most} entries`,
      ok: most / rate <= 0.5,
    });
    addLongest(`${name}: while it works`, await reader.longTasks());
    addHeap(name, await reader.heap());
  } finally {
    await reader.close();
  }
}

/** Reads a run on its page of the console while it works, then looks at its views. */
async function measureConsole(name: string, pipeline: object): Promise<void> {
  const reader = await Reader.open();
  const { page } = reader;
  try {
    const runId = await server.submit(pipeline);
    await reader.watchTasks();
    await reader.show(`${server.url}/runs/${runId}`, '.task-card');
    addLongest(`${name}: load`, await reader.longTasks());
    await reader.watchTasks();
    await server.resume(runId);
    await page.locator('.run-header .badge', { hasText: 'succeeded' }).waitFor();
    addLongest(`${name}: while it works`, await reader.longTasks());
    addLongest(`${name}: scroll the graph`, await reader.scroll('.waves'));
    await reader.watchTasks();
    await page.getByRole('button', { name: 'Fit' }).dispatchEvent('click');
    await page.waitForTimeout(1000);
    addLongest(`${name}: fit the graph`, await reader.longTasks());
    await page.getByRole('tab', { name: 'Timeline' }).click();
    addLongest(`${name}: scroll the timeline`, await reader.scroll('[role=listbox]'));
    await page.getByRole('tab', { name: 'Events' }).click();
    addLongest(`${name}: scroll the events`, await reader.scroll('[role=listbox]'));
    addHeap(name, await reader.heap());
  } finally {
    await reader.close();
  }
}

/** As many runs as a server can be told to keep, in the list that is read again and again. */
async function measureList(name: string): Promise<void> {
  const reader = await Reader.open();
  try {
    await server.fill(10_000);
    await reader.watchTasks();
    await reader.show(server.url, '.run-link');
    await reader.page.waitForTimeout(5000);
    addLongest(`${name}: load, and read again for 5 s`, await reader.longTasks());
    await reader.watchTasks();
    for (const more of [140, 230, 320, 410, 500]) {
      // Computing roles, and looking where to click, would be work of the page.
      await reader.page.locator('.more button').first().dispatchEvent('click');
      await reader.page.locator(`tbody tr:nth-child(${more})`).waitFor();
    }
    addLongest(`${name}: show 500`, await reader.longTasks());
    await reader.watchTasks();
    await reader.page.locator('input[type=search]').fill('nothing like that');
    await reader.page.locator('main > .empty').waitFor();
    addLongest(`${name}: search`, await reader.longTasks());
    addHeap(name, await reader.heap());
  } finally {
    await reader.close();
  }
}

/** Types at the start of as long a text as a request may have. */
async function measureEditor(name: string): Promise<void> {
  const reader = await Reader.open();
  const { page } = reader;
  try {
    await reader.show(`${server.url}/edit`, '.cm-content');
    await page.locator('.cm-content').click();
    const lines = Array.from({ length: 25_000 }, (_, line) => `# line ${line} of a text that is long`);
    await reader.watchTasks();
    await reader.paste(`id: long\n${lines.join('\n')}\n`);
    await page.getByText('longer than 256 KiB').waitFor();
    addLongest(`${name}: paste it`, await reader.longTasks());
    await page.keyboard.press('Control+Home');
    await reader.watchTasks();
    await page.keyboard.type('goal: type at its start\n', { delay: 30 });
    addLongest(`${name}: type`, await reader.longTasks());
    addHeap(name, await reader.heap());
  } finally {
    await reader.close();
  }
}

function addLongest(measure: string, { longest, longestSeen }: LongTasks, detail = ''): void {
  const seen = longestSeen === 0 ? 'none seen over 50 ms' : `seen ${Math.round(longestSeen)} ms`;
  table.add({
    measure: `${measure}: longest task`,
    result: `${longest.toFixed(longest < 10 ? 1 : 0)} ms CPU`,
    limit: `<= ${LONGEST_TASK_MS} ms`,
    detail: detail === '' ? seen : `${seen}; ${detail}`,
    ok: longest <= LONGEST_TASK_MS,
  });
}

function addHeap(name: string, mib: number): void {
  table.add({
    measure: `${name}: memory of the page`,
    result: `${mib.toFixed(1)} MiB`,
    limit: `<= ${MOST_HEAP_MIB} MiB`,
    detail: 'JavaScript, after the garbage was collected',
    ok: mib <= MOST_HEAP_MIB,
  });
}

function fanOut(items: number): object {
  return {
    id: 'wide',
    goal: 'have many items',
    inputs: { list: Array.from({ length: items }, (_, item) => item) },
    tasks: [FIRST, { ...EACH, id: 'each', tool: 'mock', await: ['first'], inputs: { of: '{{item}}' } }],
  };
}

function tasks(waves: number, width: number): object {
  const names = Array.from({ length: waves * width }, (_, index) => index);
  const before = (index: number): string => (index < width ? 'first' : `t${index - width}`);
  return {
    id: 'many',
    goal: 'have many tasks',
    tasks: [FIRST, ...names.map((index) => ({ id: `t${index}`, tool: 'mock', await: [before(index)] }))],
  };
}

/** Fan-outs one after the other, whose items sleep. */
function busy(): object {
  const before = (index: number): string => (index === 0 ? 'first' : `t${index - 1}`);
  const each = (index: number): object => ({
    id: `t${index}`,
    tool: 'sleep',
    await: [before(index)],
    ...EACH,
    inputs: { seconds: 0.2, value: '{{item}}' },
    // Two rounds of 0.2 s for some 490 entries: above 1,000 a second.
    fan_out_concurrency: 120,
  });
  return {
    id: 'busy',
    goal: 'have many events',
    inputs: { list: Array.from({ length: 240 }, (_, item) => item) },
    tasks: [FIRST, ...Array.from({ length: 25 }, (_, index) => each(index))],
  };
}
