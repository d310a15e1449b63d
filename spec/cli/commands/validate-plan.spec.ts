import { expect } from 'chai';
import { stripVTControlCharacters } from 'node:util';
import type { PlanReport } from '../../../lib/plans/report.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke, Screen } from '../invoke.js';

const PLAN = `plan:
  id: quarterly
  goal: report on the quarter
  inputs: {city: Oslo}
  sub_pipelines:
    - {id: ingest, reads: [since], stores: [texts], inputs: [city]}
    - {id: figures, reads: [texts], stores: [figures], file: deep/figures.yaml}
    - {id: words, reads: [texts], stores: [words], pipeline: {id: w, goal: g, tasks: [
        {id: keep, tool: store, inputs: {key: words, value: "{{session.texts}}"}}]}}
    - {id: report, reads: [figures, words]}
`;
const INGEST = `id: ingest
goal: g
inputs: {city: Rome}
tasks:
  - {id: keep, tool: store, inputs: {key: texts, value: "{{pipeline.inputs.city}} {{session.since}}"}}
`;
const FIGURES = `id: figures
goal: g
tasks:
  - id: keep
    tool: store
    inputs: {key: figures, value: "{{session.texts}}"}
`;
const REPORT = `id: report
goal: g
tasks: [{id: write, tool: mock, inputs: {a: "{{session.figures}}", b: "{{session.words}}"}}]
`;
const SINCE = ['--session', '{"since": 2020}'];

describe('validate with a plan', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('plans/plan.yaml', PLAN);
    folder.write('plans/ingest.yaml', INGEST);
    folder.write('plans/deep/figures.yaml', FIGURES);
    folder.write('plans/report.json', JSON.stringify({ pipeline: { id: 'report', goal: 'g', tasks: [] } }));
    folder.write('plans/report.yaml', REPORT);
  });
  afterEach(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  it('prints the order, the waves, and which sub-pipelines store and read each key (D45)', async () => {
    const { status, stdout, stderr } = await at(['validate', 'plans/plan.yaml', ...SINCE]);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout.split('\n')).to.deep.equal([
      '✓ plans/plan.yaml is valid',
      '  id: quarterly',
      '  goal: report on the quarter',
      '  sub_pipelines: 4',
      '  inputs_count: 1',
      '  order: ingest -> figures -> words -> report',
      '  waves: 3',
      '    1: ingest',
      '    2: figures, words',
      '    3: report',
      '  plan_concurrency: 1',
      '  tasks: 4',
      '',
      '  key      stored by  read by',
      '  since    (given)    ingest',
      '  texts    ingest     figures, words',
      '  figures  figures    report',
      '  words    words      report',
      '',
    ]);
  });

  it('prints the handlers of a plan, wave by wave, with their lists (D80)', async () => {
    const handlers = [
      '  on_failure:',
      '    - {id: alert, tool: mock}',
      '    - {id: again, tool: mock, await: [alert]}',
      '  finally: [{id: broom, tool: mock}, {id: clean, tool: mock}]',
    ];
    folder.write('plans/plan.yaml', `${PLAN.trimEnd()}\n${handlers.join('\n')}\n`);
    const { status, stdout } = await at(['validate', 'plans/plan.yaml', ...SINCE]);
    expect(status).to.equal(0);
    expect(stdout).to.contain(
      [
        '  tasks: 4',
        '  handlers: 4',
        '    on_failure: alert',
        '    on_failure: again',
        '    finally: broom, clean',
        '',
        '  key ',
      ].join('\n'),
    );
  });

  it('reads the pipelines of a plan from standard input in the working directory', async () => {
    const cwd = folder.at('plans');
    const { status, stdout } = await at(['validate', '-', ...SINCE], { cwd, input: PLAN });
    expect(status).to.equal(0);
    expect(stdout).to.contain('standard input is valid');
    const elsewhere = await at(['validate', '-', ...SINCE], { input: PLAN });
    expect(elsewhere.status).to.equal(0);
    expect(elsewhere.stderr).to.contain('there is no ingest.yaml');
  });

  describe('with pipeline files that are not there yet (D55)', () => {
    beforeEach(() => {
      folder.write(
        'draft.yaml',
        `plan:
  id: draft
  sub_pipelines:
    - {id: ingest, stores: [texts], file: later.yaml}
    - {id: report, reads: [texts]}
`,
      );
    });

    it('warns, and reports what the plan declares', async () => {
      const { status, stdout, stderr } = await at(['validate', 'draft.yaml']);
      expect(status).to.equal(0);
      expect(stdout).to.contain('draft.yaml is valid').and.contain('order: ingest -> report');
      expect(stderr).to.match(
        /^draft\.yaml:4:\d+ warning: sub-pipeline "ingest": there is no file "later\.yaml" in .*, so only the declaration of "ingest" in the plan was checked$/m,
      );
      expect(stderr).to.contain('2 warnings');
      const { warnings } = JSON.parse((await at(['validate', 'draft.yaml', '--json'])).stdout);
      expect(warnings).to.have.length(2);
    });

    it('is an error for run and graph, and for validate --strict', async () => {
      for (const argv of [['run'], ['graph'], ['validate', '--strict']]) {
        const { status, stdout, stderr } = await at([...argv, 'draft.yaml']);
        expect({ status, stdout }, argv[0]).to.deep.equal({ status: 1, stdout: '' });
        expect(stderr).to.contain('error: sub-pipeline "ingest": there is no file').and.contain('2 errors');
      }
    });
  });

  it('shows a problem in a pipeline file with the name, position and line of that file (D46)', async () => {
    folder.write('plans/deep/figures.yaml', FIGURES.replace('tool: store', 'tool: stor'));
    folder.write('plans/report.yaml', REPORT.replace('session.words', 'session.figures'));
    const { status, stdout, stderr } = await at(['validate', 'plans/plan.yaml', ...SINCE]);
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.contain('plans/deep/figures.yaml:5:11 error: ');
    expect(stderr).to.contain(
      '    5 |     tool: stor\n      |           ^^^^\n  hint: did you mean "store"?',
    );
    expect(stderr).to.contain('plans/plan.yaml is not valid');
  });

  it('names pipeline files relative to the working directory for a plan from standard input', async () => {
    folder.write('ingest.yaml', INGEST.replace('tool: store', 'tool: stor'));
    const input = 'plan: {id: p, sub_pipelines: [{id: ingest, reads: [since], stores: [texts]}]}\n';
    const { stderr } = await at(['validate', '-', ...SINCE], { input });
    expect(stderr).to.match(/^ingest\.yaml:5:\d+ error/m);
  });

  it('prints the report as one JSON document and nothing else with --json (D33, D41)', async () => {
    for (const [session, ok] of [
      [SINCE, true],
      [[], false],
    ] as const) {
      const { status, stdout, stderr } = await at(['validate', 'plans/plan.yaml', '--json', ...session]);
      const report: PlanReport = JSON.parse(stdout);
      expect(report).to.have.all.keys('ok', 'errors', 'warnings', 'problems', 'message', 'stats');
      expect(report.ok).to.equal(ok);
      expect({ status, stderr }).to.deep.equal({ status: ok ? 0 : 1, stderr: '' });
    }
  });

  describe('on a terminal', () => {
    const shown = async (columns: number, ...words: string[]): Promise<string[]> => {
      const stdout = new Screen(columns);
      const env = { TERM: 'xterm' };
      await at(['validate', ...words], { stdout, env });
      return stdout.text.split('\n').map(stripVTControlCharacters);
    };

    it('lists keys one below the other where the table does not fit', async () => {
      const lines = await shown(30, 'plans/plan.yaml', ...SINCE);
      expect(Math.max(...lines.slice(1).map(({ length }) => length))).to.be.below(30);
      expect(lines).to.include.members(['  texts', '    stored by ingest', '    read by figures, words']);
    });

    it('wraps a long list of readers', async () => {
      const readers = Array.from({ length: 9 }, (_, i) => `    - {id: reader_${i}, reads: [k]}`);
      for (let i = 0; i < 9; i++) {
        folder.write(
          `reader_${i}.yaml`,
          `id: r\ngoal: g\ntasks: [{id: t, tool: mock, inputs: {x: "{{session.k}}"}}]\n`,
        );
      }
      const store = '{id: t, tool: store, inputs: {key: k, value: 1}}';
      const writer = `    - {id: writer, stores: [k], pipeline: {id: w, goal: g, tasks: [${store}]}}`;
      folder.write('wide.yaml', ['plan:', '  id: p', '  sub_pipelines:', writer, ...readers, ''].join('\n'));
      const lines = await shown(60, 'wide.yaml');
      expect(lines).to.include('  k    writer     reader_0, reader_1, reader_2, reader_3,');
      expect(Math.max(...lines.map(({ length }) => length))).to.be.below(60);
    });

    it('shows the first waves and keys and counts the rest', async () => {
      const parts = Array.from({ length: 60 }, (_, i) => {
        const task = `{id: t, tool: store, inputs: {key: k${i}, value: ${i === 0 ? 1 : `"{{session.k${i - 1}}}"`}}}`;
        const reads = i === 0 ? '' : `reads: [k${i - 1}], `;
        return `    - {id: p${i}, ${reads}stores: [k${i}], pipeline: {id: p, goal: g, tasks: [${task}]}}`;
      });
      folder.write('many.yaml', ['plan:', '  id: many', '  sub_pipelines:', ...parts, ''].join('\n'));
      const lines = await shown(80, 'many.yaml');
      expect(lines).to.include('  … 10 more waves; a pipe or --json gets all of them');
      expect(lines).to.include('  … 10 more keys; a pipe or --json gets all of them');
      const { stdout } = await at(['validate', 'many.yaml']);
      expect(stdout).to.contain('\n    60: p59\n').and.not.to.contain('…');
    });
  });
});
