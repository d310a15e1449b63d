import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { systemClock } from '../../../../lib/common/clock.js';
import { ControlledServer, TWO_WAVES } from '../../../http/support/controlled-server.js';
import { openBrowser } from '../support/open-browser.js';
import { eventually, expectText, LONGEST_WAIT_MS } from '../../waiting.js';

/** Connections that a browser opens to a server over HTTP/1.1. */
const CONNECTIONS = 6;

describe('Tabs that are hidden, in a browser without network', function () {
  this.timeout(240_000);
  const fixture = new ControlledServer();
  let browser: Browser;
  let context: BrowserContext;
  let url: string;

  before(async function () {
    browser = await openBrowser(this);
    await fixture.open({ clock: systemClock });
    ({ url } = fixture.server);
  });

  beforeEach(async () => {
    context = await browser.newContext();
    context.setDefaultTimeout(LONGEST_WAIT_MS);
  });

  afterEach(async () => {
    await context.close();
    await fixture.clear();
  });

  after(() => fixture.close());

  async function open(path: string): Promise<Page> {
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(url + path);
    await expectText(page.locator('.badge'), 'running');
    return page;
  }

  /** Chromium without a window shows every tab at once, so the page is told. */
  async function hide(page: Page, isHidden: boolean): Promise<void> {
    await page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
      document.dispatchEvent(new Event('visibilitychange'));`,
    );
  }

  for (const [name, root, stream] of [
    ['the run console', '/runs/', '/events'],
    ['the inspector', '/inspect/', '/inspection'],
  ] as const) {
    it(`close their stream in ${name} after 30 s, and go on after the last entry when they are shown`, async () => {
      const runId = await fixture.submit(TWO_WAVES);
      await fixture.controlled.started(1);
      const page = await open(root + runId);
      const resumes: (string | undefined)[] = [];
      page.on('request', (request) => {
        const { accept, ...headers } = request.headers();
        if (accept === 'text/event-stream') resumes.push(headers['last-event-id']);
      });
      const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith(stream));
      await hide(page, true);
      await page.clock.fastForward(31_000);
      await closed;
      await fixture.complete(runId);
      await fixture.controlled.started(2);
      await fixture.complete(runId);
      expect(resumes).to.deep.equal([]);
      await hide(page, false);
      await expectText(page.locator('.badge'), 'succeeded');
      expect(resumes.length).to.equal(1);
      expect(Number(resumes[0])).to.be.greaterThan(0);
    });
  }

  it(`leave their connections to the next tab when there are ${CONNECTIONS} of them`, async () => {
    const runId = await fixture.submit(TWO_WAVES);
    await fixture.controlled.started(1);
    for (let index = 0; index < CONNECTIONS; index++) {
      const page = await open(`${index % 2 === 0 ? '/runs/' : '/inspect/'}${runId}`);
      await hide(page, true);
      await page.clock.fastForward(31_000);
    }
    const next = await open(`/runs/${runId}`);
    await eventually(async () => (await next.locator('.task-card').count()) === 2);
  });
});
