import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { useBrowserTab } from '../support/browser-tab.js';
import { eventually, expectText } from '../../waiting.js';

/** One of three items fails, and one task does not run. */
const CONVERT = {
  id: 'convert',
  goal: 'Convert {{params.count}} {{params.kind}} files',
  params: { count: { type: 'integer', default: 3 }, kind: { type: 'string' } },
  inputs: { files: ['first file', 'second file', 'third file'] },
  tasks: [
    {
      id: 'each',
      tool: 'controlled',
      parallel_over: '{{pipeline.inputs.files}}',
      inputs: { file: '{{item}}' },
    },
    { id: 'last', tool: 'mock', inputs: { all: '{{each.output}}' } },
  ],
};

const GREET = { id: 'greet', goal: 'g', tasks: [{ id: 'hello', tool: 'mock', inputs: { to: 'Ada' } }] };

const HANDLED = {
  id: 'handled',
  sub_pipelines: [{ id: 'part', pipeline: GREET }],
  on_failure: [{ id: 'alert', tool: 'mock' }],
  finally: [{ id: 'clean', tool: 'mock' }],
};

const BROKEN = `pipeline:
  id: broken
  goal: g
  tasks:
    - id: a
      tool: mokc
`;

describe('What a reader of the console sees without knowing it, in a browser without network', function () {
  this.timeout(240_000);
  let page: Page;
  let url: string;
  const fixture = useBrowserTab({ files: { 'broken.yaml': BROKEN } }, (tab) => {
    ({ page, url } = tab);
  });
  const { controlled } = fixture;

  const panel = (): Locator => page.locator('.task-panel');

  async function runFailing(): Promise<string> {
    const runId = await fixture.submit(CONVERT, { params: { kind: 'csv' } });
    await controlled.started(3);
    for (const [index, call] of controlled.calls.entries()) {
      if (index === 1) call.reject(new TypeError('it is empty'));
      else call.resolve({ ok: true });
    }
    await fixture.server.registry.settled(runId);
    return runId;
  }

  async function runGreet(): Promise<string> {
    const runId = await fixture.submit(GREET);
    await fixture.server.registry.settled(runId);
    return runId;
  }

  async function boxOf(locator: Locator) {
    const box = await locator.first().boundingBox();
    if (box === null) throw new Error('it is not visible');
    return box;
  }

  async function clickAt(locator: Locator): Promise<void> {
    const { x, y, width, height } = await boxOf(locator);
    await page.mouse.click(x + width / 2, y + height / 2);
  }

  it('marks a failed item by a small sign beside its number', async () => {
    const runId = await runFailing();
    await page.goto(`${url}/runs/${runId}#task=each`);
    await panel().locator('.item-row').first().waitFor();
    expect(await boxOf(panel().locator('.item-row .dot')))
      .to.have.property('height')
      .lessThan(16);
    expect((await boxOf(panel().locator('.item-row .dot'))).width).to.be.lessThan(16);
  });

  it('opens a run by a click anywhere in its row, and filters by the pipeline by a button of its own', async () => {
    const runId = await runFailing();
    await runGreet();
    await page.goto(url);
    const row = page.getByRole('row').filter({ hasText: 'convert' });
    await row.getByRole('button', { name: 'Filter by convert' }).click();
    await eventually(async () => (await page.getByRole('row').count()) === 2);
    expect(new URL(page.url()).search).to.equal('?pipeline=convert');
    // The link lies over the whole row, so the mouse clicks where a reader does.
    await clickAt(row.locator('.about-run .name'));
    await page.waitForURL(`${url}/runs/${runId}`);
    await page.goBack();
    await clickAt(row.locator('td').last());
    await page.waitForURL(`${url}/runs/${runId}`);
  });

  it('names the task and the item that failed before the error in the list, below the goal', async () => {
    await runFailing();
    await page.goto(url);
    const lines = page.locator('.about-run .line');
    await expectText(lines.first(), 'Convert 3 csv files');
    await expectText(lines.last(), 'each[1]: it is empty');
  });

  it('shows the outputs of a run that has succeeded, and of no other', async () => {
    await page.goto(`${url}/runs/${await runGreet()}`);
    await page.getByRole('tab', { name: 'Outputs' }).click();
    await expectText(page.getByRole('region', { name: 'Outputs' }), /hello:.*Mock tool executed/s);
    await page.goto(`${url}/runs/${await runFailing()}#tab=outputs`);
    await page.getByRole('region', { name: 'Why the run has failed' }).waitFor();
    expect(await page.getByRole('tab', { name: 'Outputs' }).count()).to.equal(0);
  });

  it('shows the whole duration beside the longest bar of the timeline', async () => {
    const runId = await fixture.submit({ id: 'held', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
    await controlled.started(1);
    await page.goto(`${url}/runs/${runId}#tab=timeline`);
    const label = page.locator('.bar-label');
    await expectText(label, / m?s$/);
    const { x, width } = await boxOf(label);
    const list = await boxOf(page.locator('.bar-row'));
    expect(x + width).to.be.at.most(list.x + list.width);
    await expectText(page.locator('.timeline-head .src'), '1 task');
  });

  it('prints each run of a narrow list as a paragraph, in which nothing is over another or beyond the edge', async () => {
    const { registry } = fixture.server;
    await registry.settled(await registry.rerun(await runGreet(), {}));
    await page.setViewportSize({ width: 400, height: 800 });
    await page.goto(url);
    const status = await boxOf(page.locator('.runs .badge'));
    const id = await boxOf(page.locator('.run-link'));
    expect(status.x + status.width).to.be.lessThan(id.x);
    const rerun = await boxOf(page.getByRole('link', { name: 'rerun', exact: true }));
    expect(rerun.y + rerun.height).to.be.at.most((await boxOf(page.locator('.about-run .name'))).y);
    const took = await boxOf(page.locator('td.number').nth(1));
    expect(took.x + took.width).to.be.lessThan(400);
  });

  it('writes each problem of a file of the folder in one line with its place, and leads to the editor', async () => {
    await page.goto(`${url}/library`);
    const problem = page.getByRole('region', { name: 'Pipeline broken' }).getByRole('listitem');
    await expectText(problem, 'line 6: there is no tool "mokc"did you mean "mock"?');
    const place = await boxOf(problem.getByRole('link'));
    expect(place.height).to.be.lessThan(24);
    await problem.getByRole('link', { name: 'line 6' }).click();
    await page.waitForURL(`${url}/edit?pipeline=broken`);
  });

  it('says how the tasks of a failed run have ended', async () => {
    await page.goto(`${url}/runs/${await runFailing()}`);
    await expectText(page.locator('.run-header .line-facts'), /Tasks\s*1 failed, 1 not run/);
  });

  it('says calmly of a task that was skipped which failure kept it from running', async () => {
    await page.goto(`${url}/runs/${await runFailing()}#task=last`);
    await expectText(panel(), /last\s*not run.*It did not run, because each\[\d\] has failed\./s);
    expect(await panel().locator('.problem, .error').count()).to.equal(0);
  });

  it('shows the handlers of a plan below its sub-pipelines, and why some did not run (D80)', async () => {
    const runId = await fixture.submitPlan(HANDLED);
    await fixture.server.registry.settled(runId);
    await page.goto(`${url}/runs/${runId}`);
    const handlers = page.getByRole('region', { name: 'Handlers of the plan' });
    await expectText(handlers, /on_failure.*finally.*alert.*clean/s);
    await handlers.locator('.task-card').first().click();
    await expectText(panel(), /alert\s*not run.*handlers of on_failure run only when the run has failed\./s);
    expect(await panel().getByRole('button', { name: 'Rerun from here' }).count()).to.equal(0);
    await handlers.locator('.task-card').last().click();
    await expectText(panel(), /clean\s*succeeded.*handler of\s*finally/s);
  });

  it('leads from the heading of a run to the runs of its pipeline', async () => {
    await page.goto(`${url}/runs/${await runGreet()}`);
    await page.locator('h1 a').click();
    await page.waitForURL(/\/\?pipeline=greet/);
    await eventually(async () => (await page.locator('.runs tbody tr').count()) > 0);
  });

  it('shows the params that a run has used, and which of them are defaults', async () => {
    await page.goto(`${url}/runs/${await runFailing()}#tab=definition`);
    await expectText(page.getByRole('region', { name: 'Params' }), /count \(default\)\s*3.*kind\s*"csv"/s);
  });

  it('closes the panel of a task by Escape on its card', async () => {
    await page.goto(`${url}/runs/${await runFailing()}`);
    await page.locator('#task--each').focus();
    await page.keyboard.press('Enter');
    await panel().waitFor();
    await page.keyboard.press('Escape');
    await eventually(async () => (await panel().count()) === 0);
  });
});
