import { expect } from 'chai';
import { useBrowserTab } from '../support/browser-tab.js';
import { TWO_WAVES } from '../../../http/support/controlled-server.js';
import { InspectorPage } from '../support/inspector-page.js';
import { eventually, expectText } from '../../waiting.js';

const ITEMS = 60;

const FAN_OUT = {
  id: 'wide',
  goal: 'be wide',
  inputs: { list: Array.from({ length: ITEMS }, (_, index) => `page ${index}`) },
  tasks: [
    { id: 'each', tool: 'controlled', parallel_over: '{{pipeline.inputs.list}}', inputs: { of: '{{item}}' } },
    { id: 'last', tool: 'controlled', inputs: { all: '{{each.output}}' } },
  ],
};

const PLAN = {
  id: 'both',
  goal: 'do two things',
  sub_pipelines: [
    { id: 'east', pipeline: { id: 'east', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] } },
    { id: 'west', pipeline: { id: 'west', goal: 'g', tasks: [{ id: 'b', tool: 'controlled' }] } },
  ],
};

describe('The inspector on a real server with real runs, in a browser without network (D42)', function () {
  this.timeout(240_000);
  let tab: InspectorPage;
  let url: string;
  const fixture = useBrowserTab({ env: { MAX_FAN_OUT_CONCURRENCY: '100' } }, ({ page, url: address }) => {
    tab = new InspectorPage(page);
    url = address;
  });
  const { controlled } = fixture;

  /** Submits a run and resolves when its first call is in flight. */
  async function submit(pipeline: object = TWO_WAVES, more: object = {}): Promise<string> {
    const runId = await fixture.submit(pipeline, more);
    await controlled.started(1);
    return runId;
  }

  /** Completes the calls in flight, until the run has settled. */
  async function finish(runId: string): Promise<void> {
    const settled = fixture.server.registry.settled(runId);
    let isOver = false;
    void settled.then(() => (isOver = true));
    while (!isOver) {
      for (const call of controlled.calls) call.resolve('done');
      await fixture.waitUntilIdle();
    }
  }

  it('is found from the list of runs, and lights the states and transitions of its chart as it goes on', async () => {
    const runId = await submit();
    await tab.page.goto(`${url}/inspect`);
    await tab.page.locator(`a[href="/runs/${runId}"]`).click();
    await tab.page.getByRole('link', { name: 'Open in inspector' }).click();
    await expectText(tab.lit, 'running');
    await expectText(tab.badge, 'running');
    expect(await tab.row('b').count()).to.equal(0);
    await fixture.complete(runId);
    await tab.select('b');
    await expectText(tab.page.locator('.chart .path'), 'run/wave/b');
    await expectText(tab.lit, 'invoking');
    await controlled.started(2);
    await fixture.complete(runId);
    await expectText(tab.lit, 'succeeded');
    await eventually(
      async () => (await tab.litEdge.first().textContent())?.includes('task.settled') === true,
    );
    await tab.select('run');
    await expectText(tab.lit, 'succeeded');
    await expectText(tab.badge, 'succeeded');
    await expectText(tab.page.locator('.live'), 'End');
  });

  it('folds the items of a fan-out into one row for each state, with counts that follow the run', async () => {
    const runId = await submit(FAN_OUT, { options: { fan_out_concurrency: 100 } });
    await controlled.started(ITEMS);
    await tab.show(`${url}/inspect/${runId}`);
    await tab.row(/60\s*invoking/).waitFor();
    expect(await tab.page.getByRole('treeitem').count()).to.equal(5);
    for (const call of controlled.calls.slice(0, 45)) call.resolve('done');
    await tab.row(/45\s*succeeded/).waitFor();
    await tab.row(/15\s*invoking/).waitFor();
    await tab.select(/15\s*invoking/);
    await tab.select(/^59item/);
    await expectText(tab.page.locator('.chart .path'), 'run/wave/each/fan-out/59');
    await tab.page.getByRole('tab', { name: 'Values' }).click();
    await tab.page.getByText('"page 59"').first().waitFor();
    await finish(runId);
  });

  it('shows the sub-pipelines of a plan, each with its waves and tasks', async () => {
    const runId = await fixture.submitPlan(PLAN);
    await controlled.started(1);
    await tab.show(`${url}/inspect/${runId}`);
    await tab.row('sub-runs').waitFor();
    await tab.select(/^b/);
    await expectText(tab.page.locator('.chart .path'), 'plan/sub-runs/west/wave/b');
    await expectText(tab.lit, 'invoking');
    await finish(runId);
    await expectText(tab.lit, 'succeeded');
  });

  it('can be used with the keyboard alone, from the list of runs to the state that a task was in', async () => {
    const runId = await submit();
    await tab.page.goto(`${url}/inspect`);
    const link = `a[href="/runs/${runId}"]`;
    await tab.page.locator(link).waitFor();
    await pressUntil('Tab', `${link}:focus`);
    await tab.page.keyboard.press('Enter');
    const inspector = `a[href="/inspect/${runId}"]`;
    await tab.page.locator(inspector).waitFor();
    await pressUntil('Tab', `${inspector}:focus`);
    await tab.page.keyboard.press('Enter');
    await tab.row(/^a/).waitFor();
    await pressUntil('Tab', '[role=tree]:focus');
    for (let step = 0; step < 2; step++) await tab.page.keyboard.press('ArrowDown');
    await expectText(tab.page.locator('.chart .path'), 'run/wave/a');
    await pressUntil('Tab', '[role=listbox]:focus');
    await tab.page.keyboard.press('Home');
    await expectText(tab.page.locator('.moment'), /^#1 of/);
    await pressUntil('Tab', '[role=tab]:focus');
    await tab.page.keyboard.press('ArrowRight');
    await expectText(tab.page.locator('[role=tab][aria-selected=true]'), 'Event');
    await pressUntil('Tab', 'input[type=range]:focus');
    await tab.page.keyboard.press('ArrowRight');
    await expectText(tab.page.locator('.moment'), /^#2 of/);
    await finish(runId);
  });

  /** Presses a key until an element has the focus. */
  async function pressUntil(key: string, focused: string): Promise<void> {
    for (let count = 0; count < 60; count++) {
      await tab.page.keyboard.press(key);
      if ((await tab.page.locator(focused).count()) > 0) return;
    }
    throw new Error(`the key ${key} does not lead to ${focused}`);
  }
});
