import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { systemClock } from '../../../../lib/common/clock.js';
import { openBrowser } from '../support/open-browser.js';
import { ControlledServer, TWO_WAVES } from '../../../http/support/controlled-server.js';
import { InspectorPage } from '../support/inspector-page.js';
import { createApiKey } from '../../../support/http/api-key.js';

const KEY = 'wt_the-key-of-this-spec';

describe('The inspector on a real server with keys, in a browser without network (D37, D42)', function () {
  this.timeout(240_000);
  const fixture = new ControlledServer();
  let browser: Browser;
  let tab: InspectorPage;
  let url: string;
  let runId: string;

  before(async function () {
    browser = await openBrowser(this);
    const keys = [createApiKey('all', ['*'], ['read', 'run'], KEY)];
    await fixture.open({ clock: systemClock, keys });
    ({ url } = fixture.server);
    const { body } = await fixture.server.request<{ run_id: string }>(
      'POST',
      '/pipelines/run_async',
      { pipeline: TWO_WAVES },
      { 'x-api-key': KEY },
    );
    runId = body.run_id;
    await fixture.controlled.started(1);
  });

  beforeEach(async () => {
    tab = await InspectorPage.open(browser);
  });

  afterEach(() => tab.close());

  after(() => fixture.close());

  const enter = async (key: string): Promise<void> => {
    await tab.page.getByLabel('API key').fill(key);
    await tab.page.keyboard.press('Enter');
  };

  it('asks for the key, says that it is wrong, and keeps the right one for this tab only', async () => {
    await tab.page.goto(`${url}/inspect/${runId}`);
    await enter('wt_wrong');
    await tab.page.getByText('The server does not accept this key.').waitFor();
    await enter(KEY);
    await tab.row(/^a/).waitFor();
    await tab.page.reload();
    await tab.row(/^a/).waitFor();
    expect(await tab.page.evaluate('[localStorage.length, document.cookie]')).to.deep.equal([0, '']);
    const other = await tab.page.context().newPage();
    await other.goto(`${url}/inspect`);
    await other.getByLabel('API key').waitFor();
    expect(tab.seen.requests.filter((asked) => asked.includes(KEY))).to.deep.equal([]);
  });

  it('downloads the recording with the key', async () => {
    await tab.page.goto(`${url}/inspect/${runId}`);
    await enter(KEY);
    const download = tab.page.waitForEvent('download');
    await tab.page.getByRole('link', { name: 'Download recording' }).click();
    expect((await download).suggestedFilename()).to.equal(`${runId}.wtrec`);
  });

  it('leads to the page of the Stately inspector, which uses the same key, and back', async () => {
    await tab.page.route('https://stately.ai/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<script>parent.postMessage({type: '@statelyai.connected'}, '*')</script>`,
      }),
    );
    await tab.page.goto(`${url}/inspect/${runId}`);
    await enter(KEY);
    await tab.page.getByRole('link', { name: 'Stately inspector' }).click();
    await tab.page.getByRole('heading', { name: 'What leaves this machine' }).waitFor();
    expect(new URL(tab.page.url()).pathname).to.equal(`/inspect/stately/${runId}`);
    await tab.page.getByRole('button', { name: 'Open the viewer' }).click();
    await tab.page.getByText('events passed on to stately.ai').waitFor();
    await tab.page.getByRole('link', { name: /own inspector/ }).click();
    await tab.row(/^a/).waitFor();
  });
});
