import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { systemClock } from '../../../lib/common/clock.js';
import { ControlledServer } from '../../http/support/controlled-server.js';
import { openBrowser, type Witness, witness } from '../../project/open-browser.js';
import { expectText } from '../waiting.js';

const FETCH = {
  id: 'fetch',
  goal: 'g',
  inputs: { names: ['one', 'two'] },
  tasks: [
    { id: 'page', tool: 'controlled' },
    {
      id: 'each',
      tool: 'controlled',
      parallel_over: '{{pipeline.inputs.names}}',
      inputs: { name: '{{item}}' },
    },
    { id: 'last', tool: 'mock', inputs: { page: '{{page.output}}' } },
  ],
};

describe('What a reader does with a run that is over, in a browser without network', function () {
  this.timeout(90_000);
  const fixture = new ControlledServer();
  const { controlled } = fixture;
  let browser: Browser;
  let page: Page;
  let seen: Witness;
  let url: string;

  before(async function () {
    browser = await openBrowser(this);
    await fixture.open({ clock: systemClock });
    ({ url } = fixture.server);
  });

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
    page.setDefaultTimeout(20_000);
    seen = witness(page);
  });

  afterEach(async () => {
    expect(seen.complaints).to.deep.equal([]);
    await page.close();
    await fixture.clear();
  });

  after(async () => {
    await browser?.close();
    await fixture.close();
  });

  const card = (name: string): Locator => page.locator(`#task--${name}`);
  const panel = (): Locator => page.locator('.task-panel');

  it('calls tasks and items aborted, not failed, that "Cancel and abort" has stopped', async () => {
    const runId = await fixture.submit(FETCH);
    await controlled.started(3);
    await page.goto(`${url}/runs/${runId}`);
    await page.getByRole('button', { name: 'Cancel and abort' }).click();
    await expectText(card('page'), /aborted/);
    await expectText(card('each'), /0\/2 · .*aborted/);
    expect(await card('page').getAttribute('class'))
      .to.include('stopped')
      .and.not.include('failed');
    await expectText(page.locator('.run-header .line-facts'), /Tasks\s*2 aborted, 1 not run/);
    await card('page').click();
    await expectText(panel().locator('.badge'), 'aborted');
    await expectText(panel().locator('.about'), /was at work when the run was cancelled/);
    await card('each').click();
    await expectText(panel().locator('.item-row'), /aborted/);
    await page.reload();
    await expectText(card('page'), /aborted/);
  });
});
