import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { TWO_WAVES } from '../../../http/support/controlled-server.js';
import { useBrowserTab } from '../support/browser-tab.js';
import { findViolations } from '../support/accessibility.js';
import { eventually, expectHash, expectText } from '../../waiting.js';

/** Fails after a fan-out of which one item fails, and stores something. */
const CITIES = {
  id: 'cities',
  goal: 'Fetch 3 cities',
  params: { count: { type: 'integer', default: 3 } },
  tasks: [
    { id: 'list', tool: 'mock', inputs: { names: ['Rome', 'Oslo', 'Bern'] } },
    { id: 'keep', tool: 'store', inputs: { key: 'names', value: '{{list.output.inputs.names}}' } },
    {
      id: 'each',
      tool: 'controlled',
      parallel_over: '{{list.output.inputs.names}}',
      inputs: { city: '{{item}}' },
    },
    { id: 'last', tool: 'mock', inputs: { all: '{{each.output}}' } },
  ],
};

const PLAN = {
  id: 'both',
  goal: 'do two things',
  sub_pipelines: [
    {
      id: 'east',
      stores: ['x'],
      pipeline: {
        id: 'east',
        goal: 'g',
        tasks: [{ id: 'a', tool: 'store', inputs: { key: 'x', value: 1 } }],
      },
    },
    {
      id: 'west',
      reads: ['x'],
      pipeline: {
        id: 'west',
        goal: 'g',
        tasks: [{ id: 'b', tool: 'controlled', inputs: { x: '{{session.x}}' } }],
      },
    },
  ],
};

const SCHEDULED = `pipeline:
  id: nightly
  goal: Greet {{params.name}}
  schedule: "0 6 * * 1-5"
  timezone: Europe/Berlin
  params:
    name: { type: string }
  tasks:
    - id: hello
      tool: mock
      inputs: { to: "{{params.name}}" }
`;

const BROKEN = 'pipeline:\n  id: broken\n  goal: g\n  tasks:\n    - id: a\n      tool: mokc\n';

describe('The run console on a real server, in a browser without network', function () {
  this.timeout(240_000);
  let browser: Browser;
  let page: Page;
  let url: string;
  let takeComplaints: () => readonly string[];
  const fixture = useBrowserTab({ files: { 'nightly.yaml': SCHEDULED, 'broken.yaml': BROKEN } }, (tab) => {
    ({ browser, page, url, takeComplaints } = tab);
  });
  const { controlled } = fixture;

  const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
  const card = (name: string): Locator => page.locator(`#task--${name}`);
  const panel = (): Locator => page.locator('.task-panel');

  async function runFailing(): Promise<string> {
    const runId = await fixture.submit(CITIES);
    await controlled.started(3);
    for (const [index, call] of controlled.calls.entries()) {
      if (index === 1) call.reject(new TypeError('fetch failed', { cause: new Error('connection refused') }));
      else call.resolve({ ok: true });
    }
    await fixture.server.registry.settled(runId);
    return runId;
  }

  it('lists runs with their counts, follows them, and filters by status, text and pipeline', async () => {
    await runFailing();
    const held = await fixture.submit(TWO_WAVES);
    await page.goto(url);
    await expectText(page.getByRole('button', { name: /^failed/ }), 'failed 1');
    await page.getByRole('row').filter({ hasText: 'running' }).waitFor();
    await button(/^failed/).click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    expect(new URL(page.url()).search).to.equal('?status=failed');
    expect(await page.locator('.about-run .line').allInnerTexts()).to.deep.equal([
      'Fetch 3 cities',
      'each[1]: fetch failed: connection refused',
    ]);
    await button('All').click();
    await page.getByRole('searchbox').fill('HELD');
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    await fixture.complete(held);
    await controlled.started(5);
    await fixture.complete(held);
    await page.getByRole('row').filter({ hasText: 'succeeded' }).waitFor();
    await page.getByRole('searchbox').fill('nothing like that');
    await button('Show all runs').click();
    await page.getByRole('button', { name: 'cities' }).click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    await page.reload();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
  });

  it('shows the labels of a run, each of which leads to the runs that have it (D76)', async () => {
    const pipeline = parsePipeline('{ id: six, goal: g, tasks: [{ id: a, tool: mock }] }');
    const { registry } = fixture.server;
    const labels = { team: 'billing', url: 'http://x?a=b&c' };
    const id = await registry.submit({ pipeline, labels });
    await registry.settled(id);
    await registry.settled(await registry.submit({ pipeline }));
    await page.goto(`${url}/runs/${id}`);
    await expectText(page.locator('.run-header .line-facts'), /Labels\s*team:billing\s*url:http/);
    await page.getByRole('link', { name: 'url:http://x?a=b&c' }).click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    await button('Do not filter by label').click();
    await eventually(async () => (await page.getByRole('row').count()) === 3);
    expect(await page.locator('.about-run .label').allInnerTexts()).to.deep.equal([
      'team:billing',
      'url:http://x?a=b&c',
    ]);
    await button('team:billing').click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    expect(new URL(page.url()).search).to.equal('?label=team%3Abilling');
    await page.getByPlaceholder('Search in ids, goals, errors and labels').waitFor();
  });

  it('shows which runs a schedule and a key have started, in the list, which they filter, and in the header of a run', async () => {
    const pipeline = parsePipeline('{ id: six, goal: g, tasks: [{ id: a, tool: mock }] }');
    const { registry } = fixture.server;
    const schedule = { trigger: 'schedule', startedBy: { kind: 'schedule', name: 'six' } } as const;
    for (const submission of [schedule, { startedBy: { kind: 'key', name: 'ci' } }] as const) {
      await registry.settled(await registry.submit({ pipeline }, submission));
    }
    await page.goto(url);
    await eventually(async () => (await page.getByRole('row').count()) === 3);
    await button('schedule').click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    expect(new URL(page.url()).search).to.equal('?trigger=schedule');
    await page.locator('.run-link').click();
    await expectText(page.locator('.run-header .line-facts'), /Started by\s*schedule six/);
    await page.goBack();
    await button('Do not filter by trigger').click();
    await eventually(async () => (await page.getByRole('row').count()) === 3);
    await page.getByRole('button', { name: 'ci', exact: true }).click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    expect(new URL(page.url()).search).to.equal('?started_by=key%3Aci');
    await page.locator('.run-link').click();
    await expectText(page.locator('.run-header .line-facts'), /Started by\s*key ci/);
    await page.goBack();
    await button('Do not filter by started by').click();
    await eventually(async () => (await page.getByRole('row').count()) === 3);
  });

  it('says why runs wait in the queue', async () => {
    for (let index = 0; index < 3; index++) await fixture.submit(TWO_WAVES);
    await page.goto(url);
    await expectText(
      page.locator('.notice'),
      /^1 run waits in the queue: all places of the server are taken/,
    );
  });

  it('leads from the error of a failed run to its task, the item, its inputs and the causes', async () => {
    const runId = await runFailing();
    await page.goto(`${url}/runs/${runId}`);
    await expectText(page.locator('.failure-box h2'), 'each[1] has failed');
    await expectText(page.locator('.failure-box pre'), /fetch failed/);
    await page.locator('.failure-box').getByRole('button', { name: 'each[1]' }).click();
    await expectText(panel().locator('h2'), 'each[1]');
    await expectText(
      panel().getByRole('region', { name: 'Error' }),
      /fetch failed.*caused by Error: connection refused/s,
    );
    await expectText(panel().getByRole('group', { name: 'Inputs' }), /city:\s*"Oslo"/);
    await button('← all items').click();
    await panel()
      .getByRole('button', { name: /^failed 1/ })
      .waitFor();
    await eventually(async () => (await panel().locator('.item-row').count()) === 1);
    await expectHash(page, '#task=each');
    await page.getByRole('link', { name: 'Fix in the editor' }).click();
    await expectText(page.locator('.cm-activeLine'), /id: each/);
  });

  it('draws all waves before they run, and follows the tasks, their times and the events', async () => {
    const runId = await fixture.submit(TWO_WAVES);
    await controlled.started(1);
    await page.goto(`${url}/runs/${runId}`);
    await eventually(async () => (await page.locator('.task-card').count()) === 2);
    expect(await card('b').getAttribute('class')).to.include('waiting');
    await eventually(async () => (await card('a').getAttribute('class'))?.includes('active') === true);
    await card('b').hover();
    await eventually(async () => (await card('a').getAttribute('class'))?.includes('near before') === true);
    await fixture.complete(runId);
    await controlled.started(2);
    await eventually(async () => (await card('a').getAttribute('class'))?.includes('done') === true);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByRole('option', { name: /^a\s*, succeeded/ }).waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('combobox', { name: 'Kind of event' }).selectOption('start');
    await eventually(async () => (await page.getByRole('option').filter({ hasText: 'start' }).count()) >= 2);
    await fixture.complete(runId);
    await expectText(page.locator('.badge'), 'succeeded');
  });

  it('keeps a graph of 400 tasks within the window, and draws only the cards that are in sight', async () => {
    const tasks = Array.from({ length: 400 }, (_, index) => ({ id: `t${index}`, tool: 'mock' }));
    const runId = await fixture.submit({ id: 'wide', goal: 'g', tasks });
    await fixture.server.registry.settled(runId);
    await page.goto(`${url}/runs/${runId}#task=t399`);
    await card('t399').waitFor();
    expect(await page.locator('.task-card').count()).to.be.lessThan(200);
    const height = await page.evaluate("document.querySelector('.waves').clientHeight / window.innerHeight");
    expect(height).to.be.lessThan(1);
    await card('t0').waitFor({ state: 'detached' });
  });

  it('moves from card to card by the arrow keys, and shows the task with Enter', async () => {
    const runId = await runFailing();
    await page.goto(`${url}/runs/${runId}`);
    await card('list').focus();
    await page.keyboard.press('ArrowRight');
    await eventually(() => page.evaluate("['task--keep', 'task--each'].includes(document.activeElement.id)"));
    await page.keyboard.press('Enter');
    await panel().waitFor();
    await button('Close the task').click();
    await eventually(async () => (await panel().count()) === 0);
  });

  it('cancels a run, and aborts its tools when that is wanted', async () => {
    const runId = await fixture.submit(TWO_WAVES);
    await controlled.started(1);
    await page.goto(`${url}/runs/${runId}`);
    await button('Cancel').first().click();
    await expectText(page.locator('.badge'), 'cancelled');
    await button('Abort the tools').click();
    await button('Rerun…').waitFor();
    expect((await fixture.poll(runId)).settled).to.equal(true);
  });

  it('shows what a rerun would run and reuse before it starts it, and compares both runs', async () => {
    const runId = await runFailing();
    await page.goto(`${url}/runs/${runId}`);
    await button('Rerun…').click();
    const dialog = page.getByRole('dialog');
    await expectText(dialog.locator('.preview'), /2 tasks run.*each.*last.*2 tasks are reused.*list, keep/s);
    await dialog.getByRole('combobox').selectOption('');
    await expectText(dialog.locator('.preview'), /4 tasks run/);
    const again = dialog.getByRole('button', { name: 'Run again' });
    const confirm = dialog.getByRole('checkbox', { name: /Make \d+ calls again that had succeeded/ });
    await confirm.waitFor();
    expect(await again.isDisabled()).to.equal(true);
    await confirm.check();
    expect(await again.isDisabled()).to.equal(false);
    await dialog.getByRole('combobox').selectOption('failed');
    await expectText(dialog.locator('.preview'), /2 tasks run/);
    await dialog.getByRole('button', { name: 'Run again' }).click();
    await controlled.started(4);
    controlled.calls[3]?.resolve({ ok: true });
    await expectText(page.locator('.badge'), 'succeeded');
    expect(page.url()).to.not.include(runId);
    await button('compare').click();
    await page.getByRole('row').filter({ hasText: 'each' }).filter({ hasText: 'state' }).waitFor();
  });

  it('reruns an item with its params, and asks before it makes a call again that had succeeded', async () => {
    const runId = await runFailing();
    await page.goto(`${url}/runs/${runId}#task=each&item=0`);
    await button('Rerun this item…').click();
    const dialog = page.getByRole('dialog');
    await expectText(
      dialog.locator('.preview'),
      /each for the items that you chose; \d of 3 calls.*last depends on "each", of which you chose items/s,
    );
    expect(await dialog.getByRole('combobox').inputValue()).to.equal('each[0]');
    expect(await dialog.getByRole('textbox', { name: 'Params' }).inputValue()).to.contain('"count": 3');
    const again = dialog.getByRole('button', { name: 'Run again' });
    expect(await again.isDisabled()).to.equal(true);
    await dialog.getByRole('checkbox', { name: 'Make 1 call again that had succeeded' }).check();
    await again.click();
    await controlled.started(5);
    for (const call of controlled.calls.slice(3)) call.resolve({ ok: true });
    await expectText(page.locator('.badge').first(), 'succeeded');
    expect(page.url()).to.not.include(runId);
  });

  it('shows the blackboard, the definition and the values of the run', async () => {
    const runId = await runFailing();
    await page.goto(`${url}/runs/${runId}#tab=blackboard`);
    await expectText(page.getByRole('group', { name: 'Blackboard' }), /names:.*Rome/s);
    await page.getByRole('tab', { name: 'Definition' }).click();
    await expectText(page.locator('pre.code'), /id: cities/);
  });

  it('nests the sub-pipelines of a plan, each with its state and its waves', async () => {
    const runId = await fixture.submitPlan(PLAN);
    await controlled.started(1);
    await page.goto(`${url}/runs/${runId}`);
    await expectText(page.getByRole('region', { name: 'Sub-pipeline east' }), /succeeded.*1 of 1 task/s);
    await expectText(page.getByRole('region', { name: 'Sub-pipeline west' }), /running.*reads x from east/s);
    await page.getByRole('region', { name: 'Sub-pipeline west' }).locator('.task-card').click();
    await expectText(panel().locator('h2'), 'west/b');
    await expectText(panel().getByRole('group', { name: 'Inputs' }), /x:\s*1/);
    await fixture.complete(runId);
    await expectText(page.locator('.run-header .badge'), 'succeeded');
  });

  it('draws arrows between the sub-pipelines of a plan, marks them on hover and focus, and leads to each', async () => {
    const runId = await fixture.submitPlan(PLAN);
    await controlled.started(1);
    await page.goto(`${url}/runs/${runId}`);
    const part = (name: string): Locator => page.locator(`#sub-pipeline-${name}`);
    const arrows = page.locator('.plan-graph .edges > path');
    await expectText(part('east'), /east.*1 of 1 task.*succeeded, wave 1, depends on no other/s);
    await expectText(part('west'), /west.*0 of 1 task.*running, wave 2, depends on east/s);
    expect(await part('west').getAttribute('title')).to.equal('west reads x from east; 0 of 1 task');
    expect(await arrows.count()).to.equal(1);
    expect(await arrows.getAttribute('marker-end')).to.equal('url(#sub-pipeline-arrow)');
    await expectText(page.locator('.plan-graph .edges text'), 'x');
    expect(await arrows.getAttribute('class')).to.not.include('near');
    await part('west').hover();
    await eventually(
      async () => (await part('east').getAttribute('class'))?.includes('near before') === true,
    );
    expect(await arrows.getAttribute('class')).to.include('near');
    await page.mouse.move(0, 0);
    await eventually(async () => (await arrows.getAttribute('class'))?.includes('near') === false);
    await part('east').focus();
    await eventually(async () => (await part('west').getAttribute('class'))?.includes('near after') === true);
    await page.getByRole('button', { name: 'west', exact: true }).click();
    expect(await page.locator('#task-west-b').count()).to.equal(0);
    await part('east').focus();
    await page.keyboard.press('ArrowRight');
    await eventually(() => page.evaluate("document.activeElement.id === 'sub-pipeline-west'"));
    await page.keyboard.press('Enter');
    await page.locator('#task-west-b').waitFor();
    await eventually(() => page.evaluate("document.activeElement.id === 'part-west'"));
    expect(await findViolations(page)).to.deep.equal([]);
  });

  it('says when there is no such run', async () => {
    await page.goto(`${url}/runs/nothing`);
    await expectText(page.locator('h1'), 'There is no such run');
    // Requests for other views of the run may be answered later.
    await page.waitForLoadState('networkidle');
    // The browser complains of each request that was answered with 404.
    expect(takeComplaints().every((complaint) => complaint.includes('404'))).to.equal(true);
  });

  it('lists the pipelines of the folder with the next time of their schedule, and runs one with its params', async () => {
    await page.goto(`${url}/library`);
    const entry = page.getByRole('region', { name: 'Pipeline nightly' });
    await expectText(entry, /0 6 \* \* 1-5.*Europe\/Berlin.*Next/s);
    await expectText(
      page.getByRole('region', { name: 'Pipeline broken' }),
      /cannot run.*there is no tool "mokc"/s,
    );
    await entry.getByRole('button', { name: 'Run…' }).click();
    await entry.getByLabel(/^name/).fill('Ada');
    await entry.getByRole('button', { name: 'Run it now' }).click();
    await expectText(page.locator('.run-header .badge'), 'succeeded');
    await expectText(page.locator('.goal'), 'Greet Ada');
  });

  for (const [name, options] of [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['narrow', { viewport: { width: 420, height: 900 } }],
  ] as const) {
    it(`has no serious problem of accessibility on any page (${name})`, async () => {
      const runId = await runFailing();
      const tab = await browser.newPage(options);
      for (const path of [
        '/',
        '/library',
        `/runs/${runId}`,
        `/runs/${runId}#task=each`,
        `/runs/${runId}#tab=timeline&task=each&item=1`,
        `/runs/${runId}#tab=events`,
        `/runs/${runId}#tab=blackboard`,
      ]) {
        await tab.goto('about:blank');
        await tab.goto(url + path);
        await tab.waitForLoadState('networkidle');
        expect(await findViolations(tab), path).to.deep.equal([]);
        if (name === 'narrow') {
          expect(
            await tab.evaluate('document.documentElement.scrollWidth <= window.innerWidth'),
            path,
          ).to.equal(true);
        }
      }
      await tab.close();
    });
  }
});
