import type { Browser, Locator, Page } from 'playwright-core';
import { expectQuiet, type Witness, witness } from './open-browser.js';
import { eventually, LONGEST_WAIT_MS } from '../../waiting.js';

/** A tab with the inspector, and what it asks for and complains of. */
export class InspectorPage {
  readonly page: Page;
  readonly seen: Witness;

  constructor(page: Page) {
    this.page = page;
    this.seen = witness(page);
  }

  static async open(browser: Browser): Promise<InspectorPage> {
    const context = await browser.newContext({ viewport: { width: 1360, height: 820 } });
    const page = await context.newPage();
    page.setDefaultTimeout(LONGEST_WAIT_MS);
    return new InspectorPage(page);
  }

  /** Opens an address, and waits until there is an actor. */
  async show(url: string): Promise<void> {
    // The same address with another hash would not load the page again.
    await this.page.goto('about:blank');
    await this.page.goto(url);
    await this.page.getByRole('treeitem').first().waitFor();
  }

  /** The row of an actor, or of a group of actors, in the tree. */
  row(text: string | RegExp): Locator {
    return this.page.getByRole('treeitem').filter({ hasText: text });
  }

  /** The state in which the chart shows the selected actor. */
  get lit(): Locator {
    return this.page.locator('.node.lit:not(.root) .key');
  }

  /** The transition that the chart shows. */
  get litEdge(): Locator {
    return this.page.locator('.edge.lit text');
  }

  get badge(): Locator {
    return this.page.locator('.badge');
  }

  /** Number of entries in the sequence, as in `8 of 32`. */
  get count(): Locator {
    return this.page.locator('.sequence .count');
  }

  get detail(): Locator {
    return this.page.getByRole('tabpanel');
  }

  /** Selects an actor. */
  async select(text: string | RegExp): Promise<void> {
    await this.row(text).first().click();
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Waits until the sequence has an entry with the texts. */
  async expectEntry(...texts: readonly string[]): Promise<void> {
    let found = this.page.getByRole('option');
    for (const text of texts) found = found.filter({ hasText: text });
    await eventually(async () => (await found.count()) > 0);
  }

  /** The page has asked no other host, and has nothing to complain of. */
  expectQuiet(url: string): void {
    expectQuiet(this.seen, url);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
