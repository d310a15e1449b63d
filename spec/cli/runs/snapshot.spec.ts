import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { Recorder } from '../invoke.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { HELD, useRunsServer } from './runs-server.js';

describe('runs snapshot (D35, D42)', () => {
  const controlled = new ControlledTool();
  const server = useRunsServer({ tools: [controlled.tool] });
  beforeEach(() => void (controlled.calls.length = 0));

  it('prints the actors of a run as a tree with their states, or one of them', async () => {
    const runId = await server.submit(HELD);
    await controlled.started(1);
    const all = await server.runs(`snapshot ${runId}`);
    expect(all).to.deep.equal({
      status: 0,
      stdout: 'run  running\n  wave  settling\n    a  invoking\n',
      stderr: '',
    });
    const one = await server.runs(`snapshot ${runId} --actor run/wave/a --json`);
    expect(JSON.parse(one.stdout)).to.include({ status: 'active', value: 'invoking' });
    const none = await server.runs(`snapshot ${runId} --actor run/wave/b`);
    expect(none).to.include({ status: 2, stdout: '' });
    expect(none.stderr).to.include('there is no actor "run/wave/b"').and.include('has a');
    controlled.last.resolve(1);
    await server.registry.settled(runId);
  });

  it('ends with Ctrl-C while it watches, and the run goes on', async () => {
    const runId = await server.submit(HELD);
    await controlled.started(1);
    const processEvents = new EventEmitter();
    const stdout = new Recorder();
    const watched = server.runs(`snapshot ${runId} --watch`, { processEvents, stdout });
    while (!stdout.text.includes('run/wave/a')) await once(stdout, 'data');
    processEvents.emit('SIGINT');
    expect(await watched).to.include({ status: 130 });
    expect(server.registry.record(runId)).to.include({ status: 'running' });
    controlled.last.resolve(1);
    await server.registry.settled(runId);
  });

  it('says that there is no such run', async () => {
    const { status, stdout, stderr } = await server.runs('snapshot 00000000');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.include('00000000');
  });

  it('prints what actors receive until the run has settled, with --watch', async () => {
    const runId = await server.submit(HELD);
    // On a busy machine the run begins later.
    await controlled.started(1);
    const view = await server.registry.queries.inspection(runId);
    controlled.last.resolve(1);
    await server.registry.settled(runId);
    view.close();
    const watched = await server.runs(`snapshot ${runId} --watch --actor run/wave/a`, {
      processEvents: new EventEmitter(),
    });
    expect(watched.status, watched.stderr).to.equal(0);
    expect(watched.stdout.split('\n').map((line) => line.slice(13))).to.deep.equal([
      'run/wave/a @attached: invoking',
      'run/wave/a task.settled: invoking > succeeded',
      '',
    ]);
    const json = await server.runs(`snapshot ${runId} --watch --json`);
    expect(JSON.parse(json.stdout.split('\n')[0] ?? '')).to.include({ seq: 1, actor: 'run' });
  });
});
