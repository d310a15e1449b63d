import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { settle } from '../../support/deferred.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { Recorder, Screen } from '../invoke.js';
import { type RunsServer, runsServer, FAILING, HELD, HELLO, useRunsServer } from './runs-server.js';

describe('wavetrain runs watch', () => {
  let server: RunsServer;
  let controlled: ControlledTool;
  beforeEach(async () => {
    controlled = new ControlledTool();
    server = await runsServer({ tools: [controlled.tool] });
  });
  afterEach(() => server.close(0));

  it('prints in a pipe what run prints: only the outputs, or the failures of a run that failed', async () => {
    const done = await server.runs(`watch ${await server.settled(HELLO)}`);
    expect(done).to.include({ status: 0, stderr: '' });
    expect(done.stdout).to.match(/^Outputs:\n {2}greet:[^]*\nStats:\n/);
    const failed = await server.runs(`watch ${await server.settled(FAILING)}`);
    expect(failed).to.include({ status: 3, stdout: '' });
    expect(failed.stderr).to.match(
      /^✗ failed in .*\n {2}second after 1 attempt: no luck\n(?: {4}.*\n)* {2}hint: /,
    );
  });

  it('prints every event with --verbose, then the outputs, and exits with 0', async () => {
    const runId = await server.submit(HELD);
    await settle();
    const stderr = new WatchedStderr('a started');
    const watching = server.runs(`watch ${runId.slice(-12)} --verbose`, { stderr });
    await stderr.written;
    await controlled.returns({ done: true });
    const { status, stdout } = await watching;
    expect(status).to.equal(0);
    expect(stderr.text)
      .to.match(/a finished in [\d.]+ m?s\n/)
      .and.to.match(/succeeded in [\d.]+ m?s: 1 wave/);
    expect(stdout).to.contain('Outputs:\n  a: {"done": true}\n');
  });

  it('draws a run on a terminal with the durations measured by the server', async () => {
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

  it('exits with 3 for a failed run and with 130 for a cancelled one (D40)', async () => {
    expect((await server.runs(`watch ${await server.settled(FAILING)}`)).status).to.equal(3);
    const runId = await server.submit(HELD);
    await server.request('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
    const { status, stderr } = await server.runs(`watch ${runId} --quiet`);
    expect(status).to.equal(130);
    expect(stderr).to.contain(`hint: wavetrain runs rerun ${runId} --from failed`);
    expect(stderr)
      .to.match(/cancelled/)
      .and.not.to.match(/run queued/);
  });

  it('prints only the outputs with --json (D41)', async () => {
    const { stdout, stderr } = await server.runs(`watch ${await server.settled(HELLO)} --json`);
    expect(JSON.parse(stdout)).to.have.property('greet');
    expect(stderr).to.equal('');
  });

  it('stops watching on Ctrl-C with exit status 130, while the run continues', async () => {
    const runId = await server.submit(HELD);
    const processEvents = new EventEmitter();
    const stderr = new WatchedStderr('a started');
    const watching = server.runs(`watch ${runId} --verbose`, { stderr, processEvents });
    await stderr.written;
    processEvents.emit('SIGINT');
    expect((await watching).status).to.equal(130);
    expect(stderr.text).to.contain(`the run continues; wavetrain runs cancel ${runId} stops it`);
    expect(processEvents.listenerCount('SIGINT')).to.equal(0);
    expect(server.registry.record(runId).status).to.equal('running');
    await server.request('POST', `/pipelines/runs/${runId}/cancel`, { force: true });
  });
});

describe('wavetrain runs cancel, rerun and delete', () => {
  const server = useRunsServer({ tools: [new ControlledTool().tool] });

  it('cancel prints that the current wave finishes, and with --force stops its tools', async () => {
    const runId = await server.submit(HELD);
    await settle();
    const first = await server.runs(`cancel ${runId}`);
    expect(first.status).to.equal(0);
    expect(first.stderr).to.contain(`cancelled ${runId}: the current wave finishes first`);
    const second = await server.runs(`cancel ${runId} --force`);
    expect(second.stderr).to.match(new RegExp(`^cancelled ${runId}`));
    expect((await server.registry.settled(runId)).status).to.equal('cancelled');
    const third = await server.runs(`cancel ${runId}`);
    expect(third.status).to.equal(2);
    expect(third.stderr).to.contain(runId);
  });

  it('rerun prints the id of the new run, whose record names the earlier one (D35)', async () => {
    const runId = await server.settled(FAILING);
    const { status, stdout } = await server.runs(`rerun ${runId} --from failed`);
    expect(status).to.equal(0);
    const record = await server.registry.settled(stdout.trim());
    expect(record).to.include({ rerun_of: runId, status: 'failed' });
    expect(record.progress.invocations).to.equal(1);
    const accepted: object = JSON.parse((await server.runs(`rerun ${runId} --json`)).stdout);
    expect(accepted).to.have.all.keys('run_id', 'status', 'rerun');
    const shown = await server.runs(`show ${record.run_id}`);
    expect(shown.stdout).to.match(new RegExp(`rerun of +${runId}`));
  });

  it('delete removes a settled run, but not a running one', async () => {
    const runId = await server.settled(HELLO);
    const { status, stdout, stderr } = await server.runs(`delete ${runId}`);
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: `deleted ${runId}\n` });
    expect((await server.runs(`show ${runId}`)).status).to.equal(2);
    const held = await server.submit(HELD);
    expect((await server.runs(`delete ${held}`)).status).to.equal(2);
    await server.request('POST', `/pipelines/runs/${held}/cancel`, { force: true });
  });

  it('delete shows with --dry-run what its filters select of a server, and deletes it without', async () => {
    const runs = [await server.settled(HELLO, 'dry'), await server.settled(FAILING, 'dry')];
    const held = await server.submit(HELD, 'dry');
    const select = 'delete --text L --older-than 2999-01-01 --tenant dry';
    const preview = await server.runs(`${select} --dry-run`);
    expect(preview).to.include({ status: 0, stderr: 'would delete 2 runs\n' });
    const ids = preview.stdout.split('\n').slice(1, -1);
    expect(ids.map((line) => line.split(' ')[0])).to.deep.equal(runs.toReversed());
    expect((await server.runs(`${select} --label team=ops --dry-run`)).stderr).to.equal(
      'would delete 0 runs\n',
    );
    expect((await server.runs(`${select} --older-than 1h --dry-run`)).stderr).to.equal(
      'would delete 0 runs\n',
    );
    expect((await server.runs(select)).stderr).to.equal('deleted 2 runs\n');
    expect((await server.runs('list --tenant dry')).stdout)
      .to.contain(held)
      .and.not.contain(runs[0]);
    await server.request('POST', `/pipelines/runs/${held}/cancel`, { force: true });
  });
});

/** Standard error that reports when a text has been written. */
class WatchedStderr extends Recorder {
  readonly written: Promise<void>;

  constructor(text: string) {
    super();
    this.written = new Promise((resolve) => {
      this.on('data', () => {
        if (this.text.includes(text)) resolve();
      });
    });
  }
}
