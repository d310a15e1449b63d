import { expect } from 'chai';
import { defineTool } from '../../../../lib/tools/tool.js';
import { TWO_WAVES } from '../../../http/support/controlled-server.js';
import { useBrowserTab } from '../support/browser-tab.js';
import { InspectorPage } from '../support/inspector-page.js';
import { eventually, expectText } from '../../waiting.js';

const ITEMS = 2000;
const BAD_ITEM = 777;

/** Fails for one item. */
const picky = defineTool({
  name: 'picky',
  description: 'refuses one number',
  inputs: { of: { type: 'number', required: true, description: 'the number' } },
  output: { name: 'of', description: 'the number', type: 'number' },
  run({ of }) {
    if (of === BAD_ITEM) throw new Error(`${of} is refused`);
    return Promise.resolve(of);
  },
});

const WIDE = {
  id: 'wide',
  goal: 'have many items',
  inputs: { list: Array.from({ length: ITEMS }, (_, item) => item) },
  tasks: [
    {
      id: 'each',
      tool: 'picky',
      retry: 0,
      parallel_over: '{{pipeline.inputs.list}}',
      inputs: { of: '{{item}}' },
    },
  ],
};

describe('What a reader of the inspector looks for first, in a browser without network (D42)', function () {
  this.timeout(240_000);
  let tab: InspectorPage;
  let url: string;
  const fixture = useBrowserTab({ tools: [picky] }, ({ page, url: address }) => {
    tab = new InspectorPage(page);
    url = address;
  });

  async function pauseBeforeB(): Promise<string> {
    const runId = await fixture.submit(TWO_WAVES, { breakpoints: { before: ['b'] } });
    await fixture.controlled.started(1);
    await tab.show(`${url}/inspect/${runId}`);
    await fixture.complete(runId);
    await expectText(tab.badge, 'paused');
    return runId;
  }

  it('says before which wave and tasks a paused run waits, and shows what will go into each task', async () => {
    await pauseBeforeB();
    await expectText(tab.page.locator('.pause'), 'paused before wave 2: b');
    await tab.page.locator('.pause').getByRole('button', { name: 'b' }).click();
    await expectText(tab.page.locator('[role=tab][aria-selected=true]'), 'Values');
    await eventually(async () => /given:\s*"done"/.test(await tab.detail.innerText()));
    await tab.button('Cancel').click();
    await expectText(tab.badge, 'cancelled');
    // The record and the entries come on their own.
    await eventually(async () => (await tab.page.locator('.pause').count()) === 0);
  });

  it('names the transition that was taken, with its guard, and lights no other', async () => {
    await pauseBeforeB();
    await expectText(tab.lit, 'paused');
    const taken = 'wave.settled [pausesBeforeWave] / storeWaveOutcome';
    expect(await tab.litEdge.allTextContents()).to.deep.equal([taken]);
    await tab.page.getByRole('tab', { name: 'Event' }).click();
    await eventually(async () => (await tab.detail.innerText()).includes(taken));
  });

  it('fits the whole chart of a run into its panel when it is opened', async () => {
    await pauseBeforeB();
    await tab.select('run');
    const overflow = await tab.page.locator('.canvas').evaluate((element) => ({
      x: element.scrollWidth - element.clientWidth,
      y: element.scrollHeight - element.clientHeight,
    }));
    expect(overflow).to.deep.equal({ x: 0, y: 0 });
  });

  it(`leads from the failure of a run to the failed one of ${ITEMS} items`, async () => {
    const runId = await fixture.submit(WIDE);
    await fixture.server.registry.settled(runId);
    await tab.show(`${url}/inspect/${runId}`);
    await expectText(tab.badge, 'failed');
    await tab.page.locator('.failure').getByRole('button').first().click();
    await expectText(tab.page.locator('.chart .path'), `run/wave/each/fan-out/${BAD_ITEM}`);
    await eventually(async () => (await tab.detail.innerText()).includes('777 is refused'));
    await tab.select(/^each/);
    await tab.page.getByRole('tab', { name: 'Values' }).click();
    const items = tab.page.locator('.failed-items li');
    await expectText(items, /^item 777.*777 is refused/);
    await tab.page.getByLabel('Show item').fill('5');
    await tab.page.getByLabel('Show item').press('Enter');
    await expectText(tab.page.locator('.chart .path'), 'run/wave/each/fan-out/5');
    await eventually(async () => /of:\s*5/.test(await tab.detail.innerText()));
  });

  it('finds the actor of an item by the number of the item', async () => {
    const runId = await fixture.submit(WIDE, { breakpoints: { before: ['each'] } });
    await tab.show(`${url}/inspect/${runId}`);
    await tab.button('Continue').click();
    await expectText(tab.badge, 'failed');
    await tab.row('items 768–1023').waitFor();
    await tab.page.getByLabel('Filter by actor').fill(String(BAD_ITEM));
    await tab.expectEntry('chunk-3');
    expect(await tab.page.getByRole('option').filter({ hasText: 'chunk-2' }).count()).to.equal(0);
  });
});
