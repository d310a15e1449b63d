import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, Recorder } from '../../invoke.js';

describe('run --inspect (D42)', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('p.yaml', 'id: p\ngoal: g\ntasks: [{id: a, tool: mock, inputs: {value: 1}}]\n');
  });
  afterEach(() => folder.remove());

  it('begins with --inspect=wait when the page is open, shows the run, and keeps the page until Ctrl-C', async () => {
    const processEvents = new EventEmitter();
    const stderr = new Recorder();
    const stdout = new Recorder();
    const argv = ['run', 'p.yaml', '--inspect=wait', '--quiet'];
    const ended = invoke(argv, { cwd: folder.path, stdout, stderr, processEvents });
    await once(stderr, 'data');
    const url = /inspector: (\S+)/.exec(stderr.text)?.[1] ?? '';
    expect(stdout.text).to.equal('');
    const opened = await fetch(url, { redirect: 'manual' });
    expect(opened.status).to.equal(302);
    const runId = opened.headers.get('location')?.replace('/inspect/', '') ?? '';
    const stream = await fetch(new URL(`/pipelines/runs/${runId}/inspection`, url));
    expect(await stream.text()).to.match(/event: end\ndata: .*"succeeded"/);
    processEvents.emit('SIGINT');
    expect(await ended).to.include({ status: 0 });
  });

  it('refuses another mode, and a server', async () => {
    const other = await invoke(['run', 'p.yaml', '--inspect=later'], { cwd: folder.path });
    expect(other).to.include({ status: 2 });
    expect(other.stderr).to.include('--inspect=later is not known');
  });

  it('prints transitions as lines on standard error with DEBUG=wavetrain:*', async () => {
    const { stderr } = await invoke(['run', 'p.yaml', '--quiet'], {
      cwd: folder.path,
      env: { DEBUG: 'wavetrain:*' },
    });
    expect(stderr).to.match(/^wavetrain:run \S+ run queued > running begin$/m);
    expect(stderr).to.match(/^wavetrain:run \S+ run running > succeeded wave\.settled from run\/wave$/m);
  });
});
