import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { settle } from '../../support/deferred.js';
import { Puppet } from '../../support/puppet.js';
import { Recorder, Screen } from '../invoke.js';
import { type AskedServer, askedServer, FAILING, HELD, HELLO } from './commands.js';

describe('runs watch', () => {
  let server: AskedServer;
  let puppet: Puppet;
  beforeEach(async () => {
    puppet = new Puppet();
    server = await askedServer({ tools: [puppet.tool] });
  });
  afterEach(() => server.close(0));

  it('tells every event off a terminal, then the outputs, and answers 0', async () => {
    const runId = await server.submit(HELD);
    await settle();
    const stderr = new Heard('a started');
    const watching = server.runs(`watch ${runId.slice(-12)}`, { stderr });
    await stderr.heard;
    await puppet.returns({ done: true });
    const { status, stdout } = await watching;
    expect(status).to.equal(0);
    expect(stderr.text)
      .to.match(/a finished in [\d.]+ m?s\n/)
      .and.to.match(/succeeded in [\d.]+ m?s: 1 wave/);
    expect(stdout).to.contain('Outputs:\n  a: {"done": true}\n');
  });

  it('draws a run on a terminal, with the times of the server for what was before', async () => {
    const runId = await server.settled(FAILING);
    const stderr = new Screen(100);
    const env = { WAVETRAIN_SERVER: server.url, TERM: 'xterm' };
    const { status, stdout } = await server.runs(`watch ${runId}`, { stderr, env });
    expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
    const drawn = stripVTControlCharacters(stderr.text);
    expect(drawn)
      .to.match(/wave 1 of 2 +1 task/)
      .and.to.match(/wave 2 of 2 +1 task, 1 failed/);
    expect(drawn).to.contain('second after 1 attempt: no luck');
  });

  it('answers as the run ended: 3 when it failed, 130 when it was cancelled (D40)', async () => {
    expect((await server.runs(`watch ${await server.settled(FAILING)}`)).status).to.equal(3);
    const runId = await server.submit(HELD);
    await server.ask('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
    const { status, stderr } = await server.runs(`watch ${runId} --quiet`);
    expect(status).to.equal(130);
    expect(stderr).to.contain(`hint: wavetrain runs rerun ${runId} --from failed`);
    expect(stderr)
      .to.match(/cancelled/)
      .and.not.to.match(/run queued/);
  });

  it('prints the outputs alone with --json (D41)', async () => {
    const { stdout, stderr } = await server.runs(`watch ${await server.settled(HELLO)} --json`);
    expect(JSON.parse(stdout)).to.have.property('greet');
    expect(stderr).to.equal('');
  });

  it('is left by Ctrl-C, which the run survives, and answers 130', async () => {
    const runId = await server.submit(HELD);
    const processEvents = new EventEmitter();
    const stderr = new Heard('a started');
    const watching = server.runs(`watch ${runId}`, { stderr, processEvents });
    await stderr.heard;
    processEvents.emit('SIGINT');
    expect((await watching).status).to.equal(130);
    expect(stderr.text).to.contain(`the run goes on; wavetrain runs cancel ${runId} ends it`);
    expect(processEvents.listenerCount('SIGINT')).to.equal(0);
    expect(server.registry.record(runId).status).to.equal('running');
    await server.ask('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
  });
});

describe('runs cancel, rerun and delete', () => {
  let server: AskedServer;
  const puppet = new Puppet();
  before(async () => {
    server = await askedServer({ tools: [puppet.tool] });
  });
  after(() => server.close(0));

  it('cancels, says what is still at work, and with --force stops that', async () => {
    const runId = await server.submit(HELD);
    await settle();
    const first = await server.runs(`cancel ${runId}`);
    expect(first.status).to.equal(0);
    expect(first.stderr).to.contain(`cancelled ${runId}: the wave at work finishes first`);
    const second = await server.runs(`cancel ${runId} --force`);
    expect(second.stderr).to.match(new RegExp(`^cancelled ${runId}`));
    expect((await server.registry.settled(runId)).status).to.equal('cancelled');
    const third = await server.runs(`cancel ${runId}`);
    expect(third.status).to.equal(2);
    expect(third.stderr).to.contain(runId);
  });

  it('reruns: prints the id of the new run, which tells where it comes from (D35)', async () => {
    const runId = await server.settled(FAILING);
    const { status, stdout } = await server.runs(`rerun ${runId} --from failed`);
    expect(status).to.equal(0);
    const record = await server.registry.settled(stdout.trim());
    expect(record).to.include({ rerun_of: runId, status: 'failed' });
    expect(record.progress.invocations).to.equal(1);
    const accepted: object = JSON.parse((await server.runs(`rerun ${runId} --json`)).stdout);
    expect(accepted).to.have.all.keys('run_id', 'status');
    const shown = await server.runs(`show ${record.run_id}`);
    expect(shown.stdout).to.match(new RegExp(`rerun of +${runId}`));
  });

  it('watches the rerun with --watch, and answers as it ended', async () => {
    const failed = await server.runs(`rerun ${await server.settled(FAILING)} --watch`);
    expect(failed.status).to.equal(3);
    expect(failed.stderr)
      .to.match(/^submitted [0-9a-f-]{36}\n/)
      .and.to.contain('second after 1 attempt');
    const done = await server.runs(`rerun ${await server.settled(HELLO)} --from greet --watch --json`);
    expect(done.status).to.equal(0);
    expect(JSON.parse(done.stdout)).to.have.property('greet');
  });

  it('answers 2 where there is nothing to rerun', async () => {
    const { status, stderr } = await server.runs(`rerun ${await server.settled(HELLO)} --from failed`);
    expect(status).to.equal(2);
    expect(stderr).to.contain('succeeded');
  });

  it('deletes a settled run, and no other', async () => {
    const runId = await server.settled(HELLO);
    const { status, stdout, stderr } = await server.runs(`delete ${runId}`);
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: `deleted ${runId}\n` });
    expect((await server.runs(`show ${runId}`)).status).to.equal(2);
    const held = await server.submit(HELD);
    expect((await server.runs(`delete ${held}`)).status).to.equal(2);
    await server.ask('POST', `/pipelines/runs/${held}/cancel`, { force: true });
  });
});

/** Standard error that tells when a text was written. */
class Heard extends Recorder {
  readonly heard: Promise<void>;

  constructor(text: string) {
    super();
    this.heard = new Promise((resolve) => {
      this.on('data', () => {
        if (this.text.includes(text)) resolve();
      });
    });
  }
}
