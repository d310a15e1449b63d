import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { REFUSED, useBrowserTab } from '../support/browser-tab.js';
import { deferred } from '../../../support/deferred.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { eventually, expectText } from '../../waiting.js';

const DAILY = 'pipeline:\n  id: daily\n  goal: g\n  tasks:\n    - id: hello\n      tool: mock\n';

/** Both in one step, so that the page draws nothing in between. */
const PASTE_AND_RERUN = `{
  const clipboardData = new DataTransfer();
  clipboardData.setData('text/plain', '# pasted');
  document
    .querySelector('.text-half .editor-host')
    .shadowRoot.querySelector('.cm-content')
    .dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  document.querySelector('.rerun-part button.primary').click();
}`;

describe('The files and the checks of the editor, in a browser', function () {
  this.timeout(240_000);
  let folder: TemporaryFolder;
  let page: Page;
  let url: string;
  let takeComplaints: () => readonly string[];
  const fixture = useBrowserTab(
    {
      files: { 'daily.yaml': DAILY, 'tenants/acme/daily.yaml': DAILY.replace('goal: g', 'goal: of acme') },
      env: { SERVICE_PIPELINES_WRITABLE: 'true' },
      expected: REFUSED,
    },
    (tab) => {
      ({ folder, page, url, takeComplaints } = tab);
    },
  );

  const button = (name: string): Locator => page.getByRole('button', { name });
  const text = (): Locator => page.locator('.text-half .cm-content');
  const summary = (): Locator => page.locator('.problems .summary');
  const saved = (): string => readFileSync(folder.at('daily.yaml'), 'utf8');

  async function open(query: string): Promise<void> {
    await page.goto(`${url}/edit${query}`);
    await expectText(summary(), /No problems|error/);
  }

  async function typeAtStart(typed: string): Promise<void> {
    await text().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type(typed);
  }

  /** The checks that are asked for from now on get no answer until the returned function is called. */
  async function holdChecks(): Promise<() => void> {
    const released = deferred<void>();
    await page.route('**/pipelines/validate*', async (route) => {
      await released.promise;
      await route.continue();
    });
    return () => released.resolve();
  }

  it('marks in the graph of a plan what each sub-pipeline depends on, on hover and focus', async () => {
    const part = (id: string, more: object) => ({
      id,
      ...more,
      pipeline: { id, goal: 'g', tasks: [{ id: 'a', tool: 'store', inputs: { key: 'x', value: 1 } }] },
    });
    const reader = {
      id: 'west',
      goal: 'g',
      tasks: [{ id: 'b', tool: 'mock', inputs: { x: '{{session.x}}' } }],
    };
    const runId = await fixture.submitPlan({
      id: 'both',
      goal: 'g',
      // Before the sub-pipelines, and longer than what the editor parses at once.
      inputs: { text: 'x'.repeat(4000) },
      sub_pipelines: [part('east', { stores: ['x'] }), { id: 'west', reads: ['x'], pipeline: reader }],
    });
    await open(`?run=${runId}`);
    await expectText(summary(), 'No problems');
    await page.getByRole('tab', { name: 'Graph' }).click();
    const box = (id: string): Locator => page.locator('.edit-graph .task', { hasText: id });
    const arrow = page.locator('.edit-graph path.template');
    expect(await arrow.getAttribute('class')).to.not.include('near');
    await box('west').hover();
    await eventually(async () => (await box('east').getAttribute('class'))?.includes('near') === true);
    expect(await arrow.getAttribute('class')).to.include('near');
    await page.mouse.move(0, 0);
    await eventually(async () => (await arrow.getAttribute('class'))?.includes('near') === false);
    await box('east').focus();
    await eventually(async () => (await box('west').getAttribute('class'))?.includes('near') === true);
  });

  it('leave a file with CRLF unchanged when it is opened, and save it with CRLF', async () => {
    folder.write('daily.yaml', DAILY.replaceAll('\n', '\r\n'));
    await open('?pipeline=daily');
    await expectText(page.locator('.toolbar .kept'), 'Saved');
    await typeAtStart('# mine\n');
    await button('Save').click();
    await page.getByText('Saved as daily.').waitFor();
    expect(saved()).to.equal(`# mine\n${DAILY}`.replaceAll('\n', '\r\n'));
  });

  it('show what was saved since a draft was typed, and Escape replaces nothing', async () => {
    await open('?pipeline=daily');
    await typeAtStart('# mine\n');
    await page.goto('about:blank');
    folder.write('daily.yaml', `${DAILY}# theirs\n`);
    await page.goto(`${url}/edit?pipeline=daily`);
    const heading = page.getByRole('heading', { name: 'The file has changed' });
    await heading.waitFor();
    await page.locator('.compared .cm-merge-a').getByText('# mine').waitFor();
    await page.keyboard.press('Escape');
    await heading.waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+s');
    await heading.waitFor();
    await page.keyboard.press('Escape');
    expect(saved()).to.equal(`${DAILY}# theirs\n`);
    await button('Compare and choose').click();
    await button('Take the file').click();
    await expectText(text(), /# theirs/);
  });

  it('name the tenant of each file to open, and open that of the tenant', async () => {
    await open('?pipeline=daily');
    const picker = page.getByLabel('Open a definition');
    await expectText(picker.locator('option:checked'), 'daily');
    await picker.selectOption({ label: 'daily, tenant acme' });
    await page.waitForURL(/pipeline=daily&tenant=acme$/);
    await expectText(text(), /of acme/);
    await expectText(picker.locator('option:checked'), 'daily, tenant acme');
  });

  it('fix the right place when lines were typed above it since the check', async () => {
    folder.write('daily.yaml', DAILY.replace('tool: mock', 'tool: mokc'));
    await open('?pipeline=daily');
    const fix = page.locator('.problems .fix');
    await fix.waitFor();
    const release = await holdChecks();
    await typeAtStart('# a line more\n');
    await fix.click();
    await expectText(text(), /# a line more.*tool: mock$/s);
    release();
    await expectText(summary(), 'No problems');
  });

  it('fix nothing where the text was changed since the check, and say so', async () => {
    folder.write('daily.yaml', DAILY.replace('tool: mock', 'tool: mokc'));
    await open('?pipeline=daily');
    const fix = page.locator('.problems .fix');
    await fix.waitFor();
    const release = await holdChecks();
    await text().getByText('mokc').dblclick();
    await page.keyboard.type('sleep');
    await fix.click();
    await expectText(text(), /tool: sleep$/s);
    await page.getByText('Nothing was fixed: the text has changed there since the check').waitFor();
    release();
  });

  it('rerun the text as it is when the button is pressed', async () => {
    const failing = { id: 'one', goal: 'g', tasks: [{ id: 'bad', tool: 'fail', inputs: { message: 'no' } }] };
    const runId = await fixture.submit(failing);
    await fixture.server.registry.settled(runId);
    await open(`?run=${runId}`);
    const rerun = button('Rerun with these changes');
    await eventually(() => rerun.isEnabled());
    const bodies: string[] = [];
    await page.route('**/rerun', async (route) => {
      bodies.push(route.request().postData() ?? '');
      await route.abort();
    });
    await text().click();
    await page.evaluate(PASTE_AND_RERUN);
    await eventually(() => bodies.length > 0);
    expect(bodies[0]).to.contain('# pasted');
    // The spec has refused the request; the page says so twice.
    const complaints: string[] = [];
    await eventually(() => complaints.push(...takeComplaints()) >= 2);
    expect(complaints.join('\n')).to.match(/rerun failed: net::ERR_FAILED/);
  });
});
