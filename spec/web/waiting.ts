import type { Locator, Page } from 'playwright-core';

/** Of a page that never does what it should: on a busy machine, one that does may take long. */
export const LONGEST_WAIT_MS = 60_000;

/** Between two looks at a page, which shares the cores with whoever looks at it. */
const PAUSE_MS = 20;

/** Waits until a condition holds, which the page brings about sooner or later. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + LONGEST_WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`this never came true: ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Waits until the first element has the text, or one that the pattern matches. */
export async function expectText(locator: Locator, text: string | RegExp): Promise<void> {
  let last = '';
  try {
    await eventually(async () => {
      last = (await locator.first().textContent({ timeout: LONGEST_WAIT_MS }))?.trim() ?? '';
      return typeof text === 'string' ? last === text : text.test(last);
    });
  } catch (error) {
    throw new Error(`expected "${String(text)}", and found "${last}"`, { cause: error });
  }
}

/** Waits until the address of the page has the hash. */
export async function expectHash(page: Page, hash: string): Promise<void> {
  await eventually(() => new URL(page.url()).hash === hash);
}
