import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createApiKey } from '../../../support/http/api-key.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { eventually, expectText, LONGEST_WAIT_MS } from '../../waiting.js';
import { findViolations } from '../support/accessibility.js';
import { openBrowser } from '../support/open-browser.js';

const KEYS = [
  createApiKey('root', ['*'], ['read', 'run', 'admin']),
  createApiKey('ci', ['acme'], ['read', 'run']),
];
const HELLO = { id: 'hello', goal: 'greet', tasks: [{ id: 'greet', tool: 'mock' }] };

describe('The page of the audit, in a browser (D95)', function () {
  this.timeout(240_000);
  let browser: Browser;
  let page: Page;
  let server: TestServer;

  before(async function () {
    browser = await openBrowser(this);
    server = await startTestServer({ keys: KEYS });
    for (const key of ['ci', 'root', 'guessed']) {
      await server.request('POST', '/pipelines/run', { pipeline: HELLO }, { 'x-api-key': key });
    }
  });
  beforeEach(async () => {
    page = await browser.newPage();
    page.setDefaultTimeout(LONGEST_WAIT_MS);
  });
  afterEach(() => page.close());
  after(() => server?.close(0));

  const open = async (key: string, query = ''): Promise<void> => {
    await page.goto(`${server.url}/audit${query}`);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
  };
  /** Waits until the table has so many entries. */
  const expectEntries = (count: number): Promise<void> =>
    eventually(async () => (await page.locator('tbody tr').count()) === count);
  const search = (): string => new URL(page.url()).search;

  it('lists entries, the newest first, and leads to their runs', async () => {
    await open('root', '?action=submit');
    await expectEntries(3);
    await expectText(page.locator('tbody tr'), /anonymous.*submit.*pipeline.*refused 401.*127\.0\.0\.1/);
    expect(await findViolations(page)).to.deep.equal([]);
    await page
      .getByRole('row', { name: /key ci/ })
      .getByRole('link')
      .click();
    await page.waitForURL(/\/runs\/[^/]+$/);
  });

  it('selects entries by what is clicked and chosen, and the same ones when its address is opened again', async () => {
    await open('root');
    await page.getByRole('button', { name: 'key ci', exact: true }).click();
    await expectEntries(1);
    expect(search()).to.equal('?who=key%3Aci');
    await page.reload();
    await expectEntries(1);
    await page.getByLabel('Result').selectOption('refused');
    await page.getByText('No entry matches.').waitFor();
    await page.goBack();
    await expectEntries(1);
    await page.getByRole('button', { name: 'Do not filter by who' }).click();
    await page.getByRole('row', { name: /key root/ }).waitFor();
    expect(search()).to.equal('');
  });

  it('says to a key without the scope "admin" who can give it', async () => {
    await open('ci');
    await expectText(
      page.getByRole('main'),
      /this key lacks the scope "admin".*The operator of the server gives that scope to a key/s,
    );
    expect(await page.locator('tbody tr').count()).to.equal(0);
  });
});
