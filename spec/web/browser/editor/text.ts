import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { ScriptedModels } from '../../../models/scripted-models.js';
import { REFUSED, useBrowserTab } from '../support/browser-tab.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { findViolations } from '../support/accessibility.js';
import { readEditor, writeEditor } from '../support/editor-text.js';
import { eventually, expectText } from '../../waiting.js';

const DAILY = `pipeline:
  id: daily
  goal: Greet {{params.who}}
  params:
    who: {type: string, description: Who is greeted.}
    times: {type: integer, default: 2}
  tasks:
    - id: hello
      tool: mock
      inputs: {to: "{{params.who}}", n: "{{params.times}}"}
`;

const BROKEN = `pipeline:
  id: broken
  goal: g
  tasks:
    - id: a
      tool: mokc
    - id: b
      tool: mock
      inputs:
        x: {{a.output}}
        y: "{{params.city}}"
`;

const PATHS = `pipeline:
  id: paths
  goal: g
  params:
    who: {type: string, description: Who is greeted.}
  tasks:
    - {id: files, tool: list_files, inputs: {path: .}}
    - id: each
      tool: mock
      parallel_over: "{{files.output.files}}"
      inputs: {of: "{{item.path}}"}
    - id: last
      tool: mock
      inputs:
        x: `;

const WRITTEN = 'pipeline:\n  id: written\n  goal: g\n  tasks:\n    - {id: only, tool: mock}\n';

describe('The editor on a real server, in a browser without network', function () {
  this.timeout(240_000);
  let folder: TemporaryFolder;
  let page: Page;
  let url: string;
  let takeComplaints: () => readonly string[];
  const fixture = useBrowserTab(
    {
      files: { 'daily.yaml': DAILY },
      env: { SERVICE_PIPELINES_WRITABLE: 'true' },
      models: new ScriptedModels('```yaml\npipeline: {id: written}\n```', `\`\`\`yaml\n${WRITTEN}\`\`\``),
      expected: REFUSED,
    },
    (tab) => {
      ({ folder, page, url, takeComplaints } = tab);
    },
  );

  const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
  const text = (): Locator => page.locator('.text-half .cm-content');
  const task = (name: string): Locator => page.locator('.edit-graph .task').filter({ hasText: name });
  const summary = (): Locator => page.locator('.problems .summary');

  /** Opens the editor and waits until the text can be written. */
  async function open(query = ''): Promise<void> {
    await page.goto(`${url}/edit${query}`);
    await text().waitFor();
  }

  it('starts with an example that runs, shows its graph, and leads to the run', async () => {
    await open();
    await button('Start with a small example').click();
    await task('greet').waitFor();
    await expectText(summary(), 'No problems');
    await button('Run…').click();
    await page.getByLabel('greeting').fill('Good day');
    await page.locator('.run-pane').getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\/[\w-]+$/);
    const runId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await fixture.server.registry.settled(runId);
    expect((await fixture.poll(runId)).status).to.equal('succeeded');
  });

  it('underlines problems, lists them, and fixes them with a click each', async () => {
    await open();
    await writeEditor(page, BROKEN);
    await expectText(summary(), '3 errors');
    await eventually(async () => (await page.locator('.cm-lintRange-error').count()) >= 3);
    await button('6:13').click();
    await page.locator('.cm-focused .cm-activeLine').filter({ hasText: 'tool: mokc' }).waitFor();
    for (const fix of [/write "mock"/i, /put quotes around it/i, /add params/i]) {
      await page.locator('.problems .fix').filter({ hasText: fix }).click();
    }
    await expectText(summary(), 'No problems');
    expect(await readEditor(page))
      .to.include('tool: mock')
      .and.to.include('x: "{{a.output}}"')
      .and.to.include('city:');
    await task('b').waitFor();
  });

  it('completes fields, tools, inputs and templates while they are written', async () => {
    await open();
    const accept = (label: string): Promise<void> =>
      page
        .locator('.cm-tooltip-autocomplete li')
        .filter({ has: page.getByText(label, { exact: true }) })
        .click();
    await writeEditor(page, 'pipeline:\n  id: p\n  goal: g\n  tasks:\n    - id: one\n      ');
    await page.keyboard.type('too');
    await accept('tool');
    await page.keyboard.type('transf');
    await accept('transform');
    await page.keyboard.press('Enter');
    await page.keyboard.type('inpu');
    await accept('inputs');
    await page.keyboard.type('{expression: $, inp');
    await accept('input');
    await page.keyboard.type('"{{pipeline.g');
    await accept('goal');
    expect(await readEditor(page)).to.include('inputs: {expression: $, input: "{{pipeline.goal}}"}');
    await expectText(summary(), 'No problems');
  });

  it('completes a path name by name, and explains it with its type and its fields', async () => {
    await open();
    await writeEditor(page, PATHS);
    await expectText(summary(), 'No problems');
    const proposals = page.locator('.cm-tooltip-autocomplete');
    const propose = async (typed: string, shown: readonly string[]): Promise<void> => {
      await page.keyboard.type(typed);
      for (const label of shown) await proposals.getByText(label, { exact: true }).waitFor();
    };
    await propose('"{{', ['files.output', 'params.who']);
    await propose('files.out', ['output']);
    await propose('put.', ['files']);
    await propose('files[0].', ['path', 'modified']);
    await propose('mod', ['modified']);
    await eventually(async () => (await proposals.locator('li').count()) === 1);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Home');
    expect(await readEditor(page)).to.include('x: "{{files.output.files[0].modified}}"');
    const hover = (name: string): Promise<void> =>
      page.locator('.cm-template').filter({ hasText: name }).hover();
    await hover('item.path');
    await expectText(page.locator('.explanation'), /^item\s*map.*path\s*text/s);
  });

  it('selects the text of a task in the graph and the task of the text', async () => {
    await open();
    await button('Start with a small example').click();
    await task('letter').click();
    await page.locator('.edit-graph .task.selected').filter({ hasText: 'letter' }).waitFor();
    await page.keyboard.press('Tab');
    await text().click();
    await page.keyboard.press('Control+Home');
    for (let line = 0; line < 13; line++) await page.keyboard.press('ArrowDown');
    await page.locator('.edit-graph .task.selected').filter({ hasText: 'greet' }).waitFor();
  });

  it('says at the param what the server has against its value', async () => {
    await open('?pipeline=daily');
    await page.getByRole('tab', { name: 'Run' }).click();
    await page.locator('#edit-param-times').fill('many');
    await page.locator('#edit-param-who').fill('Ada');
    await page.locator('.run-pane').getByRole('button', { name: 'Run', exact: true }).click();
    await expectText(page.locator('#edit-param-times-problem'), /param "times" must be a whole number/);
  });

  it('explains a field when the pointer is on it', async () => {
    await open('?pipeline=daily');
    await page
      .locator('.cm-line')
      .filter({ hasText: 'tool: mock' })
      .locator('span', { hasText: 'mock' })
      .hover();
    await expectText(page.locator('.explanation'), /mock.*tool.*Does nothing and returns its inputs/s);
  });

  it('loses nothing on a reload, and says that it was restored', async () => {
    await open('?pipeline=daily');
    await text().click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# my note');
    await page.reload();
    await text().waitFor();
    await page.getByText('What you had typed here was restored').waitFor();
    expect(await readEditor(page)).to.include('# my note');
    await button('Discard it').click();
    await eventually(async () => !(await readEditor(page)).includes('# my note'));
  });

  it('offers the choice when another tab has a newer text of the same definition', async () => {
    await open();
    await writeEditor(page, DAILY);
    await page.getByText('Kept in this browser').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${url}/edit`);
    await other.locator('.text-half .cm-content').click();
    await other.keyboard.press('Control+End');
    await other.keyboard.type('# of the other tab');
    await page.getByRole('heading', { name: 'Another tab has a newer text' }).waitFor();
    await button('Take the text of the other tab').click();
    await eventually(async () => (await readEditor(page)).includes('# of the other tab'));
    await other.close();
  });

  it('saves a file, and shows what somebody else has changed in it before anything is replaced', async () => {
    await open('?pipeline=daily');
    await text().click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# mine');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved as daily.').waitFor();
    expect(readFileSync(folder.at('daily.yaml'), 'utf8')).to.equal(`${DAILY}# mine`);
    folder.write('daily.yaml', `${DAILY}# theirs\n`);
    await page.keyboard.type(' and more');
    await page.keyboard.press('Control+s');
    await page.getByRole('heading', { name: 'The file has changed' }).waitFor();
    await page.locator('.compared .cm-merge-b').getByText('# theirs').waitFor();
    await button('Keep my text').click();
    await page.keyboard.press('Control+s');
    await eventually(() => readFileSync(folder.at('daily.yaml'), 'utf8') === `${DAILY}# mine and more`);
  });

  it('notices a file that changes under the editor, and takes it when asked', async () => {
    await open('?pipeline=daily');
    await task('hello').waitFor();
    folder.write('daily.yaml', DAILY.replaceAll('hello', 'salute'));
    await page.getByRole('heading', { name: 'The file has changed' }).waitFor();
    expect(await readEditor(page)).to.include('hello');
    await button('Take the file').click();
    await task('salute').waitFor();
  });

  it('runs the changed definition of a run, and says before what runs and what is reused', async () => {
    const failing = {
      id: 'two',
      goal: 'g',
      tasks: [
        { id: 'good', tool: 'mock', inputs: { x: 1 } },
        { id: 'bad', tool: 'fail', inputs: { message: 'no luck' }, await: ['good'] },
      ],
    };
    const runId = await fixture.submit(failing);
    await fixture.server.registry.settled(runId);
    await open(`?run=${runId}`);
    await page.getByRole('heading', { name: `From run ${runId}` }).waitFor();
    // A request under way when the page is left would count as one that has failed.
    const previewed = page.waitForResponse(
      (response) =>
        response.url().endsWith('/rerun/preview') &&
        response.request().postData()?.includes('tool: fail') === false,
    );
    await writeEditor(page, (await readEditor(page)).replace('tool: fail', 'tool: mock'));
    await previewed;
    await expectText(page.locator('.rerun-part .preview'), /1 task runs.*bad.*1 task is reused.*good/s);
    await button('Rerun with these changes').click();
    await page.waitForURL((address) => /\/runs\//.test(address.pathname) && !address.href.includes(runId));
  });

  it('opens the definition of a run as JSON when its YAML would be too long, and it makes the same run', async () => {
    const numbers = Array.from({ length: 60_000 }, () => 7);
    const inputs = { x: { y: { z: [[numbers]] } } };
    const runId = await fixture.submit({ id: 'long', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs }] });
    await fixture.server.registry.settled(runId);
    await open(`?run=${runId}`);
    await expectText(text(), /^\{"id":"long","goal":"g","tasks":\[\{"id":"a",/);
    await expectText(page.locator('.rerun-part .problem'), /nothing that its tasks are or read has changed/);
    await page.goto(`${url}/runs/${runId}#tab=definition`);
    await button('Copy the JSON').waitFor();
    await expectText(page.locator('pre.code'), /^\{"id":"long"/);
  });

  it('has a model write, shows what was repaired and compares before it replaces', async () => {
    await open('?pipeline=daily');
    await page.getByRole('tab', { name: 'Write with a model' }).click();
    await page.getByLabel('What shall the pipeline do?').fill('Only one task');
    await button('Write it').click();
    await page.getByRole('heading', { name: 'What the model has written' }).waitFor();
    await page.locator('.compared .cm-merge-b').getByText('only').waitFor();
    expect(await readEditor(page)).to.equal(DAILY);
    await button('Replace my text').click();
    await page.getByRole('heading', { name: 'One answer was rejected' }).waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await task('only').waitFor();
  });

  it('can be left with the keyboard, and reaches every part of the page', async () => {
    await open('?pipeline=daily');
    await task('hello').waitFor();
    await text().click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await eventually(async () => (await page.locator('.editor-host:focus-within').count()) === 0);
    for (const wanted of ['.tabs [role=tab]:focus', '.side:focus', '.edit-graph .task:focus']) {
      for (let count = 0; (await page.locator(wanted).count()) === 0; count++) {
        expect(count, wanted).to.be.lessThan(20);
        await page.keyboard.press('Tab');
      }
    }
    await text().click();
    await page.keyboard.press('Control+Enter');
    await page.locator('.run-pane').waitFor();
  });

  it('says that the server does not answer, and goes on when it does', async () => {
    await open('?pipeline=daily');
    await expectText(summary(), 'No problems');
    await page.route('**/pipelines/validate*', (route) => route.abort());
    await text().click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# more');
    await expectText(summary(), /^The text cannot be checked: the server does not answer\./);
    await page.unroute('**/pipelines/validate*');
    await expectText(summary(), 'No problems');
    const failed = takeComplaints().filter((complaint) => /validate failed|net::ERR_FAILED/.test(complaint));
    expect(failed).to.not.deep.equal([]);
  });

  it('takes 1 MB of text, says that it is too long to check, and goes on', async () => {
    await open();
    const long = `${DAILY}${Array.from({ length: 25_000 }, (_, index) => `    # line ${index} of a long text, so long`).join('\n')}\n`;
    expect(long.length).to.be.greaterThan(900_000);
    await writeEditor(page, long);
    await expectText(summary(), /longer than 256 KiB/);
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('# a line at the start\n');
    await expectText(page.locator('.text-half .cm-line').first(), '# a line at the start');
    await writeEditor(page, DAILY);
    await expectText(summary(), 'No problems');
  });

  for (const [scheme, width] of [
    ['light', 1360],
    ['dark', 1360],
    ['light', 420],
    ['dark', 420],
  ] as const) {
    it(`has no problem that axe-core finds, in ${scheme} at ${width} px, on each of its views`, async () => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 850 });
      await open();
      expect(await findViolations(page)).to.deep.equal([]);
      await writeEditor(page, BROKEN);
      await expectText(summary(), '3 errors');
      expect(await findViolations(page)).to.deep.equal([]);
      await writeEditor(page, DAILY);
      await task('hello').waitFor();
      for (const name of ['Graph', 'Run', 'Write with a model']) {
        await page.getByRole('tab', { name }).click();
        expect(await findViolations(page), name).to.deep.equal([]);
      }
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect(overflow).to.be.at.most(0);
    });
  }
});
