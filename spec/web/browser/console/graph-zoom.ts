import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { TWO_WAVES } from '../../../http/support/controlled-server.js';
import { useBrowserTab } from '../support/browser-tab.js';
import { findViolations } from '../support/accessibility.js';
import { eventually } from '../../waiting.js';

/** 2,000 tasks in ten waves. */
const LARGE = {
  id: 'large',
  goal: 'g',
  tasks: Array.from({ length: 2000 }, (_, index) => ({
    id: `t${index}`,
    tool: 'mock',
    ...(index >= 200 && { await: [`t${index - 200}`] }),
  })),
};

describe('The zoom of the graph of a run, in a browser without network', function () {
  this.timeout(240_000);
  let page: Page;
  let url: string;
  const fixture = useBrowserTab({}, (tab) => {
    ({ page, url } = tab);
  });
  const { controlled } = fixture;

  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const card = (id: string): Locator => page.locator(`#task--${id}`);
  const scale = (): Promise<number> =>
    page.evaluate("Number(getComputedStyle(document.querySelector('.scaled')).getPropertyValue('--scale'))");
  /** How much of the drawing is beyond its window, in both directions. */
  const hidden = (): Promise<unknown> =>
    page.evaluate(
      "(({scrollWidth, clientWidth, scrollHeight, clientHeight}) => [scrollWidth - clientWidth, scrollHeight - clientHeight])(document.querySelector('.waves'))",
    );
  const elements = (): Promise<number> => page.locator('.waves *').count();

  async function openRun(definition: object): Promise<string> {
    const runId = await fixture.submit(definition);
    await page.goto(`${url}/runs/${runId}`);
    await page.locator('.task-card').first().waitFor();
    return runId;
  }

  it('fits 2,000 tasks into the window with few elements, and finds each by the pointer and by the keys', async () => {
    const runId = await openRun(LARGE);
    await fixture.server.registry.settled(runId);
    await button('Fit').click();
    await eventually(async () => (await scale()) < 0.2);
    expect(await hidden()).to.deep.equal([0, 0]);
    // All but the one that the keys act on.
    const blocks = `document.querySelector('.blocks path.done')?.getAttribute('d').split('z').length === 2000`;
    await eventually(() => page.evaluate<boolean>(blocks));
    expect(await elements()).to.be.lessThan(100);
    await card('t0').focus();
    await page.keyboard.press('ArrowDown');
    await eventually(() =>
      page.evaluate(
        "document.activeElement.id.startsWith('task--') && document.activeElement.id !== 'task--t0'",
      ),
    );
    const second = await page.evaluate<string>('document.activeElement.id');
    const place = await page.locator(`#${second}`).boundingBox();
    await page.keyboard.press('ArrowUp');
    await page.locator(`#${second}`).waitFor({ state: 'detached' });
    await page.mouse.click((place?.x ?? 0) + 3, (place?.y ?? 0) + 1);
    await eventually(() => Promise.resolve(page.url().endsWith(`#task=${second.replace('task--', '')}`)));
    expect(await findViolations(page)).to.deep.equal([]);
  });

  it('draws only the cards in sight of 2,000 tasks at each scale at which they can be read', async () => {
    await openRun(LARGE);
    for (const [wanted, most] of [
      [1, 200],
      [0.85, 250],
      [0.7, 350],
      [0.5, 450],
    ] as const) {
      if (wanted < 1) await button('Smaller').click();
      await eventually(async () => (await scale()) === wanted);
      await page.evaluate("document.querySelector('.waves').scrollTo(1e6, 1e6)");
      await eventually(async () => (await page.locator('.task-card').count()) > 20);
      expect(await page.locator('.task-card').count(), `at ${wanted}`).to.be.lessThan(most);
    }
    await button('Smaller').click();
    await page.locator('.blocks').waitFor();
    await eventually(async () => (await page.locator('.task-card').count()) < 3);
  });

  it('is kept while the run goes on and while another tab is shown, and follows the keys', async () => {
    const runId = await openRun(TWO_WAVES);
    await controlled.started(1);
    await card('a').focus();
    await page.keyboard.press('-');
    await page.keyboard.press('-');
    await eventually(async () => (await scale()) === 0.7);
    await fixture.complete(runId);
    await controlled.started(2);
    await eventually(async () => (await card('a').getAttribute('class'))?.includes('done') === true);
    expect(await scale()).to.equal(0.7);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByRole('tab', { name: 'Graph' }).click();
    expect(await scale()).to.equal(0.7);
    await card('a').focus();
    await page.keyboard.press('+');
    await eventually(async () => (await scale()) === 0.85);
    await page.keyboard.press('0');
    await eventually(async () => (await button('Fit').getAttribute('aria-pressed')) === 'true');
    await fixture.complete(runId);
  });

  it('keeps what is in the middle there, and a card that is opened in sight', async () => {
    await openRun(LARGE);
    const middle = (): Promise<number> =>
      page.evaluate(`{
        const { scrollTop, clientHeight } = document.querySelector('.waves');
        (scrollTop + clientHeight / 2) / Number(getComputedStyle(document.querySelector('.scaled')).getPropertyValue('--scale'));
      }`);
    await page.evaluate("document.querySelector('.waves').scrollTo(1500, 2000)");
    const before = await middle();
    await button('Smaller').click();
    await eventually(async () => (await scale()) === 0.85);
    expect(await middle()).to.be.closeTo(before, 5);
    await page.locator('.task-card').last().click();
    await eventually(() => new URL(page.url()).hash.startsWith('#task='));
    const opened = decodeURIComponent(new URL(page.url()).hash.replace('#task=', ''));
    for (let step = 0; step < 4; step++) await button('Larger').click();
    await eventually(async () => (await scale()) === 1.6);
    await eventually(() =>
      page.evaluate(`{
        const window = document.querySelector('.waves').getBoundingClientRect();
        const card = document.getElementById('task--${opened}')?.getBoundingClientRect();
        card !== undefined && card.left >= window.left && card.right <= window.right && card.top >= window.top && card.bottom <= window.bottom;
      }`),
    );
  });

  it('zooms around the pointer by the wheel with Ctrl, scrolls by the wheel alone, and shrinks to half of what fits', async () => {
    await openRun(LARGE);
    const scrolled = (): Promise<number> => page.evaluate("document.querySelector('.waves').scrollTop");
    const window = await page.locator('.waves').boundingBox();
    const [x, y] = [(window?.x ?? 0) + 300, (window?.y ?? 0) + 200];
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 400);
    await eventually(async () => (await scrolled()) === 400);
    expect(await scale()).to.equal(1);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, 120);
    await eventually(async () => (await scale()) < 0.9);
    // The place that was under the pointer, 600 pixels from the start, is there again.
    expect(await scrolled()).to.be.closeTo(600 * (await scale()) - 200, 3);
    for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, 120);
    await page.keyboard.up('Control');
    await button('Fit').click();
    await eventually(async () => (await button('Fit').getAttribute('aria-pressed')) === 'true');
    const fitting = await scale();
    for (let step = 0; step < 10; step++) await button('Smaller').click();
    const least = Math.max(0.05, fitting / 2);
    await eventually(async () => Math.abs((await scale()) - least) < 0.001);
  });
});
