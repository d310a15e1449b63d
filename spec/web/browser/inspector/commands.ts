import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../support/open-browser.js';
import { type Invocation, invoke, Recorder } from '../../../cli/invoke.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { InspectorPage } from '../support/inspector-page.js';
import { eventually, expectText } from '../../waiting.js';

const PIPELINE = `
id: bakery
goal: bake
tasks:
  - {id: dough, tool: mock, inputs: {flour: rye}}
  - {id: loaf, tool: mock, inputs: {of: '{{dough.output.status}}'}}
  - {id: sale, tool: fail, inputs: {message: "nobody buys"}, await: [loaf]}
`;

const EVIL = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u202Egpj.exe';

describe('The page that the commands open, in a browser without network (D42)', function () {
  this.timeout(240_000);
  let browser: Browser;
  let folder: TemporaryFolder;
  let tab: InspectorPage;
  let signals: EventEmitter;
  let ended: Promise<Invocation> | undefined;

  before(async function () {
    browser = await openBrowser(this);
  });

  beforeEach(async () => {
    folder = new TemporaryFolder();
    folder.write('p.yaml', PIPELINE);
    signals = new EventEmitter();
    ended = undefined;
    tab = await InspectorPage.open(browser);
  });

  afterEach(async () => {
    signals.emit('SIGINT');
    await ended;
    await tab.close();
    folder.remove();
  });

  /** Starts a command, and resolves with the address that it prints. */
  async function start(...argv: string[]): Promise<string> {
    const streams = { stdout: new Recorder(), stderr: new Recorder() };
    ended = invoke(argv, { cwd: folder.path, processEvents: signals, ...streams });
    const find = (): string | undefined =>
      /http:\S+\/inspect\S*/.exec(streams.stdout.text + streams.stderr.text)?.[0];
    while (find() === undefined) {
      await Promise.race([once(streams.stdout, 'data'), once(streams.stderr, 'data'), ended]);
    }
    return find() ?? '';
  }

  const expectQuiet = (url: string): void => tab.expectQuiet(new URL(url).origin);

  async function record(): Promise<void> {
    const { status } = await invoke(['run', 'p.yaml', '--record', 'out.wtrec', '--quiet'], {
      cwd: folder.path,
    });
    expect(status).to.equal(3);
  }

  it('"inspect FILE" shows a recording from its first event to its last, without what only a server can do', async () => {
    await record();
    const url = await start('inspect', 'out.wtrec');
    await tab.show(url);
    await expectText(tab.badge, 'failed');
    await expectText(tab.lit, 'failed');
    await tab.page.getByText('nobody buys').first().waitFor();
    await tab.select(/^sale/);
    await expectText(tab.lit, 'failed');
    await tab.page.getByRole('slider', { name: 'Moment' }).fill('1');
    await eventually(async () => (await tab.page.getByRole('treeitem').count()) === 1);
    await tab.button('End').click();
    for (const name of ['Cancel', 'Continue', 'Stately inspector']) {
      expect(await tab.page.getByText(name, { exact: true }).count(), name).to.equal(0);
    }
    await tab.page.getByText('Download recording', { exact: true }).waitFor();
    // Of what has failed, a recording has the values.
    await tab.page.getByRole('tab', { name: 'Values' }).click();
    await tab.page.getByText('Inputs', { exact: true }).waitFor();
    expectQuiet(url);
  });

  it('"inspect FILE" shows what a forged recording says as text', async () => {
    await record();
    const lines = readFileSync(folder.at('out.wtrec'), 'utf8').trimEnd().split('\n');
    const forged = lines.map((line, index) => {
      const content = JSON.parse(line);
      if (content.run) content.run = { ...content.run, pipeline_id: EVIL, error: EVIL };
      if (index > 0 && !content.end) {
        content.event = EVIL;
        content.data = { [EVIL]: EVIL };
        content.snapshot = { [EVIL]: EVIL, ['__proto__']: { [EVIL]: 1 } };
        if (content.actor.endsWith('/sale')) content.actor = `run/wave/${EVIL.replaceAll('/', '_')}`;
      }
      return JSON.stringify(content);
    });
    folder.write('forged.wtrec', `${forged.join('\n')}\n`);
    const url = await start('inspect', 'forged.wtrec');
    await tab.show(url);
    await tab.page.getByRole('treeitem').last().click();
    for (const name of ['Event', 'Snapshot']) await tab.page.getByRole('tab', { name }).click();
    await eventually(async () => (await tab.detail.innerText()).includes('<img src=x'));
    expect(await tab.page.locator('img, #page script').count()).to.equal(0);
    expect(await tab.page.title()).to.include('Wavetrain');
    expectQuiet(url);
  });
});
