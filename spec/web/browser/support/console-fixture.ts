import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../../../../lib/common/clock.js';
import type { Environment } from '../../../../lib/common/config/environment.js';
import { ControlledServer } from '../../../http/support/controlled-server.js';
import type { TestServerOptions } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { expectQuiet, openBrowser, type Witness, witness } from './open-browser.js';

/** The words of Chromium about a status from 400 on, which the editor expects. */
export const STATUS_4XX = /^Failed to load resource: the server responded with a status of 4\d\d/;

interface ConsoleOptions {
  /** Files of the server's folder of pipelines, by path; they are written again before each spec. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Environment;
  readonly models?: TestServerOptions['models'];
  /** Complaints of the page that the specs provoke. */
  readonly provoked?: RegExp;
}

/**
 * A server on the system's clock, whose tool calls the spec completes, and a tab for each spec. A tab that asks another
 * host or complains fails its spec.
 */
export class ConsoleFixture extends ControlledServer {
  readonly #options: ConsoleOptions;
  #browser: Browser | undefined;
  #folder: TemporaryFolder | undefined;
  #tab: { readonly page: Page; readonly seen: Witness } | undefined;

  private constructor(options: ConsoleOptions) {
    super();
    this.#options = options;
  }

  /** Registers the hooks of the suite that is being described. */
  static describe(options: ConsoleOptions = {}): ConsoleFixture {
    const fixture = new ConsoleFixture(options);
    before(async function () {
      fixture.#browser = await openBrowser(this);
      await fixture.#openServer();
    });
    beforeEach(() => fixture.#openTab());
    afterEach(() => fixture.#closeTab());
    after(() => fixture.#closeServer());
    return fixture;
  }

  get browser(): Browser {
    return opened(this.#browser);
  }

  get page(): Page {
    return opened(this.#tab).page;
  }

  get folder(): TemporaryFolder {
    return opened(this.#folder);
  }

  get url(): string {
    return this.server.url;
  }

  /** Returns what the tab has complained of so far, which then does not fail the spec. */
  takeComplaints(): string[] {
    return opened(this.#tab).seen.complaints.splice(0);
  }

  async #openServer(): Promise<void> {
    const { env = {}, models } = this.#options;
    this.#folder = new TemporaryFolder();
    this.#writeFiles();
    await this.open({
      clock: systemClock,
      env: { SERVICE_MAX_RUNNING: '2', SERVICE_PIPELINES: this.folder.path, ...env },
      models,
    });
  }

  #writeFiles(): void {
    for (const [path, text] of Object.entries(this.#options.files ?? {})) this.folder.write(path, text);
  }

  async #openTab(): Promise<void> {
    this.#writeFiles();
    const context = await this.browser.newContext({ viewport: { width: 1360, height: 850 } });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    this.#tab = { page, seen: witness(page) };
  }

  async #closeTab(): Promise<void> {
    const { page, seen } = opened(this.#tab);
    expectQuiet(seen, this.url, this.#options.provoked);
    await page.context().close();
    await this.clear();
  }

  /** Mocha also calls this after the suite was skipped because there is no browser. */
  async #closeServer(): Promise<void> {
    if (this.#folder === undefined) return;
    await this.close();
    this.#folder.remove();
  }
}

function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('it is not open');
  return part;
}
