import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../support/open-browser.js';
import { findViolations } from '../support/accessibility.js';
import { FakeRun, FakeServer } from '../../fake-server.js';
import { RunScript, writeEnd, writePausedRun } from '../../run-script.js';
import { eventually, expectText, LONGEST_WAIT_MS } from '../../waiting.js';

describe('The inspector when something is missing, broken, hostile or very large', function () {
  this.timeout(240_000);
  let browser: Browser;
  let server: FakeServer;
  let page: Page;

  before(async function () {
    browser = await openBrowser(this);
    server = await FakeServer.start();
  });

  after(() => server?.close());

  beforeEach(async () => {
    server.runs.clear();
    server.gap = undefined;
    server.isDown = false;
    page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
    page.setDefaultTimeout(LONGEST_WAIT_MS);
  });

  afterEach(() => page.close());

  function addRun(script: RunScript = writePausedRun()): FakeRun {
    const run = server.add(new FakeRun('r1', { paused: true }));
    run.add(script.entries);
    return run;
  }

  async function open(path = '/inspect/r1'): Promise<void> {
    await page.goto(server.url + path);
    await page.getByRole('treeitem').first().waitFor();
  }

  it('says that there is no such run', async () => {
    await page.goto(`${server.url}/inspect/%3Cb%3Enone`);
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    expect(await page.locator('.card .id').textContent()).to.equal('<b>none');
  });

  it('says that the connection is lost, and goes on where it was when the server is back', async () => {
    const run = addRun();
    await open();
    server.isDown = true;
    run.disconnect();
    await page.getByText('The connection to the server is lost.').waitFor();
    server.isDown = false;
    run.add(writeEnd(writePausedRun()).entries.slice(run.lastSeq));
    await page.getByRole('treeitem').filter({ hasText: 'summary' }).waitFor();
    expect(await page.getByText('The connection to the server is lost.').count()).to.equal(0);
    await expectText(page.locator('.sequence .count'), '39');
  });

  it('says that the server has forgotten the run, and keeps what it shows', async () => {
    const run = addRun();
    await open();
    server.runs.clear();
    run.disconnect();
    await page.getByText('The server does not know this run any more').waitFor();
    expect(await page.getByRole('treeitem').count()).to.equal(13);
  });

  it('says that older entries were dropped, and shows actors whose beginning is among them', async () => {
    addRun();
    server.gap = { after: 0, next: 20 };
    await open();
    await page.getByText('19 older entries were dropped by the server').waitFor();
    await page.getByRole('treeitem').filter({ hasText: 'fan-out' }).first().waitFor();
  });

  it('says that a run that nobody watched was rebuilt from its events', async () => {
    const run = addRun();
    run.origin = 'events';
    run.close();
    await open();
    await page.getByText('Nobody watched this run, so this was rebuilt from its events').waitFor();
  });

  it('shows names and values with HTML, scripts and right-to-left marks as text', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202Egpj.exe';
    const script = new RunScript().create('run', 'run', 'queued').create('run/wave', 'wave', 'idle');
    script.create(`run/wave/${evil}`, 'task', evil, { snapshot: { [evil]: evil } });
    script.send('run', evil, 'running', { data: { [evil]: evil }, snapshot: { __proto__: evil } });
    const run = addRun(script);
    run.record = { ...run.record, pipeline_id: evil, error: evil };
    await open();
    await page.getByRole('treeitem').last().click();
    await page.getByRole('tab', { name: 'Event' }).click();
    await page.getByRole('tab', { name: 'Snapshot' }).click();
    expect(await page.getByRole('tabpanel').textContent()).to.include('<img src=x');
    expect(await page.locator('img, #page script').count()).to.equal(0);
    expect(await page.title()).to.include('Wavetrain');
    const isolates = await page.evaluate(
      "getComputedStyle([...document.querySelectorAll('.tree bdi')].at(-1)).unicodeBidi",
    );
    expect(isolates).to.match(/isolate/);
  });

  it('stays usable with 10,000 items: folded, virtual, and without a task of 100 ms for a scrub or a scroll', async () => {
    addRun(writePausedRun(10_000));
    await open('/inspect/r1#actor=run/wave/each');
    await expectText(page.locator('.sequence .count'), '20,016');
    expect(await page.getByRole('treeitem').count()).to.be.below(12);
    await page.getByRole('treeitem').filter({ hasText: '9,999' }).click();
    await eventually(async () => (await page.getByRole('treeitem').count()) > 15);
    expect(await page.locator('[role=treeitem], [role=option]').count()).to.be.below(120);
    const times: number[] = [];
    for (let at = 1; at <= 10; at++) {
      times.push(
        await busyMilliseconds(
          page,
          `
          const slider = document.querySelector('input[type=range]');
          slider.value = String(${at % 2 === 0 ? 100 * at : 20_000 - 100 * at});
          slider.dispatchEvent(new Event('input', { bubbles: true }));
          document.querySelector('[role=tree]').scrollTop = ${at} * 9000;`,
        ),
      );
    }
    // A single one says how busy the machine was.
    const median = times.toSorted((a, b) => a - b)[times.length / 2];
    expect(median, String(times)).to.be.below(100);
  });

  it('does not fall behind 1,000 entries a second', async () => {
    const run = addRun(new RunScript().create('run', 'run', 'queued'));
    await open();
    const script = new RunScript().create('run', 'run', 'queued').create('run/wave', 'wave', 'starting');
    for (let task = 0; task < 1000; task++) script.succeed(`run/wave/task ${task}`);
    const rest = script.entries.slice(run.lastSeq);
    for (let at = 0; at < rest.length; at += 100) {
      run.add(rest.slice(at, at + 100));
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
    }
    await expectText(page.locator('.sequence .count'), '3,002');
    expect(await page.getByRole('treeitem').count()).to.be.below(30);
  });

  it('keeps at most 50,000 entries, and says how many it has dropped', async () => {
    const script = new RunScript().create('run', 'run', 'queued');
    for (let index = 0; index < 52_000; index++) script.send('run', 'tick', index % 2 ? 'running' : 'paused');
    addRun(script);
    await open();
    await page.getByText('This page has dropped its').waitFor();
    await eventually(
      async () => (await page.locator('.moment').textContent())?.includes('of 52001') === true,
    );
    const count = Number((await page.locator('.sequence .count').textContent())?.replaceAll(',', ''));
    expect(count).to.be.below(50_001);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has nothing that axe-core calls serious, in ${colorScheme} colours and on a narrow screen`, async () => {
      addRun();
      for (const width of [1360, 420]) {
        for (const path of ['/inspect/r1#seq=23', '/inspect/none']) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 820 });
          await page.goto('about:blank');
          await page.goto(server.url + path);
          await page.locator('[role=treeitem], .card').first().waitFor();
          const found = await findViolations(page);
          expect(found, `${path} ${width}`).to.deep.equal([]);
        }
      }
    });
  }
});

/** Processor time that the page takes for a piece of script and for drawing what it changes. */
async function busyMilliseconds(page: Page, script: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN;
  };
  const before = await read();
  await page.evaluate(`(async () => {
    ${script}
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let count = 0; count < 3; count++) await frame();
  })()`);
  const after = await read();
  await session.detach();
  return (after - before) * 1000;
}
