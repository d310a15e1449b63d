import type { Page } from 'playwright-core';

/** Pastes a text, as a script: Chromium's own insertion of several lines would bring styles with it. */
function pasting(content: string): string {
  return `{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(content)});
    document
      .querySelector('.text-half .editor-host')
      .shadowRoot.querySelector('.cm-content')
      .dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`;
}

/** The text as the editor has it: its lines, without what is only drawn. */
export async function readEditor(page: Page): Promise<string> {
  const lines = await page.locator('.text-half .cm-line').allInnerTexts();
  return lines.map((line) => line.replace(/\n$/, '')).join('\n');
}

/** Replaces the text of the editor. */
export async function writeEditor(page: Page, content: string): Promise<void> {
  await page.locator('.text-half .cm-content').click();
  await page.keyboard.press('Control+a');
  await page.evaluate(pasting(content));
}
