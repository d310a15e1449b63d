import { expect } from 'chai';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { useRunsServer } from './runs-server.js';

const planText = (tool: string): string => `plan:
  id: quarterly
  sub_pipelines:
    - {id: ingest, stores: [k], pipeline: {id: i, goal: g, tasks: [{id: keep, tool: store, inputs: {key: k, value: 7}}]}}
    - {id: report, reads: [k], pipeline: {id: r, goal: g, tasks: [
        {id: write, tool: ${tool}, inputs: {message: "no {{session.k}}"}}]}}
`;

/** Adds a third sub-pipeline, which runs last. */
const addSubPipeline = (text: string): string =>
  text
    .replace('reads: [k]', 'reads: [k], stores: [l]')
    .replace(
      '"no {{session.k}}"}}]',
      '"no {{session.k}}"}}, {id: l, tool: store, inputs: {key: l, value: 1}}]',
    )
    .concat('    - {id: last, reads: [l], pipeline: {id: l, goal: g, tasks: [{id: t, tool: mock}]}}\n');

describe('wavetrain runs, for plans', () => {
  const server = useRunsServer();

  /** Runs a plan and resolves with the run id. */
  async function settled(text = planText('mock')): Promise<string> {
    const check = checkPlan(text, { catalog: builtinCatalog() });
    if (!check.ok || check.plan === undefined) throw new Error(JSON.stringify(check.problems));
    const runId = await server.registry.submitPlan({ plan: check.plan });
    await server.registry.settled(runId);
    return runId;
  }

  it('list marks plans', async () => {
    await settled();
    expect((await server.runs('list')).stdout).to.match(/succeeded .* 2\/2 +quarterly \(plan\)\n/);
  });

  it('show prints sub-pipelines, outputs and blackboard', async () => {
    const { status, stdout } = await server.runs(`show ${await settled()}`);
    expect(status).to.equal(0);
    expect(stdout)
      .to.match(/^plan +quarterly$/m)
      .and.not.to.match(/^goal/m);
    expect(stdout).to.contain('2 of 2 sub-pipelines, 2 of 2 waves, 2 of 2 tasks, 2 invocations\n');
    expect(stdout).to.contain('Outputs:\n  ingest:\n    keep: 7\n  report:\n');
    expect(stdout).to.contain('Blackboard:\n  k: 7\nStats:\n  total_waves: 2\n');
  });

  it('show names the sub-pipeline and task of each failure', async () => {
    const { stdout } = await server.runs(`show ${await settled(planText('fail'))}`);
    expect(stdout).to.contain('Failures:\n  report/write after 1 attempt: no 7\n');
    expect(stdout).to.match(/^error +sub-pipeline "report", task "write": no 7$/m);
  });

  it('show lists the sub-pipelines of a failed plan that succeeded or did not start', async () => {
    const runId = await settled(addSubPipeline(planText('fail')));
    const { stdout } = await server.runs(`show ${runId}`);
    expect(stdout).to.match(
      /^progress +of 3 sub-pipelines 1 succeeded, 1 failed, 1 not started; 2 of 3 waves,/m,
    );
    expect(stdout).to.contain('  succeeded: ingest\n  not started: last\n  hint: ');
  });

  it('watch prints the failures of a plan and how to rerun it', async () => {
    const runId = await settled(addSubPipeline(planText('fail')));
    for (const flags of ['', ' --json', ' --quiet']) {
      const { status, stdout, stderr } = await server.runs(`watch ${runId}${flags}`);
      expect(status).to.equal(3);
      if (flags !== ' --json') expect(stdout).to.equal('');
      else expect(JSON.parse(stdout).outputs).to.deep.equal({ ingest: { keep: 7 }, report: { l: 1 } });
      const lines = stderr.slice(stderr.indexOf('✗')).split('\n');
      expect(lines.shift()).to.match(
        /^✗ failed in .*: of 3 sub-pipelines 1 succeeded, 1 failed, 1 not started; 2 of 3 waves, 3 invocations$/,
      );
      expect(lines).to.deep.equal([
        '  report/write after 1 attempt: no 7',
        '    inputs: {"message": "no 7", "times": null}',
        '  succeeded: ingest',
        '  not started: last',
        `  hint: wavetrain runs show ${runId} --task report/write`,
        '    shows its inputs, its attempts and where it failed',
        `  hint: wavetrain runs rerun ${runId} --from failed`,
        '    reruns everything that has not succeeded; with --file FILE, from the changed file',
        '',
      ]);
    }
  });
});
