import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { PlanResult } from '../../../lib/execution/results.js';
import type { Json } from '../../../lib/common/json/json.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke, Screen } from '../invoke.js';

const PLAN = `plan:
  id: quarterly
  goal: report on the quarter
  inputs: {city: Oslo}
  sub_pipelines:
    - {id: ingest, reads: [since], stores: [texts], inputs: [city]}
    - {id: report, reads: [texts], stores: [said], file: deep/report.yaml}
`;
const INGEST = `id: ingest
goal: g
tasks:
  - {id: keep, tool: store, inputs: {key: texts, value: "{{pipeline.inputs.city}} since {{session.since}}"}}
`;
const REPORT = `id: report
goal: g
tasks:
  - {id: read, tool: mock, inputs: {text: "{{session.texts}}"}}
  - {id: say, tool: store, inputs: {key: said, value: "{{read.output.inputs.text}}!"}}
`;
const SINCE = ['--session', '{"since": 2020}'];

interface Printed {
  readonly Outputs: Record<string, Record<string, Json>>;
  readonly Blackboard: Record<string, Json>;
  readonly Stats: Record<string, number>;
}

describe('run with a plan', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('plans/plan.yaml', PLAN);
    folder.write('plans/ingest.yaml', INGEST);
    folder.write('plans/deep/report.yaml', REPORT);
  });
  afterEach(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });
  const runPlan = (...flags: string[]) => at(['run', 'plans/plan.yaml', ...SINCE, ...flags]);

  it('prints outputs by sub-pipeline, the blackboard and statistics as one YAML document (D42, D47)', async () => {
    const { status, stdout, stderr } = await runPlan();
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const printed: Printed = parse(stdout);
    expect(Object.keys(printed)).to.deep.equal(['Outputs', 'Blackboard', 'Stats']);
    expect(printed.Outputs['ingest']).to.deep.equal({ keep: 'Oslo since 2020' });
    expect(printed.Outputs['report']?.['say']).to.equal('Oslo since 2020!');
    expect(printed.Blackboard).to.deep.equal({ texts: 'Oslo since 2020', said: 'Oslo since 2020!' });
    expect(printed.Stats).to.deep.equal({ total_waves: 3, total_tasks_executed: 3 });
  });

  it('prints the result and nothing else with --json (D41, D47)', async () => {
    const { status, stdout, stderr } = await runPlan('--json');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const result: PlanResult = JSON.parse(stdout);
    expect(result).to.have.all.keys(
      'plan_id',
      'sub_results',
      'blackboard',
      'total_tasks_executed',
      'total_waves',
      'events',
    );
    expect(result.sub_results['ingest']).to.deep.include({ outputs: { keep: 'Oslo since 2020' } });
  });

  it('exits with 2 instead of overwriting its files with events', async () => {
    for (const file of ['plans/plan.yaml', 'plans/deep/report.yaml']) {
      const { status, stderr } = await runPlan('--events', file);
      expect(status).to.equal(2);
      expect(stderr).to.contain('would overwrite');
    }
    expect(readFileSync(folder.at('plans/deep/report.yaml'), 'utf8')).to.equal(REPORT);
  });

  it('prints each event with its sub-pipeline with --verbose', async () => {
    const { stderr } = await runPlan('--verbose');
    expect(stderr)
      .to.match(/ sub-pipeline ingest running\n/)
      .and.to.match(/ report wave 2 started \(1 task\)\n/)
      .and.to.match(/ report\/say finished in \d+ ms\n/)
      .and.to.match(/✓ succeeded in .*: 2 sub-pipelines, 3 waves, 3 invocations\n/);
  });

  it('exits with 2 for --params and suggests --inputs (D40)', async () => {
    const { status, stdout, stderr } = await runPlan('--params', '{"city": "Rome"}');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.contain('--params is for pipelines').and.to.contain('--inputs');
  });

  it('exits with 1 for an invalid plan, prints its problems and runs nothing (Plan, rule 3)', async () => {
    folder.write('plans/deep/report.yaml', REPORT.replace('tool: mock', 'tool: mok'));
    const { status, stdout, stderr } = await runPlan('--events', 'events.jsonl');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.contain('plans/deep/report.yaml:4:22 error');
    expect(() => readFileSync(folder.at('events.jsonl'))).to.throw();
  });

  it('lets tools read beside the plan and beside each of its pipelines (D51)', async () => {
    const read = (file: string): string =>
      `id: r\ngoal: g\ntasks: [{id: read, tool: ingest_document, inputs: {path: ${file}}}]\n`;
    folder.write('plans/deep/near.txt', 'near the pipeline');
    folder.write('plans/top.txt', 'near the plan');
    folder.write('plans/deep/a.yaml', read('near.txt'));
    folder.write('plans/deep/b.yaml', read('top.txt'));
    folder.write(
      'plans/files.yaml',
      'plan: {id: p, sub_pipelines: [{id: a, file: deep/a.yaml}, {id: b, file: deep/b.yaml}]}\n',
    );
    const { status, stdout, stderr } = await at(['run', 'plans/files.yaml', '--json']);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.contain('near the pipeline').and.to.contain('near the plan');
  });

  it('exits with 3 for a failed plan and prints sub-pipeline, task and error, and which sub-pipelines succeeded or never started', async () => {
    const fail = '{id: boom, tool: fail, inputs: {message: no luck}}';
    folder.write(
      'failing.yaml',
      `plan:
  id: failing
  sub_pipelines:
    - {id: first, stores: [a], pipeline: {id: f, goal: g, tasks: [{id: t, tool: store, inputs: {key: a, value: 1}}]}}
    - {id: second, reads: [a], stores: [b], pipeline: {id: s, goal: g, tasks: [
        ${fail}, {id: t, tool: store, inputs: {key: b, value: "{{session.a}}"}}]}}
    - {id: third, reads: [b], pipeline: {id: t, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{session.b}}"}}]}}
    - {id: fourth, reads: [b], pipeline: {id: t, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{session.b}}"}}]}}
`,
    );
    for (const flags of [[], ['--json'], ['--quiet']]) {
      const { status, stdout, stderr } = await at(['run', 'failing.yaml', ...flags]);
      expect(status).to.equal(3);
      if (flags[0] !== '--json') expect(stdout).to.equal('');
      else expect(JSON.parse(stdout).outputs).to.deep.equal({ first: { t: 1 }, second: { t: 1 } });
      const [summary, ...rest] = stderr.split('\n');
      expect(summary).to.match(
        /^✗ failed in .*: of 4 sub-pipelines 1 succeeded, 1 failed, 2 not started; 2 of 4 waves, 3 invocations$/,
      );
      expect(rest).to.deep.equal([
        '  second/boom after 1 attempt: no luck',
        '    inputs: {"message": "no luck", "times": null}',
        '  succeeded: first',
        '  not started: third, fourth',
        '  hint: --verbose prints every event, whole inputs and stacks; --partial prints the outputs of what succeeded',
        '  hint: a run that is kept can be looked at, and rerun from where it failed: run without --no-store, in CI with --store FOLDER',
        '',
      ]);
    }
  });

  describe('on a terminal', () => {
    const onScreen = async (file: string): Promise<{ stdout: string; stderr: string }> =>
      at(['run', file, ...SINCE], { stdout: new Screen(60), stderr: new Screen(60), env: { NO_COLOR: '1' } });

    it('draws a row for each sub-pipeline, and sums up', async () => {
      const { stderr } = await onScreen('plans/plan.yaml');
      expect(stderr).to.match(/✓ ingest {2}1 wave {2}\d+ ms\n✓ report {2}2 waves {2}\d+ ms\n✓ succeeded/);
    });

    it('shortens long outputs and hints at --full', async () => {
      const parts = Array.from({ length: 70 }, (_, i) => {
        const task = `{id: t, tool: store, inputs: {key: k${i}, value: "${'x'.repeat(100)}"}}`;
        return `    - {id: p${i}, stores: [k${i}], pipeline: {id: p, goal: g, tasks: [${task}]}}`;
      });
      folder.write('many.yaml', ['plan:', '  id: many', '  sub_pipelines:', ...parts, ''].join('\n'));
      const { stdout } = await onScreen('many.yaml');
      expect(stdout).to.contain('  … 20 more sub-pipelines\nBlackboard:\n');
      expect(stdout).to.contain('  … 20 more keys\nStats:\n').and.to.contain('# shortened: --full');
      for (const line of stdout.split('\n').slice(0, -2)) expect(line.length).to.be.below(60);
      const { Outputs }: Printed = parse((await at(['run', 'many.yaml', '--full'])).stdout);
      expect(Object.keys(Outputs)).to.have.length(70);
    });
  });
});
