import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A problem that axe-core has found. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Finds what axe-core calls serious or critical in a page, with the elements. */
export async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const violations = await runAxe(page);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

/** axe-core throws when the page replaces an element that it is looking at, such as a line of an editor. */
const CHANGED_MEANWHILE = "Cannot read properties of undefined (reading 'nthChild')";
const MOST_LOOKS = 5;

async function runAxe(page: Page): Promise<Violation[]> {
  for (let look = 1; ; look++) {
    try {
      // Preloading style sheets writes them into a document, which the policy of our pages forbids.
      const found = await page.evaluate('axe.run({ preload: false }).then(({ violations }) => violations)');
      return found as Violation[];
    } catch (error) {
      if (look === MOST_LOOKS || !String(error).includes(CHANGED_MEANWHILE)) throw error;
    }
  }
}
