import { expect } from 'chai';
import { Project, twoTasks } from './project.js';

describe('wavetrain runs delete in the history of a folder (D68)', () => {
  let project: Project;

  beforeEach(async () => {
    project = new Project();
    project.folder.write('ok.yaml', twoTasks('note'));
    project.folder.write('bad.yaml', twoTasks('fail'));
    for (const file of ['ok.yaml', 'bad.yaml', 'ok.yaml']) await project.invoke(['run', file]);
  });
  afterEach(() => project.remove());

  const remove = async (...flags: string[]): Promise<string> => {
    const { status, stderr } = await project.invoke(['runs', 'delete', ...flags]);
    expect(status, stderr).to.equal(0);
    return stderr.replaceAll(project.folder.path, '');
  };

  it('deletes the runs that have a status, are old enough, and are of a pipeline', async () => {
    const [first, , third] = project.runs;
    expect(await remove('--status', 'failed')).to.equal('deleted 1 run of /.wavetrain\n');
    expect(project.runs).to.deep.equal([first, third]);
    expect(await remove('--older-than', '1h')).to.equal('deleted 0 runs of /.wavetrain\n');
    expect(await remove('--pipeline', 'another')).to.equal('deleted 0 runs of /.wavetrain\n');
    const { pipeline_id: pipeline = '' } = project.history.summary(first ?? '') ?? {};
    expect(await remove('--pipeline', pipeline, '--status', 'cancelled')).to.contain('deleted 0 runs');
    expect(await remove('--pipeline', pipeline, '--older-than', '2999-01-01')).to.contain('deleted 2 runs');
    expect(project.runs).to.deep.equal([]);
  });

  it('deletes a run whose process is gone by the time of the last that is known of it, but by no status', async () => {
    const [first = ''] = project.runs;
    project.loseEnd(first, 'second');
    expect(await remove('--status', 'succeeded')).to.contain('deleted 1 run ');
    expect(await remove('--older-than', '1h')).to.contain('deleted 0 runs');
    expect(project.runs).to.include(first);
    expect(await remove('--older-than', '2999-01-01')).to.contain('deleted 2 runs');
  });

  it('leaves runs in a file that another shell has, and says how many', async () => {
    const before = project.runs;
    const giveBack = project.takeFile();
    expect(await remove('--status', 'succeeded')).to.equal(
      'deleted 0 runs of /.wavetrain\nleft 2 runs in files that other shells have in use\n',
    );
    giveBack();
    expect(project.runs).to.deep.equal(before);
    expect(await remove('--status', 'succeeded')).to.equal('deleted 2 runs of /.wavetrain\n');
  });

  it('selects by labels and by a text, as runs list does, and suggests no --all instead', async () => {
    const [first, failed, third] = project.runs;
    await project.invoke(['run', 'ok.yaml', '--label', 'team=ops', '--label', 'stage=test']);
    const labelled = project.runs.at(-1);
    expect(await remove('--label', 'team=billing')).to.contain('deleted 0 runs');
    expect(await remove('--text', 'no such text')).to.contain('deleted 0 runs');
    expect(await remove('--label', 'team=ops', '--label', 'stage:test')).to.contain('deleted 1 run ');
    expect(project.runs).to.deep.equal([first, failed, third]).and.not.to.include(labelled);
    expect(await remove('--text', (failed ?? '').slice(-12))).to.contain('deleted 1 run ');
    expect(project.runs).to.deep.equal([first, third]);
    for (const flags of [
      ['--text', ''],
      ['--label', 'team'],
    ]) {
      const { status, stderr } = await project.invoke(['runs', 'delete', ...flags]);
      expect(status, stderr).to.equal(2);
    }
    expect(project.runs).to.deep.equal([first, third]);
  });

  it('says with --dry-run how many would be deleted, shows the newest, and deletes none', async () => {
    for (let more = 0; more < 4; more++) await project.invoke(['run', 'ok.yaml']);
    const before = project.runs;
    const preview = async (...flags: string[]): Promise<[ids: string[], said: string]> => {
      const { status, stdout, stderr } = await project.invoke(['runs', 'delete', '--dry-run', ...flags]);
      expect(status, stderr).to.equal(0);
      const ids = stdout.split('\n').slice(1, -1);
      return [ids.map((line) => line.split(' ')[0] ?? ''), stderr.replaceAll(project.folder.path, '')];
    };
    const succeeded = before.filter((id) => id !== before[1]).toReversed();
    expect(await preview('--status', 'succeeded')).to.deep.equal([
      succeeded.slice(0, 5),
      'would delete 6 runs of /.wavetrain, of which these are the newest 5\n',
    ]);
    expect(await preview('--status', 'failed')).to.deep.equal([
      [before[1]],
      'would delete 1 run of /.wavetrain\n',
    ]);
    expect(await preview('--label', 'team=ops')).to.deep.equal([[], 'would delete 0 runs of /.wavetrain\n']);
    expect((await preview('--all'))[1]).to.contain('would delete 7 runs');
    const giveBack = project.takeFile();
    expect((await preview('--status', 'succeeded'))[1]).to.equal(
      'would delete 0 runs of /.wavetrain\nwould leave 6 runs in files that other shells have in use\n',
    );
    giveBack();
    const one = await project.invoke(['runs', 'delete', before[0] ?? '', '--dry-run']);
    expect(one.status).to.equal(2);
    expect(one.stderr).to.contain('--dry-run is for --all and the filters');
    expect(project.runs).to.deep.equal(before);
  });
});
