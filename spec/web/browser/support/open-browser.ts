import { expect } from 'chai';
import { existsSync } from 'node:fs';
import type { Context } from 'mocha';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'];

/**
 * Features that are off. This replaces Playwright's list, whose members are kept that change what a page does or ask
 * for something; the last two load pages of Chromium's own window, which nobody sees, for each page that is opened.
 */
const FEATURES_OFF = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'AimEnabled',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

/** Every host but this machine is unknown to the browser, and it asks for nothing on its own behalf. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${FEATURES_OFF.join(',')}`,
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

let opened: Browser | undefined;

/** At the root: after the last spec of the process. */
after(() => opened?.close());

/**
 * Opens the Chromium that all specs of the process share, in contexts of their own. Where there is none the specs are
 * skipped, but not in continuous integration: there nothing may be skipped.
 */
export async function openBrowser(context: Context): Promise<Browser> {
  if (opened !== undefined) return opened;
  const executablePath = [process.env['CHROMIUM_PATH'] ?? '', ...PLACES].find((path) => existsSync(path));
  if (executablePath === undefined) {
    const message = 'there is no Chromium: install it, or tell where it is with CHROMIUM_PATH';
    if (process.env['CI']) throw new Error(message);
    console.warn(`      skipped: ${message}`);
    return context.skip();
  }
  opened = await chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: FLAGS });
  return opened;
}

/** How Chromium names the end of a request that the page itself gave up. */
const ABANDONED = 'net::ERR_ABORTED';

/** The requests of a page, and its complaints. */
export interface Witness {
  /** Addresses, in the order of asking. */
  readonly requests: readonly string[];
  /**
   * Errors and warnings on the console, errors that nobody caught, and requests that failed, but
   * for those that the page abandoned: whoever leaves a page leaves what it was reading.
   */
  readonly complaints: string[];
}

/** Watches a page from now on. */
export function witness(page: Page): Witness {
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    if (reason !== ABANDONED) complaints.push(`${request.url()} failed: ${reason}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  return { requests, complaints };
}

/** Expects that the page has asked no host but that of `url`, and has complained of nothing but what a spec `provoked`. */
export function expectQuiet({ requests, complaints }: Witness, url: string, provoked?: RegExp): void {
  const foreign = requests.filter((asked) => !asked.startsWith(url) && !/^(?:data|about|blob):/.test(asked));
  expect(foreign).to.deep.equal([]);
  expect(complaints.filter((complaint) => provoked?.test(complaint) !== true)).to.deep.equal([]);
}
