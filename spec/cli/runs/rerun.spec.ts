import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type RunsServer, useRunsServer } from './runs-server.js';

const DEFINITION = {
  id: 'fixed',
  goal: 'greet',
  params: { name: { default: 'Ada' } },
  tasks: [
    { id: 'kept', tool: 'mock' },
    { id: 'greet', tool: 'mock', inputs: { it: '{{params.name}}' } },
    { id: 'broken', tool: 'fail', inputs: { message: 'no luck' }, await: ['kept', 'greet'] },
    { id: 'end', tool: 'mock', inputs: { it: '{{broken.output}}' } },
  ],
};
const FIXED = JSON.stringify(DEFINITION, null, 2).replace('"tool": "fail"', '"tool": "mock"');

describe('wavetrain runs rerun with changes (D60)', () => {
  const server = useRunsServer();
  const folder = new TemporaryFolder();
  let failed: string;
  before(async () => {
    folder.write('fixed.json', FIXED);
    failed = await server.settled(DEFINITION);
  });
  after(() => folder.remove());

  const rerun = (args: string, runId = failed): ReturnType<RunsServer['runs']> =>
    server.runs(`rerun ${runId} ${args}`, { cwd: folder.path, env: { WAVETRAIN_SERVER: server.url } });

  it('runs a fixed file, and says what it reuses and what it runs and why', async () => {
    const { status, stdout, stderr } = await rerun('--file fixed.json --params {"name":"Eve"}');
    expect(status).to.equal(0);
    expect(stderr.split('\n')).to.deep.equal([
      'reuses 1 of 4 tasks: kept',
      'runs greet: reads {{params.name}}, which has changed',
      'runs broken: calls another tool',
      'runs end: has not run',
      '',
    ]);
    const record = await server.registry.settled(stdout.trim());
    expect(record).to.deep.include({ status: 'succeeded', rerun_of: failed });
    expect(record.result).to.include({ tasks_executed: 3 });
  });

  it('says with --dry-run what it would reuse and run, and runs nothing', async () => {
    const before = server.registry.list({ limit: 500 }).runs.length;
    const dry = await rerun('--file fixed.json --dry-run');
    expect([dry.status, dry.stdout, dry.stderr]).to.deep.equal([
      0,
      'reuses 2 of 4 tasks: kept, greet\nruns broken: calls another tool\nruns end: has not run\n',
      '',
    ]);
    const json = await rerun('--from kept --dry-run --json');
    expect(JSON.parse(json.stdout)).to.deep.include({ reused: [{ task_id: 'greet' }], warnings: [] });
    const refused = await rerun('--from kepd --dry-run');
    expect([refused.status, refused.stdout]).to.deep.equal([2, '']);
    expect(refused.stderr).to.include('did you mean --from kept?');
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });

  it('names what has changed first, and in one line what had not run', async () => {
    const late = Array.from({ length: 14 }, (_, n) => ({
      id: `late_${n}`,
      tool: 'mock',
      await: ['one', 'two'],
    }));
    const fail = { tool: 'fail', inputs: { message: 'no' } };
    const definition = {
      id: 'many',
      goal: 'g',
      tasks: [{ id: 'one', ...fail }, { id: 'two', ...fail }, ...late],
    };
    const runId = await server.settled(definition);
    definition.tasks[1] = { id: 'two', tool: 'mock', inputs: { message: 'no' } };
    folder.write('many.json', JSON.stringify(definition));
    const { stderr } = await rerun('--file many.json', runId);
    const named = late.slice(0, 12).map(({ id }) => id);
    expect(stderr.split('\n')).to.deep.equal([
      'reuses 0 of 16 tasks',
      'runs two: calls another tool',
      'runs one: has failed',
      `runs 14 tasks that had not run: ${named.join(', ')} and 2 more`,
      '',
    ]);
  });

  it('says --from, and not "from", of what it names and of what to name', async () => {
    const forced = await rerun('--file fixed.json --from kept');
    expect(forced.stderr).to.contain('runs kept: is named with --from\n').and.not.to.contain('"from"');
    await server.registry.settled(forced.stdout.trim());
    const same = await rerun('--file fixed.json', forced.stdout.trim());
    expect(same.status).to.equal(2);
    expect(same.stderr).to.contain('name a task with --from TASK').and.not.to.contain('"from"');
  });

  it('says how everything runs again where nothing is left to run', async () => {
    const done = (await rerun('--file fixed.json')).stdout.trim();
    await server.registry.settled(done);
    const { status, stderr } = await rerun('--from failed', done);
    expect(status).to.equal(2);
    expect(stderr).to.contain(
      'name a task with --from TASK, or run everything with neither --from nor changes\n',
    );
  });

  it('suggests the nearest task for --from, of the changed file if there is one', async () => {
    const old = await rerun('--from brokn');
    expect(old).to.include({ status: 2, stdout: '' });
    expect(old.stderr).to.contain('has no task "brokn"').and.to.contain('did you mean --from broken?');
    folder.write('renamed.json', FIXED.replaceAll('broken', 'repaired'));
    const renamed = await rerun('--file renamed.json --from repaird');
    expect(renamed.stderr).to.contain('did you mean --from repaired?');
    expect((await rerun('--from nothing_near_it')).stderr).not.to.contain('did you mean');
  });

  it('prints with --json only the accepted run, with what it reuses and runs', async () => {
    const { stdout, stderr } = await rerun('--file fixed.json --json');
    expect(stderr).to.equal('');
    const accepted = JSON.parse(stdout) as { rerun: { reused: unknown } };
    expect(accepted.rerun.reused).to.deep.equal([{ task_id: 'kept' }, { task_id: 'greet' }]);
  });

  it('watches the rerun with --watch and exits with its status', async () => {
    const done = await rerun('--file fixed.json --watch');
    expect(done.status).to.equal(0);
    expect(done.stdout).to.match(/^Outputs:\n {2}kept: /);
    const again = await rerun('--concurrency 2 --watch');
    expect(again.status).to.equal(3);
    expect(again.stderr).to.contain('runs broken: has failed\n').and.to.contain('no luck');
  });

  it('reuses the items of a fan-out that are as they were, and says so with --verbose', async () => {
    const definition = (rows: string): string =>
      `{id: rows, goal: g, inputs: {rows: ${rows}}, tasks: [{id: t, tool: transform, parallel_over: "{{pipeline.inputs.rows}}", inputs: {input: "{{item}}", expression: $ * 2}}]}`;
    folder.write('rows.yaml', definition('[1, 3, four]'));
    const submitted = await server.runs('submit rows.yaml', {
      cwd: folder.path,
      env: { WAVETRAIN_SERVER: server.url },
    });
    await server.registry.settled(submitted.stdout.trim());
    folder.write('rows.yaml', definition('[1, 3, 4]'));
    const { stdout, stderr } = await rerun('--file rows.yaml --watch --verbose', submitted.stdout.trim());
    expect(stdout).to.contain('t: [2, 6, 8]');
    expect(stderr)
      .to.contain('runs t: reads {{pipeline.inputs.rows}}, which has changed; 1 of 3 calls\n')
      .and.to.match(/ t\[0\] reused\n/)
      .and.to.match(/ t\[2\] finished\n/);
  });

  it('explains an invalid file at its lines, exits with 1 and runs nothing', async () => {
    folder.write('typo.yaml', 'id: x\ngoal: g\ntasks:\n  - {id: a, tool: mok}\n');
    const before = server.registry.list({ limit: 500 }).runs.length;
    const { status, stdout, stderr } = await rerun('--file typo.yaml');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr)
      .to.contain('typo.yaml:4:19 error: there is no tool "mok"\n    4 |   - {id: a, tool: mok}')
      .and.to.contain('typo.yaml is not valid');
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });

  it('shows the warnings about a changed file, which do not keep it from running', async () => {
    const warned = FIXED.replace('{{broken.output}}', '{{broken.status}}');
    folder.write('warned.json', warned);
    const { status, stderr } = await rerun('--file warned.json');
    expect(status).to.equal(0);
    expect(stderr).to.match(/^warned\.json:\d+:\d+ warning: [^]*1 warning\nreuses 2 of 4 tasks/);
  });

  it('sends a plan with the pipelines in its folder, and names its sub-pipelines in messages', async () => {
    const plan = (tool: string): object => ({
      id: 'p',
      goal: 'g',
      sub_pipelines: [
        { id: 'one', pipeline: { id: 'o', goal: 'g', tasks: [{ id: 't', tool: 'mock' }] } },
        { id: 'two', pipeline: { id: 'w', goal: 'g', tasks: [{ id: 't', tool, inputs: { message: 'm' } }] } },
      ],
    });
    const { body } = await server.request<{ run_id: string }>('POST', '/plans/run_async', {
      plan: plan('fail'),
    });
    await server.registry.settled(body.run_id);
    folder.write('plan.yaml', 'plan: {id: p, goal: g, sub_pipelines: [{id: one}, {id: two}]}');
    folder.write('one.yaml', 'id: o\ngoal: g\ntasks: [{id: t, tool: mock}]\n');
    folder.write('two.yaml', 'id: w\ngoal: g\ntasks: [{id: t, tool: mock, inputs: {message: m}}]\n');
    const { stdout, stderr } = await rerun('--file plan.yaml', body.run_id);
    expect(stderr).to.equal('reuses 1 of 2 tasks: one/t\nruns two/t: calls another tool\n');
    await server.registry.settled(stdout.trim());
    const same = await rerun('--file plan.yaml', stdout.trim());
    expect(same.stderr).to.contain('name a sub-pipeline with --from ID');
    const mistyped = await rerun('--from tw', body.run_id);
    expect(mistyped.stderr).to.contain('did you mean --from two?');
  });

  it('exits with 2 for flags of the other kind, and for changes that make no difference', async () => {
    const misplaced = await rerun('--file fixed.json --plan-concurrency 2');
    expect(misplaced).to.include({ status: 2 });
    expect(misplaced.stderr).to.contain('--plan-concurrency is for plans');
    const done = (await rerun('--file fixed.json')).stdout.trim();
    await server.registry.settled(done);
    const same = await rerun('--file fixed.json', done);
    expect(same.status).to.equal(2);
    expect(same.stderr).to.contain('nothing that its tasks are or read has changed');
  });
});
