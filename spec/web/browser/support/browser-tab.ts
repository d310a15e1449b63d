import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../../../lib/common/clock.js';
import { ControlledServer } from '../../../http/support/controlled-server.js';
import type { TestServerOptions } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { LONGEST_WAIT_MS } from '../../waiting.js';
import { expectQuiet, openBrowser, witness } from './open-browser.js';

/** The words of Chromium about a status from 400 on, which a page may expect. */
export const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/;

interface BrowserTabOptions extends TestServerOptions {
  /** The files of the folder of pipelines of the server, which are written anew before each spec. */
  readonly files?: Readonly<Record<string, string>>;
  /** Complaints of the page that the specs provoke. */
  readonly expected?: RegExp;
}

/** The server and the browser, which the specs of a suite share, and the tab that each spec has for itself. */
interface BrowserTab {
  readonly folder: TemporaryFolder;
  readonly url: string;
  readonly browser: Browser;
  readonly page: Page;
  /** Returns what the page has complained of, and forgives it. */
  readonly takeComplaints: () => readonly string[];
}

/**
 * Serves on a real clock, and opens a tab for each spec of the suite that calls it. After each spec, the page must have
 * asked no other host, and have complained of nothing.
 */
export function useBrowserTab(
  options: BrowserTabOptions,
  onOpen: (tab: BrowserTab) => void,
): ControlledServer {
  const { files, expected, env, ...serverOptions } = options;
  const fixture = new ControlledServer();
  let folder: TemporaryFolder;
  let browser: Browser;
  let close = (): Promise<void> => Promise.resolve();

  const writeFiles = (): void => {
    for (const [file, text] of Object.entries(files ?? {})) folder.write(file, text);
  };

  before(async function () {
    browser = await openBrowser(this);
    folder = new TemporaryFolder();
    writeFiles();
    const pipelines = files && { SERVICE_PIPELINES: folder.path };
    const inFolder = { SERVICE_MAX_RUNNING: '2', ...pipelines, ...env };
    await fixture.open({ clock: systemClock, ...serverOptions, env: inFolder });
  });

  beforeEach(async () => {
    writeFiles();
    const context = await browser.newContext({ viewport: { width: 1360, height: 850 } });
    const page = await context.newPage();
    page.setDefaultTimeout(LONGEST_WAIT_MS);
    const { url } = fixture.server;
    const seen = witness(page);
    const takeComplaints = (): string[] => seen.complaints.splice(0);
    close = async () => {
      await context.close();
      expectQuiet(seen, url, expected);
    };
    onOpen({ folder, url, browser, page, takeComplaints });
  });

  afterEach(async () => {
    await close();
    await fixture.clear();
  });

  after(async () => {
    await fixture.close();
    folder?.remove();
  });

  return fixture;
}
