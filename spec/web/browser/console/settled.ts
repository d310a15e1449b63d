import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { startTestServer } from '../../../support/http/test-server.js';
import { useBrowserTab } from '../support/browser-tab.js';
import { findViolations } from '../support/accessibility.js';
import { eventually, expectText } from '../../waiting.js';
import { createApiKey } from '../../../support/http/api-key.js';

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

const GREET = { id: 'greet', goal: 'g', tasks: [{ id: 'hello', tool: 'mock', inputs: { to: 'Ada' } }] };

describe('What a reader does with a run that is over, in a browser without network', function () {
  this.timeout(240_000);
  let browser: Browser;
  let page: Page;
  let url: string;
  const fixture = useBrowserTab({}, (tab) => {
    ({ browser, page, url } = tab);
  });
  const { controlled } = fixture;

  const card = (name: string): Locator => page.locator(`#task--${name}`);
  const panel = (): Locator => page.locator('.task-panel');
  const button = (name: string): Locator => page.getByRole('button', { name });
  const dialog = (): Locator => page.getByRole('dialog');

  it('says since when runs are kept, and for how long, at the end of the list and where a filter goes back further', async () => {
    const pipeline = parsePipeline(JSON.stringify(GREET));
    const { registry } = fixture.server;
    const since = page.locator('.kept-since');
    const submit = async (): Promise<string> => {
      const id = await registry.submit({ pipeline });
      await registry.settled(id);
      return id;
    };
    await submit();
    await page.goto(url);
    await expectText(since, /^Runs are kept since .+: for 1 day, at most 1,000 runs\.$/);
    for (let count = 0; count < 50; count++) await submit();
    await button('Show more').waitFor();
    await since.waitFor({ state: 'detached' });
    await page.getByLabel('Time').selectOption('last 7 days');
    await since.waitFor();
    const [line, table] = [await since.boundingBox(), await page.locator('table').boundingBox()];
    expect(line?.y).to.be.lessThan(table?.y ?? 0);
    expect(await findViolations(page)).to.deep.equal([]);
    await page.getByLabel('Time').selectOption('any time');
    await since.waitFor({ state: 'detached' });
    await button('Show more').click();
    await since.waitFor();
  });

  it('says how many runs of an earlier version the list still lacks (D74)', async () => {
    let migrating = 12;
    await page.route('**/pipelines/runs?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...((await response.json()) as object), migrating } });
    });
    await page.goto(url);
    const notice = page.locator('.notice');
    await expectText(notice, '12 runs of an earlier version are still being brought over.');
    migrating = 1;
    await page.reload();
    await expectText(notice, '1 run of an earlier version is still being brought over.');
  });

  it('calls tasks and items aborted, not failed, that "Cancel and abort" has stopped', async () => {
    const runId = await fixture.submit(FETCH);
    await controlled.started(3);
    await page.goto(`${url}/runs/${runId}`);
    await button('Cancel and abort').click();
    await expectText(card('page'), /aborted/);
    await expectText(card('each'), /0\/2 · .*aborted/);
    expect(await page.locator('.items-bar .failed').count()).to.equal(0);
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

  it('shows what differs in the definition, the params and the tasks of a rerun, also to screen readers', async () => {
    const { registry } = fixture.server;
    const greet = (to: string): string =>
      `id: greet\ngoal: g\nparams:\n  name: { type: string, default: Ada }\ntasks:\n  - id: hello # a comment\n    tool: mock\n    inputs: { to: "${to}" }\n`;
    const text = await fixture.request<{ run_id: string }>('POST', '/pipelines/run_async', {
      yaml: greet('Ada'),
    });
    await registry.settled(text.body.run_id);
    const path = `/pipelines/runs/${text.body.run_id}/rerun`;
    const changes = { yaml: greet('{{params.name}}'), params: { name: 'Eve' } };
    const changed = await fixture.request<{ run_id: string }>('POST', path, changes);
    await registry.settled(changed.body.run_id);
    await page.goto(`${url}/runs/${changed.body.run_id}#tab=compare`);
    const difference = page.getByRole('region', { name: 'Difference of the definition' });
    await expectText(
      difference.locator('.line-diff'),
      /removed: +inputs: \{ to: "Ada" \}.*added: +inputs: \{ to: "\{\{params.name\}\}" \}/s,
    );
    await expectText(difference.locator('.hunk .src'), 'line 5');
    await expectText(page.getByRole('region', { name: 'Difference of the params' }), /name: *"Eve"/);
    await page.getByText('The same in both runs: inputs, session, options.').waitFor();
    await page.getByRole('row').filter({ hasText: 'hello' }).filter({ hasText: 'inputs' }).waitFor();
    const saved = page.waitForEvent('download');
    await difference.getByRole('button', { name: 'Save the earlier one' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).to.equal('definition-before.yaml');
    expect(readFileSync(await download.path(), 'utf8')).to.equal(greet('Ada'));
    expect(await findViolations(page)).to.deep.equal([]);
    const same = await fixture.request<{ run_id: string }>('POST', path, {});
    await registry.settled(same.body.run_id);
    await page.goto(`${url}/runs/${same.body.run_id}#tab=compare`);
    await page.getByText('The same in both runs: definition, params, inputs, session, options.').waitFor();
  });

  it('deletes a settled run by the keyboard, after it has said what goes, and shows the list again', async () => {
    const runId = await fixture.submit(GREET);
    await fixture.server.registry.settled(runId);
    await page.goto(url);
    await page.goto(`${url}/runs/${runId}`);
    // A request that the page has sent would be answered with 404 after the deletion.
    await page.waitForLoadState('networkidle');
    const opener = button('Delete…');
    await opener.focus();
    await page.keyboard.press('Enter');
    await expectText(dialog(), /Delete this run of greet\?.*events.*inputs and outputs.*cannot be undone/s);
    expect(await findViolations(page)).to.deep.equal([]);
    // The safe button has the focus at first, and Escape deletes nothing.
    await expectText(page.locator('dialog :focus'), 'Keep it');
    await page.keyboard.press('Escape');
    await eventually(async () => (await dialog().count()) === 0);
    await expectText(page.locator(':focus'), 'Delete…');
    await opener.press('Enter');
    await expectText(page.locator('dialog :focus'), 'Keep it');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/`);
    await page.locator('.first-steps').waitFor();
    expect((await fixture.request('GET', `/pipelines/runs/${runId}`)).status).to.equal(404);
    await page.goBack();
    expect(page.url()).to.not.include(runId);
  });

  it('offers to delete no run that is at work', async () => {
    await fixture.submit(FETCH);
    await controlled.started(3);
    const [run] = fixture.server.registry.list({ limit: 1 }).runs;
    await page.goto(`${url}/runs/${run?.run_id}`);
    await button('Cancel and abort').waitFor();
    expect(await button('Delete…').count()).to.equal(0);
  });

  it('says what the key lacks when the server refuses to delete a run, and keeps it', async () => {
    const key = 'wt_reader-of-the-spec';
    const server = await startTestServer({
      keys: [createApiKey('reader', ['*'], ['read'], key)],
    });
    const runId = await server.registry.submit({ pipeline: parsePipeline(JSON.stringify(GREET)) });
    await server.registry.settled(runId);
    const tab = await browser.newPage();
    await tab.addInitScript(`sessionStorage.setItem('wavetrain-key', '${key}')`);
    await tab.goto(`${server.url}/runs/${runId}`);
    await tab.getByRole('button', { name: 'Delete…' }).click();
    await tab.getByRole('button', { name: 'Delete the run' }).click();
    await expectText(
      tab.getByRole('dialog').getByRole('alert'),
      'The run was not deleted: this key lacks the scope "run"',
    );
    await tab.getByRole('button', { name: 'Keep it' }).click();
    expect(server.registry.record(runId).status).to.equal('succeeded');
    await tab.close();
    await server.close(0);
  });
});
