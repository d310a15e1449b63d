import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { systemContext } from '../../../../lib/cli/context.js';
import { explainServersOnly } from '../../../../lib/cli/runs/kept-run.js';
import { errorMessage, WavetrainError } from '../../../../lib/common/errors.js';
import { startTestServer } from '../../../support/http/test-server.js';
import { Project, twoTasks } from './project.js';

describe('places of runs: the folder of the shell and the file of a server (D68, D74)', () => {
  let project: Project;

  beforeEach(() => {
    project = new Project();
    project.folder.write('p.yaml', twoTasks('note'));
  });
  afterEach(() => project.remove());

  it('a command that takes the folder refuses a file, and says how the runs of a server are reached', async () => {
    project.folder.write('b.db', 'the store of a server');
    const commands = [
      ['runs', 'list'],
      ['runs', 'show', '3f9c1a'],
      ['runs', 'delete', '3f9c1a'],
      ['runs', 'delete', '--all'],
      ['runs', 'delete', '--status', 'failed'],
      ['rerun', '3f9c1a'],
      ['run', 'p.yaml'],
    ];
    for (const command of commands) {
      const { status, stdout, stderr } = await project.invoke([...command, '--store', 'b.db']);
      expect([status, stdout], command.join(' ')).to.deep.equal([2, '']);
      expect(stderr, command.join(' ')).to.contain(
        'b.db is a file, and --store names a folder with runs of the shell\n' +
          '  if it is the store of a server, start it with SERVICE_STORE=b.db wavetrain serve, then add --server URL\n',
      );
    }
    expect(project.noted).to.deep.equal([]);
    expect(readdirSync(project.folder.path).toSorted()).to.deep.equal(['b.db', 'p.yaml']);
  });

  it('the file in the folder of the shell is refused with the folder to name', async () => {
    await project.invoke(['run', 'p.yaml']);
    const { status, stderr } = await project.invoke(['runs', 'list', '--store', '.wavetrain/runs.db']);
    expect(status).to.equal(2);
    expect(stderr).to.contain('.wavetrain/runs.db is a file').and.contain('\n  write --store .wavetrain\n');
  });

  it('a command on a store refuses a folder, and names the file in that of the shell', async () => {
    await project.invoke(['run', 'p.yaml']);
    for (const command of [['check'], ['stats'], ['vacuum'], ['backup', 'copy.db']]) {
      const { status, stderr } = await project.invoke(['store', ...command, '--store', '.wavetrain']);
      expect(status, command[0]).to.equal(2);
      expect(stderr, command[0]).to.contain(
        '.wavetrain is a folder\n  the history of the shell is .wavetrain/runs.db\n',
      );
    }
    const other = await project.invoke(['store', 'stats', '--store', '.']);
    expect(other.stderr).to.contain('. is a folder\n  name the file of a store\n');
    expect((await project.invoke(['store', 'stats', '--store', '.wavetrain/runs.db'])).status).to.equal(0);
  });

  it('of a run that the server of WAVETRAIN_SERVER lacks, it is said that the folder has it, when it does', async () => {
    await project.invoke(['run', 'p.yaml']);
    const [id = ''] = project.runs;
    const server = await startTestServer();
    const ask = async (...argv: string[]): Promise<string> => {
      const env = { WAVETRAIN_SERVER: server.url };
      const { status, stderr } = await project.invoke(['runs', ...argv], { env });
      expect(status, argv.join(' ')).to.equal(2);
      return stderr;
    };
    const hint = '\n  the history of this folder has it: add --store .wavetrain\n';
    for (const command of ['show', 'report', 'delete']) {
      for (const part of [id, id.slice(-8)]) {
        const said = await ask(command, part);
        expect(said, `${command} ${part}`).to.contain(hint).and.not.contain('SERVICE_RUN_TTL');
      }
      const unknown = await ask(command, 'dead-beef');
      expect(unknown, command).to.contain('SERVICE_RUN_TTL').and.not.contain('--store');
    }
    expect(await ask('show', id, '--server', server.url), 'a flag names the server').not.to.contain(hint);
    await server.close(0);
    const gone = await project.invoke(['runs', 'show', id], { env: { WAVETRAIN_SERVER: server.url } });
    expect(gone.stderr).to.contain('cannot reach a server').and.contain(hint);
    expect(project.runs).to.deep.equal([id]);
  });

  it('runs stats says of a folder with runs that statistics are of servers, where there is no server', async () => {
    const explain = async (server?: string): Promise<string> => {
      const context = { ...systemContext(), cwd: project.folder.path, env: {} };
      const error = new WavetrainError('server_unreachable', 'its message');
      const flags = { server, envFile: undefined };
      return errorMessage(await explainServersOnly(error, 'statistics', flags, context));
    };
    expect(await explain(), 'no runs').to.equal('its message');
    await project.invoke(['run', 'p.yaml']);
    expect(await explain()).to.equal(
      'statistics are of servers (wavetrain runs list lists the runs of this folder), and there is no server to ask:\n  its message',
    );
    expect(await explain('http://127.0.0.1:1')).to.equal('its message');
    const { status, stderr } = await project.invoke(['runs', 'stats'], {
      env: { WAVETRAIN_SERVER: 'http://127.0.0.1:1' },
    });
    expect(status).to.equal(3);
    expect(stderr).to.match(/^wavetrain: cannot reach/);
  });
});
