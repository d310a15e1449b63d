import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { GREET } from '../../support/definitions/greet.js';
import { type RunsServer, useRunsServer } from './runs-server.js';

describe('wavetrain runs submit', () => {
  const server = useRunsServer();
  const folder = new TemporaryFolder();
  before(() => {
    folder.write('greet.yaml', GREET);
    folder.write('params.json', '{"name": "Ada"}');
    folder.write('plan.yaml', 'plan: {id: letter, sub_pipelines: [{id: write, stores: [k]}]}');
    folder.write('write.yaml', 'id: w\ngoal: g\ntasks: [{id: t, tool: store, inputs: {key: k, value: 1}}]\n');
  });
  after(() => folder.remove());

  const submit = (args: string, newId = (): string => crypto.randomUUID()): ReturnType<RunsServer['runs']> =>
    server.runs(`submit ${args}`, { cwd: folder.path, env: { WAVETRAIN_SERVER: server.url }, newId });

  it('prints the id of the run, or with --json the accepted run', async () => {
    const { status, stdout, stderr } = await submit('greet.yaml --params @params.json --tenant acme');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const record = await server.registry.settled(stdout.trim());
    expect(record).to.include({ status: 'succeeded', tenant_id: 'acme', goal: 'greet Ada' });
    const accepted: object = JSON.parse((await submit('greet.yaml --params @params.json --json')).stdout);
    expect(accepted).to.have.all.keys('run_id', 'status');
  });

  it('gives the run labels with --label, by which runs list filters and which runs show shows (D76)', async () => {
    const { stdout } = await submit(
      'greet.yaml --params @params.json --label team=billing --label url:http://x?a=b',
    );
    const id = stdout.trim();
    const { labels } = await server.registry.settled(id);
    expect(labels).to.deep.equal({ team: 'billing', url: 'http://x?a=b' });
    const list = async (flags: string): Promise<object[]> =>
      JSON.parse((await server.runs(`list --json ${flags}`)).stdout).runs;
    expect(await list('--label team=billing --label url=http://x?a=b')).to.have.length(1);
    expect((await list('--label team:billing'))[0]).to.deep.include({ run_id: id, labels });
    expect(await list('--label team=billing --label url=x')).to.deep.equal([]);
    expect((await server.runs(`show ${id}`)).stdout).to.match(
      /\nlabels +team=billing, url=http:\/\/x\?a=b\n/,
    );
    const rerun = await server.runs(`rerun ${id} --label team=ops`);
    expect((await server.registry.settled(rerun.stdout.trim())).labels).to.deep.equal({
      ...labels,
      team: 'ops',
    });
    expect(rerun.stderr, 'everything runs again').to.equal('');
  });

  it('exits with 2 for a label without a value, or one that cannot be', async () => {
    const none = await submit('greet.yaml --params @params.json --label team');
    expect(none.status).to.equal(2);
    expect(none.stderr)
      .to.contain('--label must be a name and a value, not "team"')
      .and.to.contain('--label team=billing');
    expect((await server.runs('list --label team')).stderr).to.contain('--label must be a name and a value');
  });

  it('submits a plan with the pipelines in its folder', async () => {
    const { stdout } = await submit('plan.yaml');
    expect(await server.registry.settled(stdout.trim())).to.include({ kind: 'plan', status: 'succeeded' });
  });

  it('watches the run with --watch, prints its outputs and exits with its status', async () => {
    const { status, stdout, stderr } = await submit('greet.yaml --params @params.json --watch');
    expect(status).to.equal(0);
    expect(stderr).to.match(/^submitted [0-9a-f-]{36}\n$/);
    expect(stdout).to.match(/^Outputs:\n {2}words:/);
  });

  it('exits with 1 for an invalid file and with 2 for a missing param, and submits nothing', async () => {
    folder.write('typo.yaml', GREET.replace('tool: transform', 'tool: transfrom'));
    const before = server.registry.list({ limit: 500 }).runs.length;
    const typo = await submit('typo.yaml --json');
    expect(typo).to.include({ status: 1, stdout: '' });
    expect(typo.stderr).to.contain('typo.yaml:10:').and.to.contain('did you mean "transform"?');
    const missing = await submit('greet.yaml');
    expect(missing.status).to.equal(2);
    expect(missing.stderr).to.contain('try: wavetrain runs submit greet.yaml --params');
    expect(server.registry.list({ limit: 500 }).runs).to.have.length(before);
  });

  it('sends an idempotency key, so that a repeated request starts one run (D36)', async () => {
    const first = await submit('greet.yaml --params @params.json', () => 'the same');
    const second = await submit('greet.yaml --params @params.json', () => 'the same');
    expect(second.stdout).to.equal(first.stdout);
  });
});
