import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { useBrowserTab } from '../support/browser-tab.js';
import { findViolations } from '../support/accessibility.js';
import { readEditor, writeEditor } from '../support/editor-text.js';
import { eventually, expectText } from '../../waiting.js';

const CHAIN = `id: chain
goal: g
tasks:
  - {id: t0, tool: mock}
${Array.from({ length: 11 }, (_, index) => `  - {id: t${index + 1}, tool: mock, await: [t${index}]}\n`).join('')}`;

const DIMMED = 'The graph is of the last text that could be read';

describe('The graph and the fixes of the editor, in a browser without network', function () {
  this.timeout(240_000);
  let page: Page;
  let url: string;
  useBrowserTab({}, (tab) => {
    ({ page, url } = tab);
  });
  beforeEach(async () => {
    await page.goto(`${url}/edit`);
    await text().waitFor();
  });

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const text = (): Locator => page.locator('.text-half .cm-content');
  const task = (name: string): Locator => page.locator('.edit-graph .task').filter({ hasText: name });
  const summary = (): Locator => page.locator('.problems .summary');
  const scale = (): Promise<number> =>
    page.evaluate("Number(getComputedStyle(document.querySelector('.scaled')).getPropertyValue('--scale'))");

  it('keeps the last graph, dimmed and with a line that says so, while its text cannot be read', async () => {
    await writeEditor(page, CHAIN);
    await task('t11').waitFor();
    await text().click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('- wrong');
    await page.locator('.edit-graph.dimmed').waitFor();
    await page.getByText(DIMMED).waitFor();
    await task('t11').waitFor();
    expect(await findViolations(page)).to.deep.equal([]);
  });

  it('drops the graph when another definition that cannot be read is pasted over its text', async () => {
    await writeEditor(page, CHAIN);
    await task('t11').waitFor();
    await writeEditor(page, 'id: other\ngoal: g\ntasks:\n  - id: report\n   tool: mock\n');
    await page.getByText('The graph appears when the text has no errors.').waitFor();
    expect(await page.locator('.edit-graph').count()).to.equal(0);
    expect(await page.getByText(DIMMED).count()).to.equal(0);
  });

  it('is made smaller, larger and fitting by buttons and keys, and keeps its scale when the text changes', async () => {
    await writeEditor(page, CHAIN);
    await task('t11').waitFor();
    expect(await scale()).to.equal(1);
    await button('Fit').click();
    await eventually(async () => (await scale()) < 1);
    expect(
      await page.evaluate(
        "(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector('.edit-graph .drawing'))",
      ),
    ).to.equal(0);
    await task('t11').click();
    await page.locator('.edit-graph .task.selected').filter({ hasText: 't11' }).waitFor();
    await task('t0').first().focus();
    await page.keyboard.press('0');
    await eventually(async () => (await scale()) === 1);
    await page.keyboard.press('-');
    await eventually(async () => (await scale()) === 0.85);
    await writeEditor(page, `${CHAIN}  - {id: t12, tool: mock}\n`);
    await task('t12').waitFor();
    expect(await scale()).to.equal(0.85);
    await page.getByRole('tab', { name: 'Run' }).click();
    await page.getByRole('tab', { name: 'Graph' }).click();
    expect(await scale()).to.equal(0.85);
    await button('Larger').click();
    await eventually(async () => (await scale()) === 1);
  });

  it('indents with spaces and adds the goal and the tool with a click each, also with two on one', async () => {
    await writeEditor(page, 'id: p # the name\ntasks:\n\t- id: a\n\t  # no tool\n');
    await page.locator('.problems .fix', { hasText: 'indent with spaces' }).click();
    await expectText(summary(), '2 errors');
    await page.locator('.problems .fix', { hasText: 'add goal' }).dblclick();
    await page.locator('.problems .fix', { hasText: 'add tool: mock' }).click();
    await expectText(summary(), 'No problems');
    await task('a').waitFor();
    expect(await readEditor(page)).to.equal(
      'id: p # the name\ngoal: "Say what this pipeline does"\ntasks:\n  - id: a\n    tool: mock\n    # no tool\n',
    );
  });
});
