import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { type Invocation, type InvokeOptions, Recorder } from '../../invoke.js';
import { Project, twoTasks } from './project.js';

describe('the history of the shell: inspect RUN_ID without a server (D42, D68)', () => {
  let project: Project;
  let id: string;
  let opened: string[];

  beforeEach(async () => {
    project = new Project();
    opened = [];
    project.folder.write('p.yaml', twoTasks('fail', '{message: "no way"}'));
    await project.invoke(['run', 'p.yaml']);
    id = project.runs[0] ?? '';
  });
  afterEach(() => project.remove());

  /** Opens the page of a run, lets a reader look, and ends the command with Ctrl-C. */
  async function inspect(
    runId: string,
    look: (page: URL) => Promise<void>,
    options: InvokeOptions = {},
  ): Promise<Invocation> {
    const processEvents = new EventEmitter();
    const stdout = new Recorder();
    const openUrl = (url: string): void => void opened.push(url);
    const argv = ['inspect', runId, '--open'];
    const ended = project.invoke(argv, { stdout, processEvents, openUrl, ...options });
    await Promise.race([once(stdout, 'data'), ended]);
    try {
      await look(new URL(stdout.text.trim()));
    } finally {
      processEvents.emit('SIGINT');
    }
    return ended;
  }

  it('serves the page of a run until Ctrl-C, for the end of its id, and calls no tool', async () => {
    project.noted.length = 0;
    const { status, stderr } = await inspect(id.slice(-8).toUpperCase(), async (page) => {
      expect(page.pathname).to.equal(`/inspect/${id}`);
      expect(opened).to.deep.equal([page.href]);
      const read = async (path: string): Promise<Record<string, unknown>> => {
        const response = await fetch(new URL(path, page), { headers: { accept: 'application/json' } });
        return (await response.json()) as Record<string, unknown>;
      };
      expect(await read(`/pipelines/runs/${id}`)).to.include({ status: 'failed', pipeline_id: 'two' });
      const { entries } = await read(`/pipelines/runs/${id}/inspection`);
      expect((entries as { actor: string }[]).map(({ actor }) => actor)).to.include('run/wave/second');
      const call = await read(`/pipelines/runs/${id}/tasks/second`);
      expect(call['inputs']).to.deep.include({ message: 'no way' });
    });
    expect(status).to.equal(0);
    expect(stderr).to.match(new RegExp(`^run ${id} failed, \\d+ entries; Ctrl-C ends this\n`));
    expect(stderr).to.contain('  second failed: no way\n');
    expect(project.noted).to.deep.equal([]);
  });

  it('prints the address on a server that is named', async () => {
    const server = 'http://127.0.0.1:1';
    expect((await project.invoke(['inspect', id, '--server', server])).stdout).to.equal(
      `${server}/inspect/${id}\n`,
    );
    const { stderr } = await project.invoke(['inspect', id.slice(-8), '--server', server]);
    expect(stderr).to.contain(`cannot reach a server at ${server}`);
  });

  it('prints no address of a run that the history lacks, when no server is named', async () => {
    const lacking = '00000000-0000-7000-8000-000000000000';
    const { stdout, stderr } = await project.invoke(['inspect', lacking]);
    expect(stdout).to.equal('');
    expect(stderr).to.contain(`.wavetrain has no run whose id begins or ends with "${lacking}"`);
  });

  it('says that a run is at work in another shell', async () => {
    project.loseEnd(id, 'second');
    const release = project.takeFile();
    const { stderr } = await inspect(id, async () => undefined);
    release();
    expect(stderr).to.contain(
      `run ${id} is running in another shell (what is at work is shown as stopped), `,
    );
  });
});
