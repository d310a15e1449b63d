import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { useBrowserTab } from '../support/browser-tab.js';
import { expectText } from '../../waiting.js';

const SUM = `pipeline:
  id: sum
  goal: g
  tasks:
    - { id: load, tool: http_request, inputs: { url: "https://api.example" } }
    - { id: add, tool: transform, inputs: { input: "{{load.output}}", expression: $sum($) } }
`;

const TESTS = `cases:
  - name: adds up
    answers: { load: { output: [1, 2] } }
    expect: { outputs: { add: 3 } }
  - name: adds up wrongly
    answers: { load: { output: [1, 2] } }
    expect: { outputs: { add: 4 } }
`;

describe('The tests beside a file of the editor, in a browser (D91)', function () {
  this.timeout(240_000);
  let page: Page;
  let url: string;
  useBrowserTab({ files: { 'sum.yaml': SUM, 'sum.test.yaml': TESTS } }, (tab) => {
    ({ page, url } = tab);
  });
  const pane = (): Locator => page.locator('.tests-pane');

  it('are run with the text of the editor, and say what each case has failed of, with its line', async () => {
    await page.goto(`${url}/edit?pipeline=sum`);
    await page.getByRole('tab', { name: 'Tests' }).click();
    await page.getByRole('button', { name: 'Run tests' }).click();
    await expectText(pane(), /1 of 2 cases failed/);
    await expectText(pane(), /outputs\.add must be 4, not 3 line 7/);
    await expectText(pane(), /Coverage: 2 of 2 tasks\./);
    expect(await page.locator('.toolbar select option').allInnerTexts()).to.not.include('sum.test');
    if (process.env['SHOT'] !== undefined) await page.screenshot({ path: process.env['SHOT'] });
    await page.locator('.text-half .cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\n# typed');
    await page.getByRole('button', { name: 'Run tests' }).click();
    await expectText(pane(), /1 of 2 cases failed/);
  });
});
