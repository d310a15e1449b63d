import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { systemClock } from '../../../../lib/common/clock.js';
import type { Json } from '../../../../lib/common/json/json.js';
import { openBrowser } from '../support/open-browser.js';
import { ControlledServer, TWO_WAVES } from '../../../http/support/controlled-server.js';
import { BreakableProxy } from '../../breakable-proxy.js';
import { findViolations } from '../support/accessibility.js';
import { InspectorPage } from '../support/inspector-page.js';
import { expectText } from '../../waiting.js';

const LOST = 'The connection to the server is lost.';

describe('The inspector on a real server in trouble, in a browser without network (D42)', function () {
  this.timeout(240_000);
  const options = {
    clock: systemClock,
    env: { SERVICE_MAX_RUNNING: '2', SERVICE_MAX_BODY_BYTES: '30000000' },
  };
  let browser: Browser;
  let fixture: ControlledServer;
  let proxy: BreakableProxy;
  let tab: InspectorPage;

  before(async function () {
    browser = await openBrowser(this);
  });

  beforeEach(async () => {
    fixture = new ControlledServer();
    await fixture.open(options);
    proxy = await BreakableProxy.start(fixture.server.url);
    tab = await InspectorPage.open(browser);
  });

  afterEach(async () => {
    await tab.close();
    await proxy.close();
    await fixture.close();
  });

  async function submit(pipeline: object = TWO_WAVES): Promise<string> {
    const runId = await fixture.submit(pipeline);
    await fixture.controlled.started(1);
    return runId;
  }

  it('says that a server that has restarted does not know the run, and keeps what it shows', async () => {
    const runId = await submit();
    await tab.show(`${proxy.url}/inspect/${runId}`);
    await tab.row(/^a/).waitFor();
    proxy.target = undefined;
    await fixture.close();
    fixture = new ControlledServer();
    await fixture.open(options);
    proxy.break();
    await tab.page.getByText(LOST).waitFor();
    proxy.target = fixture.server.url;
    await tab.page.getByText('The server does not know this run any more').waitFor();
    await tab.row(/^a/).waitFor();
    await tab.page.reload();
    await tab.page.getByRole('heading', { name: 'There is no such run' }).waitFor();
    await tab.page.getByRole('link', { name: 'Show the runs that there are' }).click();
    await tab.page.getByText('There is no run yet').waitFor();
  });

  it('stays quick with a value of 5 MB and one of 10,000 keys, and shows more of them when asked', async () => {
    const keys: Record<string, Json> = {};
    for (let index = 0; index < 10_000; index++) keys[`key ${index}`] = index;
    const runId = await submit({ ...TWO_WAVES, tasks: [{ id: 'a', tool: 'controlled' }] });
    await tab.show(`${proxy.url}/inspect/${runId}#actor=run/wave/a`);
    fixture.controlled.last.resolve({ long: 'x'.repeat(5_000_000), keys });
    await expectText(tab.badge, 'succeeded');
    await tab.page.getByRole('tab', { name: 'Values' }).click();
    await tab.page.getByText(/values? (?:is|are) cut/).waitFor();
    await tab.page.getByRole('button', { name: 'Show whole' }).click();
    await tab.page.getByRole('button', { name: /^show 20,000 more of 4,999,\d+ characters/ }).click();
    await tab.page.getByText('key 99:').waitFor();
    await tab.page.getByRole('button', { name: 'show 100 more of 9,900' }).click();
    await tab.page.getByText('key 199:').waitFor();
    expect(await tab.page.locator('.json-row').count()).to.be.below(230);
    tab.expectQuiet(proxy.url);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has nothing that axe-core calls serious, wide and narrow, in ${colorScheme} colours`, async () => {
      const runId = await submit();
      await fixture.complete(runId);
      await tab.page.emulateMedia({ colorScheme });
      for (const width of [1360, 400]) {
        await tab.page.setViewportSize({ width, height: 820 });
        for (const path of ['', `/${runId}`, `/${runId}#actor=run/wave/a&seq=3`, `/stately/${runId}`]) {
          await tab.page.goto('about:blank');
          await tab.page.goto(`${proxy.url}/inspect${path}`);
          await tab.page.locator('[role=treeitem], table, #consent').first().waitFor();
          expect(await findViolations(tab.page), `${path} ${width}`).to.deep.equal([]);
          const [scroll, client] = (await tab.page.evaluate(
            '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
          )) as [number, number];
          expect(scroll, `${path} ${width}`).to.be.at.most(client);
        }
      }
    });
  }
});
