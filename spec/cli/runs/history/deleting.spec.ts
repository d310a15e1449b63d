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
});
