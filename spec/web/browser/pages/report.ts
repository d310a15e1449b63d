import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { defineTool } from '../../../../lib/tools/tool.js';
import { openBrowser, witness } from '../support/open-browser.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { findViolations } from '../support/accessibility.js';

const EVIL = '</script><img src="http://tracker.example/x" onerror="document.title=\'owned\'"><!-- \u202e';

const write = defineTool({
  name: 'write',
  description: '',
  inputs: { item: { type: 'number', description: '' } },
  run: ({ item }) => {
    if (item === 2) throw new Error(EVIL, { cause: new Error('the disk is full') });
    return { item, EVIL };
  },
});

const PIPELINE = {
  id: 'hostile',
  goal: EVIL,
  tasks: [
    { id: 'list', tool: 'mock', inputs: { text: EVIL, numbers: [1, 2, 3] } },
    {
      id: 'each',
      tool: 'write',
      parallel_over: '{{list.output.inputs.numbers}}',
      inputs: { item: '{{item}}' },
      retry: 1,
      retry_delay: 0,
    },
    { id: 'end', tool: 'mock', inputs: { all: '{{each.output}}' } },
  ],
};

describe('The HTML report of a run, opened from disk in Chromium', function () {
  this.timeout(240_000);
  let browser: Browser;
  let server: TestServer;
  let url: string;
  const folder = new TemporaryFolder();

  before(async function () {
    browser = await openBrowser(this);
    server = await startTestServer({ tools: [write] });
    const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
      pipeline: PIPELINE,
    });
    await server.registry.settled(body.run_id);
    const report = await fetch(`${server.url}/pipelines/runs/${body.run_id}/report`);
    url = pathToFileURL(folder.write('report.html', await report.text())).href;
  });

  after(async () => {
    await server?.close(0);
    folder.remove();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 360]) {
      it(`asks for nothing, has no error, nothing that axe-core finds, and fits: ${colorScheme}, ${width} px`, async () => {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
        const { requests, complaints } = witness(page);
        await page.goto(url);
        expect(await page.title()).to.equal('hostile: failed');
        await page.evaluate(
          'for (const details of document.querySelectorAll("details")) details.open = true',
        );
        expect(await findViolations(page)).to.deep.equal([]);
        expect(requests).to.deep.equal([url]);
        expect(complaints).to.deep.equal([]);
        expect(await page.title()).to.equal('hostile: failed');
        expect(await overflow(page)).to.equal(0);
        await page.close();
      });
    }
  }

  it('names the failed item, its causes and its inputs before anything else, and unfolds by keyboard', async () => {
    const page = await browser.newPage();
    await page.goto(url);
    const cause = page.locator('section').first();
    expect(await cause.innerText())
      .to.contain('each[1]')
      .and.to.contain('the disk is full')
      .and.to.contain('"item": 2');
    expect(await cause.innerText()).to.contain('<img src="http://tracker.example/x"');
    const tasks = page.locator('section', { has: page.getByRole('heading', { name: 'Tasks', exact: true }) });
    const summary = tasks.locator('summary').first();
    await summary.focus();
    await page.keyboard.press('Enter');
    expect(await tasks.locator('details').first().getAttribute('open')).to.equal('');
    expect(await page.getByRole('img', { name: /3 boxes in 3 waves/ }).count()).to.equal(1);
    expect(await page.getByRole('img', { name: /A bar for each attempt/ }).count()).to.equal(1);
    await page.close();
  });

  it('has colours for light and dark pages, and is light on paper', async () => {
    const page = await browser.newPage({ colorScheme: 'dark' });
    await page.goto(url);
    const colour = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).color');
    expect(await colour()).to.equal('rgb(227, 232, 239)');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await colour()).to.equal('rgb(27, 35, 48)');
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    expect(await colour()).to.equal('rgb(27, 35, 48)');
    await page.close();
  });
});

/** How far the page is wider than the window, in px. */
async function overflow(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
