import { expect } from 'chai';
import { createApiKey } from '../../support/http/api-key.js';
import { startTestServer, type TestServer, type TestServerOptions } from '../../support/http/test-server.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke } from '../invoke.js';

const GREET = `pipeline:
  id: greet
  goal: greet somebody
  params: {name: {description: who is greeted}, loud: {type: boolean, default: false}, tags: {type: list, default: []}}
  tasks: [{id: a, tool: transform, inputs: {expression: "name", input: {name: "{{params.name}}", all: "{{params.tags}}"}}}]
`;
const NIGHTLY = `pipeline:
  id: nightly
  goal: tidy up
  schedule: "0 6 1 1 *"
  timezone: Europe/Berlin
  tasks: [{id: a, tool: mock}]
`;
const PLAN = `plan: {id: both, sub_pipelines: [{id: one, pipeline: {id: one, goal: g, tasks: [{id: a, tool: mock}]}}]}\n`;

describe('wavetrain pipelines', () => {
  const folder = new TemporaryFolder();
  let server: TestServer;
  const open = async (options: TestServerOptions = {}): Promise<TestServer> => {
    const { env, ...others } = options;
    const started = await startTestServer({
      env: { SERVICE_PIPELINES: folder.at('pipelines'), ...env },
      ...others,
    });
    await started.restored;
    await started.request('GET', '/pipelines');
    return started;
  };
  const run = (args: string, of = server, env: Record<string, string> = {}): Promise<Invocation> =>
    invoke(args.split(' '), { cwd: folder.path, env: { WAVETRAIN_SERVER: of.url, ...env } });
  const pipelines = (args: string): Promise<Invocation> => run(`pipelines ${args}`);

  before(async () => {
    folder.write('pipelines/greet.yaml', GREET);
    folder.write('pipelines/nightly.yaml', NIGHTLY);
    folder.write('pipelines/both.yaml', PLAN);
    folder.write('pipelines/broken.yaml', 'pipeline: {id: broken, goal: g, tasks: [{id: a, tool: moc}]}\n');
    server = await open({ env: { SERVICE_PIPELINES_WRITABLE: 'true' } });
  });
  after(async () => {
    await server.close(0);
    folder.remove();
  });

  describe('list', () => {
    it('shows ids, schedules with their next time, the last run, and goals or errors', async () => {
      const accepted = await pipelines('run nightly');
      await server.registry.settled(accepted.stdout.trim());
      const { status, stdout, stderr } = await pipelines('list');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      const [head = '', ...rows] = stdout.trimEnd().split('\n');
      expect(head.split(/ {2,}/)).to.deep.equal(['ID', 'SCHEDULE', 'NEXT', 'LAST RUN', 'GOAL OR ERROR']);
      const cells = rows.map((row) => row.split(/ {2,}/));
      expect(cells.map(([id]) => id)).to.deep.equal(['both (plan)', 'broken', 'greet', 'nightly']);
      expect(cells[1]?.at(-1)).to.match(/^error: .*moc/);
      expect(cells[2]).to.deep.equal(['greet', '-', '-', '-', 'greet somebody']);
      expect(cells[3]?.slice(0, 2)).to.deep.equal(['nightly', '0 6 1 1 * Europe/Berlin']);
      expect(cells[3]?.[2]).to.match(/^in \d+ [dh]$/);
      expect(cells[3]?.[3]).to.match(/^succeeded, .* ago$/);
    });

    it('prints one JSON document with --json', async () => {
      const { pipelines: all } = JSON.parse((await pipelines('list --json --tenant default')).stdout) as {
        pipelines: { id: string; ok: boolean }[];
      };
      expect(all.map(({ id, ok }) => [id, ok])).to.deep.equal([
        ['both', true],
        ['broken', false],
        ['greet', true],
        ['nightly', true],
      ]);
    });

    it('says how a server gets a folder when it has none', async () => {
      const bare = await startTestServer();
      const { status, stdout, stderr } = await run('pipelines list', bare);
      expect({ status, stdout }).to.deep.equal({ status: 0, stdout: 'no pipelines found\n' });
      expect(stderr).to.contain('SERVICE_PIPELINES=FOLDER');
      expect((await run('pipelines run greet', bare)).stderr).to.contain('SERVICE_PIPELINES=FOLDER');
      await bare.close(0);
    });
  });

  describe('show', () => {
    it('has what it takes, when it runs and its problems', async () => {
      const greet = await pipelines('show greet');
      expect(greet.stdout)
        .to.match(/^pipeline +greet\n/)
        .and.to.contain('greet.yaml')
        .and.to.contain(
          'Params:\n  name (string, required): who is greeted\n  loud (boolean, default false)\n',
        );
      const nightly = await pipelines('show nightly');
      expect(nightly.stdout)
        .to.match(/\nschedule +0 6 1 1 \* Europe\/Berlin\nnext +in \d+ [dh], \d{4}-01-01T05:00:00.000Z\n/)
        .and.to.match(/\nLast runs:\n {2}[0-9a-f-]{36} {2}succeeded, /);
      expect((await pipelines('show broken')).stdout)
        .to.match(/\nstate +has errors\n/)
        .and.to.contain('Problems:\n  error: ');
      expect((await pipelines('show both')).stdout).to.match(/^plan +both\n/);
    });

    it('prints the file with --text, and all that the server knows with --json', async () => {
      expect((await pipelines('show nightly --text')).stdout).to.equal(NIGHTLY);
      expect(JSON.parse((await pipelines('show nightly --json')).stdout)).to.include.keys(
        'graph',
        'last_runs',
      );
      expect((await pipelines('show nightly --text --json')).status).to.equal(2);
    });
  });

  describe('run', () => {
    it('prints the id of the run, whose params and other values the flags set', async () => {
      const { status, stdout, stderr } = await pipelines(
        'run greet --params {"name":"Bob"} -p name=a=b --param loud=yes -p tags=["x"] --label team=ops',
      );
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      const record = await server.registry.settled(stdout.trim());
      expect(record).to.deep.include({ status: 'succeeded', pipeline_id: 'greet', labels: { team: 'ops' } });
      expect(record.result?.outputs).to.deep.equal({ a: 'a=b' });
    });

    it('watches the run with --watch, prints its outputs and exits with its status', async () => {
      const { status, stdout, stderr } = await pipelines('run greet -p name=Ada --watch');
      expect(status).to.equal(0);
      expect(stderr).to.match(/^submitted [0-9a-f-]{36}\n/);
      expect(stdout).to.contain('Ada');
      expect(JSON.parse((await pipelines('run greet -p name=Ada --watch --json')).stdout)).to.deep.equal({
        a: 'Ada',
      });
      expect(JSON.parse((await pipelines('run greet -p name=Ada --json')).stdout)).to.have.all.keys(
        'run_id',
        'status',
      );
    });

    it('says which params it takes when some are missing or unknown', async () => {
      const missing = await pipelines('run greet');
      expect(missing.status).to.equal(2);
      expect(missing.stderr)
        .to.contain('param "name" (string) is required')
        .and.to.contain('loud (boolean, default false)')
        .and.to.contain(`try: wavetrain pipelines run greet --params '{"name":"text"}'`);
      expect((await pipelines('run greet -p nam=x -p name=y')).stderr).to.contain('did you mean "name"?');
      expect((await pipelines('run greet -p name')).stderr).to.contain('for example -p city=Oslo');
      expect((await pipelines('run both -p name=x')).stderr).to.contain('plans have no params');
    });

    it('says what may be meant by an id that the server does not have', async () => {
      const typo = await pipelines('run gret -p name=x');
      expect(typo.status).to.equal(2);
      expect(typo.stderr)
        .to.contain('the server has no pipeline "gret"')
        .and.to.contain('did you mean wavetrain pipelines run greet?');
      expect((await pipelines('show something-else')).stderr).to.contain('wavetrain pipelines list lists');
      expect((await pipelines('run broken')).stderr)
        .to.contain('"broken" has errors')
        .and.to.contain('wavetrain pipelines show broken lists them');
    });
  });

  describe('pause and resume', () => {
    it('write into the file whether its schedule rests', async () => {
      const paused = await pipelines('pause nightly');
      expect(paused.stdout).to.equal(
        'paused in nightly.yaml: its schedule starts nothing until wavetrain pipelines resume nightly\n',
      );
      expect((await pipelines('list')).stdout).to.match(/\nnightly +.* paused /);
      const resumed = await pipelines('resume nightly --json');
      expect(JSON.parse(resumed.stdout)).to.include({ file: 'nightly.yaml', ok: true });
      expect((await pipelines('list')).stdout).not.to.contain('paused');
    });

    it('are refused by a server whose folder is not writable, and without the scopes for it', async () => {
      const fixed = await open({ keys: [createApiKey('reader', ['*'], ['read'])] });
      const env = { WAVETRAIN_API_KEY: 'reader' };
      const { status, stderr } = await run('pipelines pause nightly', fixed, env);
      expect(status).not.to.equal(0);
      expect(stderr)
        .to.contain('edit')
        .and.contain('the operator of the server gives it to a key under "scopes"');
      expect((await run('pipelines list', fixed, env)).status).to.equal(0);
      await fixed.close(0);
    });
  });

  it('are offered where a file is named that is not here', async () => {
    for (const command of ['runs submit greet', `run greet --server ${server.url}`]) {
      const { status, stderr } = await run(command);
      expect(status, command).to.equal(2);
      expect(stderr)
        .to.contain('there is no file greet here; the server knows a pipeline of that id')
        .and.to.contain('wavetrain pipelines run greet');
    }
    expect((await run('runs submit missing')).stderr).to.contain('cannot read the file missing');
  });

  it('are a group with help of its own, and suggestions', async () => {
    const help = await run('pipelines --help');
    for (const word of ['list', 'show', 'run', 'pause', 'resume'])
      expect(help.stdout).to.match(new RegExp(`^ +pipelines ${word}`, 'm'));
    expect((await run('pipelines')).stderr).to.contain('"pipelines" needs a subcommand');
    expect((await run('pipeline list')).stderr).to.contain('did you mean wavetrain pipelines?');
  });
});
