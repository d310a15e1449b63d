import { build } from 'esbuild';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser, type Witness, witness } from '../support/open-browser.js';
import { ControlledServer } from '../../../http/support/controlled-server.js';
import { ROOT } from '../../../project/files.js';
import { createApiKey } from '../../../support/http/api-key.js';

/**
 * Stands in for the viewer of stately.ai, whose address the browser is made to find here: it receives with the package's
 * own receiver, as the viewer does.
 */
const VIEWER = `
  import { createBrowserReceiver } from '@statelyai/inspect';
  window.received = [];
  createBrowserReceiver().subscribe((event) => window.received.push(event));
`;

interface Received {
  readonly type: string;
  readonly name?: string;
  readonly sessionId: string;
  readonly parentId?: string;
  readonly definition?: string;
  readonly snapshot?: { readonly value: string };
}

describe('The page of the official Stately inspector in a browser without network', function () {
  this.timeout(240_000);
  const fixture = new ControlledServer();
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let seen: Witness;
  let script: string;

  before(async function () {
    browser = await openBrowser(this);
    await fixture.open();
    const { outputFiles } = await build({
      stdin: { contents: VIEWER, resolveDir: ROOT },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      logLevel: 'error',
    });
    script = outputFiles[0]?.text ?? '';
  });

  beforeEach(async () => {
    context = await browser.newContext();
    await context.route('https://stately.ai/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<script type="module">${script}</script>` }),
    );
    page = await context.newPage();
    seen = witness(page);
  });

  afterEach(async () => {
    await context?.close();
    await fixture.clear();
  });

  after(() => fixture.close());

  const received = async (): Promise<Received[]> => {
    const frame = page.frames().find((candidate) => candidate.url().startsWith('https://stately.ai'));
    return (await frame?.evaluate('window.received')) as Received[];
  };
  const hosts = (): string[] => [...new Set(seen.requests.map((url) => new URL(url).origin))];
  const open = async (runId: string): Promise<void> => {
    await page.goto(`${fixture.server.url}/inspect/stately/${runId}`);
    await page.getByRole('heading', { name: 'What leaves this machine' }).waitFor();
  };
  const agree = (): Promise<void> => page.getByRole('button', { name: 'Open the viewer' }).click();

  it('says what leaves the machine, and asks no other host, before its reader agrees', async () => {
    await open(await fixture.submit());
    const text = await page.locator('#consent').innerText();
    expect(text)
      .to.include('https://stately.ai')
      .and.include('Inputs and outputs of tasks are not passed on');
    expect(await page.locator('iframe').count()).to.equal(0);
    expect(hosts()).to.deep.equal([fixture.server.url]);
    expect(seen.complaints).to.deep.equal([]);
  });

  it('passes actors and events of a live run on to the viewer, as its own receiver accepts them', async () => {
    const runId = await fixture.submit();
    await open(runId);
    await agree();
    await page.getByText('events passed on to stately.ai').waitFor();
    await fixture.complete(runId);
    await fixture.complete(runId);
    await page.getByText('the run has settled').waitFor();
    const messages = await received();
    const actors = messages.filter(({ type }) => type === '@xstate.actor');
    expect(actors.map(({ name }) => name)).to.deep.equal(['run', 'wave', 'a', 'b']);
    const known = new Set(actors.map(({ sessionId }) => sessionId));
    for (const { parentId } of actors.slice(1)) expect(known.has(parentId ?? '')).to.equal(true);
    expect(JSON.parse(actors[0]?.definition ?? '')).to.have.nested.property('states.paused');
    const last = messages.findLast(
      ({ type, sessionId }) => type === '@xstate.snapshot' && sessionId === actors[0]?.sessionId,
    );
    expect(last?.snapshot).to.include({ value: 'succeeded' });
    expect(hosts()).to.deep.equal([fixture.server.url, 'https://stately.ai']);
    expect(seen.complaints).to.deep.equal([]);
  });

  it('shows no host but that of the viewer', async () => {
    await open(await fixture.submit());
    await page.evaluate(() => {
      const { document } = globalThis as unknown as { document: { body: { innerHTML: string } } };
      document.body.innerHTML = '<iframe src="https://evil.example/"></iframe>';
    });
    await page.waitForEvent('console');
    expect(seen.complaints.join()).to.include('frame-src https://stately.ai');
  });

  it('says that there is no such run', async () => {
    await open('none');
    await agree();
    await page.getByText('there is no run none').waitFor();
  });
});

describe('The page of the Stately inspector on a server with keys (D37)', function () {
  this.timeout(240_000);
  const fixture = new ControlledServer();
  let browser: Browser;

  before(async function () {
    browser = await openBrowser(this);
    await fixture.open({ keys: [createApiKey('all', ['*'], ['read', 'run'], 'the key')] });
  });

  after(() => fixture.close());

  it('asks for the key, and keeps it for the tab only', async () => {
    const { body } = await fixture.server.request<{ run_id: string }>(
      'POST',
      '/pipelines/run_async',
      { pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] } },
      { 'x-api-key': 'the key' },
    );
    await fixture.waitUntilIdle();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.route('https://stately.ai/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<script>parent.postMessage({type: '@statelyai.connected'}, '*')</script>`,
      }),
    );
    await page.goto(`${fixture.server.url}/inspect/stately/${body.run_id}`);
    const openViewer = page.getByRole('button', { name: 'Open the viewer' });
    await openViewer.click();
    await page.getByText('this server needs an API key').waitFor();
    await page.getByLabel('API key of this server').fill('the key');
    await openViewer.click();
    await page.getByText('events passed on to stately.ai').waitFor();
    const other = await context.newPage();
    await other.goto(`${fixture.server.url}/inspect/stately/${body.run_id}`);
    expect(await other.evaluate('sessionStorage.length + localStorage.length')).to.equal(0);
    await context.close();
  });
});
