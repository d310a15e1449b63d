import { expect } from 'chai';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { systemContext } from '../../../../lib/cli/context.js';
import { loadHistoryDriver } from '../../../../lib/runs/store/shell/shell-file.js';
import { builtinCatalog, type Catalog } from '../../../../lib/tools/catalog.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { Project, twoTasks } from './project.js';

describe('the history of the shell: what run keeps (D68)', () => {
  let project: Project;
  beforeEach(() => {
    project = new Project();
    project.folder.write('ok.yaml', twoTasks('note'));
    project.folder.write('bad.yaml', twoTasks('fail'));
  });
  afterEach(() => project.remove());

  it('keeps a run in .wavetrain of the working directory', async () => {
    const { status, stderr } = await project.invoke(['run', 'ok.yaml']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(project.runs).to.have.length(1);
  });

  for (const [what, argv, env] of [
    ['with --no-store', ['--no-store'], {}],
    ['in CI', [], { CI: 'true' }],
  ] as const) {
    it(`keeps nothing ${what}`, async () => {
      expect((await project.invoke(['run', 'ok.yaml', ...argv], { env })).status).to.equal(0);
      expect(existsSync(project.folder.at('.wavetrain'))).to.equal(false);
    });
  }

  it('keeps a run where CI=false', async () => {
    await project.invoke(['run', 'ok.yaml'], { env: { CI: 'false' } });
    expect(project.runs).to.have.length(1);
  });

  it('keeps a run in the folder of --store, also in CI, and reruns it from there', async () => {
    const flags = ['--store', 'elsewhere'];
    const { stderr } = await project.invoke(['run', 'bad.yaml', ...flags], { env: { CI: '1' } });
    expect(existsSync(project.folder.at('elsewhere/runs.db'))).to.equal(true);
    expect(project.runs).to.deep.equal([]);
    expect(stderr).to.contain('  hint: wavetrain rerun --store elsewhere\n    goes on from here');
    project.folder.write('bad.yaml', twoTasks('note'));
    expect((await project.invoke(['rerun', ...flags], { env: { CI: '1' } })).status).to.equal(0);
    expect(project.noted).to.deep.equal(['first', 'second']);
  });

  it('uses the folder of the project from a folder below it', async () => {
    await project.invoke(['run', 'ok.yaml']);
    mkdirSync(project.folder.at('below'));
    await project.invoke(['run', '../ok.yaml'], { cwd: project.folder.at('below') });
    expect(project.runs).to.have.length(2);
    expect(existsSync(project.folder.at('below/.wavetrain'))).to.equal(false);
  });

  for (const [whose, host] of [
    ['the home folder above the project', (path: string) => ({ homeFolder: path })],
    ['another user', () => ({ userId: 424_242 })],
  ] as const) {
    it(`does not write to .wavetrain of ${whose}`, async () => {
      await project.invoke(['run', 'ok.yaml']);
      mkdirSync(project.folder.at('below'));
      await project.invoke(['run', '../ok.yaml'], {
        cwd: project.folder.at('below'),
        host: { ...systemContext().host, ...host(project.folder.path) },
      });
      expect(project.runs).to.have.length(1);
      expect(existsSync(project.folder.at('below/.wavetrain/runs.db'))).to.equal(true);
    });
  }

  it('runs without its history when that cannot be written, and says so once', async () => {
    project.folder.write('.wavetrain', 'a file is in its place');
    const { status, stderr } = await project.invoke(['run', 'bad.yaml']);
    expect(status).to.equal(3);
    expect(
      stderr.match(/the history lacks this run: .*\.wavetrain is not a folder of this user/g),
    ).to.have.length(1);
    expect(stderr).not.to.contain('wavetrain rerun');
    expect(project.noted).to.deep.equal(['first']);
  });

  it('says with --json, too, that the history cannot be written, and with --quiet has no warnings', async () => {
    project.folder.write('.wavetrain', 'a file is in its place');
    const { status, stdout, stderr } = await project.invoke(['run', 'ok.yaml', '--json']);
    expect(status).to.equal(0);
    expect(JSON.parse(stdout)).to.have.keys('first', 'second');
    expect(stderr).to.match(/^wavetrain: the history lacks this run: .*\n$/);
    expect((await project.invoke(['run', 'ok.yaml', '--quiet'])).stderr).to.equal('');
  });

  it('neither writes to .wavetrain of another user in the working directory nor reads what it says', async () => {
    await project.invoke(['run', 'bad.yaml']);
    const kept = project.kept;
    project.noted.length = 0;
    const options = { host: { ...systemContext().host, userId: 424_242 } };
    const { status, stderr } = await project.invoke(['run', 'bad.yaml'], options);
    expect(status).to.equal(3);
    expect(stderr)
      .to.match(
        /the history lacks this run: .*\.wavetrain is not a folder of this user; --store names another\n/,
      )
      .and.not.contain('--no-store');
    const rerun = await project.invoke(['rerun'], options);
    expect(rerun.status).to.equal(2);
    expect(rerun.stderr).to.contain(
      '.wavetrain is not a folder of this user\n  name another folder with --store',
    );
    const [id = ''] = project.runs;
    expect((await project.invoke(['runs', 'show', id], options)).stdout).to.equal('');
    expect(project.noted).to.deep.equal(['first']);
    expect(project.kept).to.equal(kept);
  });

  it('says when a history that is named cannot be written', async () => {
    project.folder.write('file', 'a file is in its place');
    const { stderr } = await project.invoke(['run', 'bad.yaml', '--store', 'file/folder']);
    expect(stderr.match(/the history lacks this run: cannot write to/g)).to.have.length(1);
  });

  it('says when the history has a part of a run, and how that part goes on', async () => {
    const breaking = defineTool({
      name: 'note',
      description: 'lets nothing more be written',
      inputs: {},
      openInputs: true,
      run: (_, { task_id }) => {
        if (task_id === 'first') return null;
        const database = loadHistoryDriver()(project.folder.at('.wavetrain/runs.db'));
        database.exec(
          "CREATE TRIGGER full BEFORE INSERT ON piece BEGIN SELECT RAISE(ABORT, 'it is full'); END",
        );
        database.close();
        throw new Error('no');
      },
    });
    const openCatalog = async (): Promise<Catalog> => builtinCatalog().with([breaking]);
    const { status, stderr } = await project.invoke(['run', 'ok.yaml'], { openCatalog });
    expect(status).to.equal(3);
    expect(stderr).to.match(
      /the history lacks the end of this run: cannot write to .*\n {2}hint: wavetrain rerun\n/,
    );
  });

  it('takes no link for the folder', async () => {
    mkdirSync(project.folder.at('elsewhere'));
    symlinkSync(project.folder.at('elsewhere'), project.folder.at('.wavetrain'));
    expect((await project.invoke(['run', 'bad.yaml'])).stderr).to.contain('is not a folder of this user');
    expect(readdirSync(project.folder.at('elsewhere'))).to.deep.equal([]);
  });

  it('keeps no value of a secret (D61)', async () => {
    project.folder.write(
      'secret.yaml',
      `id: s
goal: g
tasks:
  - {id: first, tool: note, inputs: {token: "Bearer {{secrets.TOKEN}}"}}
  - {id: second, tool: fail, inputs: {message: "refused {{first.output.token}} {{secrets.TOKEN}}"}}
`,
    );
    const value = 'hunter2-and-something-long';
    const { status } = await project.invoke(['run', 'secret.yaml', '--verbose'], {
      env: { SECRET_TOKEN: value },
    });
    expect(status).to.equal(3);
    expect(project.kept).to.contain('refused').and.not.to.contain(value);
    expect(project.kept).not.to.contain(Buffer.from(value).toString('base64'));
  });

  it('says after a failure how the run goes on, with its id when another run is newer', async () => {
    const hint = '\n    goes on from here, with the fixed file\n';
    expect((await project.invoke(['run', 'bad.yaml'])).stderr).to.match(
      new RegExp(`\\n  hint: wavetrain rerun${hint}$`),
    );
    const later = Date.now() + 86_400_000;
    project.change((database) => database.exec(`UPDATE run SET created_at = ${later}`));
    const { stderr } = await project.invoke(['run', 'bad.yaml']);
    const [newest] = project.runs;
    expect(stderr.endsWith(`\n  hint: wavetrain rerun ${newest}${hint}`)).to.equal(true);
    expect((await project.invoke(['run', 'bad.yaml', '--json'])).stderr).not.to.contain(hint);
    expect((await project.invoke(['run', 'ok.yaml'])).stderr).not.to.contain(hint);
  });

  it('refuses --store together with --no-store', async () => {
    const { status, stderr } = await project.invoke(['run', 'ok.yaml', '--store', 'x', '--no-store']);
    expect(status).to.equal(2);
    expect(stderr).to.contain('give --store or --no-store, not both');
  });

  it('refuses --store together with --server', async () => {
    const argv = ['run', 'ok.yaml', '--store', 'x', '--server', 'http://127.0.0.1:1'];
    const { status, stderr } = await project.invoke(argv);
    expect(status).to.equal(2);
    expect(stderr).to.contain('start it with SERVICE_STORE=FILE');
  });
});
