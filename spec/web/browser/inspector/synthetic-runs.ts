import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { openBrowser, type Witness, witness } from '../support/open-browser.js';
import { FakeRun, FakeServer } from '../../fake-server.js';
import { writeEnd, writePausedRun } from '../../run-script.js';
import { eventually, expectHash, expectText } from '../../waiting.js';

describe('The inspector in a browser without network (D42)', function () {
  this.timeout(240_000);
  let browser: Browser;
  let server: FakeServer;
  let page: Page;
  let seen: Witness;

  before(async function () {
    browser = await openBrowser(this);
    server = await FakeServer.start();
  });

  after(() => server?.close());

  beforeEach(async () => {
    server.runs.clear();
    server.actions.length = 0;
    server.onAction = () => {};
    server.gap = undefined;
    page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
    page.setDefaultTimeout(10_000);
    seen = witness(page);
  });

  afterEach(() => page.close());

  const row = (name: string): Locator => page.getByRole('treeitem').filter({ hasText: name });
  const lit = (): Locator => page.locator('.node.lit:not(.root) .key');
  const snapshot = (): Locator => page.getByRole('tabpanel');

  function addPausedRun(): FakeRun {
    const run = server.add(new FakeRun('r1', { paused: true }));
    run.add(writePausedRun().entries);
    return run;
  }

  async function open(path = '/inspect/r1'): Promise<void> {
    await page.goto(server.url + path);
    await page.getByRole('treeitem').first().waitFor();
  }

  it('shows tree, chart with the active state and the last transition, sequence and snapshot of a run', async () => {
    addPausedRun();
    await open();
    await page.locator('.edge.lit').first().waitFor();
    expect(await page.getByRole('treeitem').count()).to.equal(13);
    expect(await lit().textContent()).to.equal('paused');
    expect(await page.locator('.edge.lit text').first().textContent()).to.include('wave.settled');
    expect(await page.locator('[role=option]').last().innerText()).to.include('wave.settled');
    expect(await snapshot().innerText()).to.match(/wavesExecuted:\s*1\s*changed/);
  });

  it('follows a run live, without asking any other host or complaining', async () => {
    const run = addPausedRun();
    await open();
    await expectText(lit(), 'paused');
    run.add(writeEnd(writePausedRun()).entries.slice(run.lastSeq));
    await expectText(lit(), 'succeeded');
    await row('summary').waitFor();
    expect(
      seen.requests.filter((url) => !url.startsWith(server.url) && !url.startsWith('data:')),
    ).to.deep.equal([]);
    expect(seen.complaints).to.deep.equal([]);
  });

  it('shows the run as it was after an event that is chosen, and goes back to now', async () => {
    addPausedRun();
    await open();
    await page.getByLabel('Filter by type of event').selectOption('wave.begin');
    await page.locator('[role=option]').filter({ hasText: 'wave.begin' }).click();
    await expectText(lit(), 'starting');
    expect(await page.getByRole('treeitem').count()).to.equal(2);
    await expectHash(page, '#seq=4&actor=run/wave');
    await page.getByRole('button', { name: 'Live' }).click();
    await row('each').first().waitFor();
  });

  it('moves through time with the slider, and by the events of the actor', async () => {
    addPausedRun();
    await open('/inspect/r1#actor=run');
    await page.getByRole('slider', { name: 'Moment' }).fill('3');
    await expectText(lit(), 'running');
    expect(await page.getByRole('treeitem').count()).to.equal(2);
    await page.getByRole('button', { name: 'Next event of the actor' }).click();
    await expectText(lit(), 'paused');
    await page.getByRole('button', { name: 'Previous event', exact: true }).click();
    await expectText(lit(), 'running');
  });

  it('marks on the slider where the selected actor has events, and where something failed', async () => {
    const run = server.add(new FakeRun('r1', {}));
    const { entries } = writePausedRun();
    run.add(entries.slice(0, 10));
    await open();
    const ticks = page.locator('.ticks path');
    await eventually(async () => (await ticks.first().getAttribute('d')) !== '');
    expect(await ticks.last().getAttribute('d')).to.equal('');
    run.add(entries.slice(10));
    await eventually(async () => (await ticks.last().getAttribute('d'))?.match(/M/g)?.length === 1);
    expect((await ticks.first().getAttribute('d'))?.match(/M/g)).to.have.length(3);
  });

  it('opens a link to a moment of an actor', async () => {
    addPausedRun();
    await open('/inspect/r1#seq=17&actor=run/wave/each/fan-out/3');
    await expectText(lit(), 'waiting');
    expect(await page.locator('.moment').innerText()).to.include('#17 of 32');
  });

  it('filters the sequence by actor and by type', async () => {
    addPausedRun();
    await open();
    await page.getByLabel('Filter by type of event').selectOption('item.settled');
    await expectText(page.locator('.sequence .count'), '8 of 32');
    await page.getByLabel('Filter by actor').fill('fan-out/5');
    await expectText(page.locator('.sequence .count'), '1 of 32');
    await page.getByLabel('Filter by actor').fill('nobody');
    await page.getByRole('button', { name: 'Show all' }).click();
    await expectText(page.locator('.sequence .count'), '32');
  });

  it('lets a paused run continue or step, and shows why it could not', async () => {
    const run = addPausedRun();
    await open();
    server.onAction = () => {
      throw new Error('the run is not paused: <b>read its record</b>');
    };
    await page.getByRole('button', { name: 'Step' }).click();
    await expectText(page.getByRole('alert').locator('bdi'), 'the run is not paused: <b>read its record</b>');
    server.onAction = () => (run.record = { ...run.record, paused: false });
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectText(page.locator('.badge'), 'running');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await eventually(() => server.actions.length === 3);
    expect(server.actions).to.deep.equal(['step', 'continue', 'cancel']);
  });

  it('shows the inputs and the output of a task', async () => {
    const run = addPausedRun();
    run.answers.set('tasks/fetch', {
      status: 'succeeded',
      inputs: { url: 'http://example.com' },
      inputs_error: null,
      output: { rows: 8 },
      error: null,
      attempts: [],
      cut: [],
      started_at: null,
      finished_at: null,
    });
    await open('/inspect/r1#actor=run/wave/fetch');
    await page.getByRole('tab', { name: 'Values' }).click();
    await page.getByText('"http://example.com"').waitFor();
    expect(await snapshot().innerText()).to.include('rows');
  });

  it('makes the statechart smaller, larger and fitting by its buttons and by the keys + - 0', async () => {
    addPausedRun();
    await open();
    await page.locator('.edge.lit').first().waitFor();
    const width = async (): Promise<number> =>
      (await page.locator('.canvas > svg').boundingBox())?.width ?? 0;
    const own = await width();
    await page.getByRole('group', { name: 'Drawing' }).focus();
    await page.keyboard.press('+');
    await eventually(async () => (await width()) > own);
    const larger = await width();
    await page.getByRole('button', { name: 'Smaller' }).click();
    await eventually(async () => (await width()) < larger);
    await page.keyboard.press('0');
    const fit = page.getByRole('button', { name: 'Fit' });
    await eventually(async () => (await fit.getAttribute('aria-pressed')) === 'true');
    const hidden = await page.evaluate(
      "(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector('.canvas'))",
    );
    expect(hidden).to.equal(0);
    await fit.click();
    await eventually(async () => (await width()) === own);
  });

  it('can be used with the keyboard alone', async () => {
    addPausedRun();
    await open();
    await page.getByRole('tree').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expectText(page.locator('.chart .path'), 'run/wave/fetch');
    await page.keyboard.press('ArrowLeft');
    await expectText(page.locator('.chart .path'), 'run/wave');
    await page.keyboard.press('ArrowLeft');
    await eventually(async () => (await page.getByRole('treeitem').count()) === 2);
    await page.keyboard.press('ArrowRight');
    await eventually(async () => (await page.getByRole('treeitem').count()) === 13);
    await page.getByRole('listbox').focus();
    await page.keyboard.press('Home');
    await expectText(page.locator('.moment'), '#1 of 32 · +0.000 s');
    await page.getByRole('tab', { name: 'Snapshot' }).focus();
    await page.keyboard.press('ArrowRight');
    await expectText(page.locator('[role=tab][aria-selected=true]'), 'Event');
  });
});
