import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { openBrowser } from '../support/open-browser.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { findViolations } from '../support/accessibility.js';
import { expectText, LONGEST_WAIT_MS } from '../../waiting.js';

const NIGHTLY = `pipeline:
  id: nightly # ours
  goal: g
  schedule: "0 6 * * 1-5"
  tasks: [{id: a, tool: mock}]
`;

describe('Schedules on the page of pipelines, in a browser (D72)', function () {
  this.timeout(240_000);
  let folder: TemporaryFolder;
  let browser: Browser;
  let page: Page;
  let server: TestServer | undefined;

  before(async function () {
    browser = await openBrowser(this);
  });
  beforeEach(async () => {
    folder = new TemporaryFolder();
    folder.write('nightly.yaml', NIGHTLY);
    page = await browser.newPage();
    page.setDefaultTimeout(LONGEST_WAIT_MS);
  });
  afterEach(async () => {
    await page.close();
    await server?.close(0);
    server = undefined;
    folder.remove();
  });

  const entry = (): Locator => page.getByRole('region', { name: 'Pipeline nightly' });
  const button = (name: string): Locator => entry().getByRole('button', { name, exact: true });
  const open = async (isWritable: boolean): Promise<void> => {
    server = await startTestServer({
      env: { SERVICE_PIPELINES: folder.path, SERVICE_PIPELINES_WRITABLE: String(isWritable) },
    });
    await server.restored;
    await page.goto(`${server.url}/library`);
    await expectText(entry(), /0 6 \* \* 1-5.*Next/s);
  };
  const saved = (): string => readFileSync(folder.at('nightly.yaml'), 'utf8');

  it('are paused and resumed by a button, which changes one line of the file', async () => {
    await open(true);
    await button('Pause').click();
    await expectText(entry(), /0 6 \* \* 1-5.*, paused/s);
    expect(saved()).to.equal(NIGHTLY.replace('  schedule', '  paused: true\n  schedule'));
    expect(await findViolations(page)).to.deep.equal([]);
    await button('Resume').click();
    await expectText(entry(), /Next\s*\w+ \w*\d/);
    expect(saved()).to.equal(NIGHTLY.replace('  schedule', '  paused: false\n  schedule'));
    expect(await button('Pause').isEnabled()).to.equal(true);
  });

  it('say beside the button why they could not be paused', async () => {
    await open(true);
    folder.write('nightly.yaml', `${NIGHTLY}  nonsense: 1\n`);
    await button('Pause').click();
    await expectText(entry().getByRole('alert'), /the file has errors/);
    expect(saved()).to.not.contain('paused');
  });

  it('have no button in a folder that is only read', async () => {
    await open(false);
    expect(await button('Pause').count()).to.equal(0);
  });
});
