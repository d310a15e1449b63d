import { expect } from 'chai';
import { chmodSync, truncateSync } from 'node:fs';
import type { ValidationReport } from '../../../lib/pipelines/report.js';
import { asUnprivilegedUser } from '../../support/unprivileged-user.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke, Screen } from '../invoke.js';

const SOUND = `pipeline:
  id: demo
  goal: add up
  inputs: {city: Oslo, days: 3}
  tasks:
    - {id: list, tool: transform, inputs: {input: 0, expression: "[1..3]"}}
    - id: each
      tool: mock
      retry: 2
      parallel_over: "{{list.output}}"
      inputs: {n: "{{item}}", city: "{{pipeline.inputs.city}}"}
    - {id: keep, tool: store, retry: 1, inputs: {key: total, value: "{{each.output.length}}"}}
`;

describe('validate', () => {
  const folder = new TemporaryFolder();
  before(() => {
    folder.write('sound.yaml', SOUND);
    folder.write('typo.yaml', SOUND.replace('tool: mock', 'tool: mok').replace('list.output', 'lits.output'));
    folder.write(
      'warned.yaml',
      SOUND.replace('add up', 'add up').replace('city: "{{', 'late: "{{session.none}}", city: "{{'),
    );
  });
  after(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  it('prints that the pipeline is valid, and exactly the statistics of the specification', async () => {
    const { status, stdout, stderr } = await at(['validate', 'sound.yaml']);
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    expect(stdout.split('\n')).to.deep.equal([
      '✓ sound.yaml is valid',
      '  id: demo',
      '  goal: add up',
      '  tasks: 3',
      '  tools: [mock, store, transform]',
      '  inputs_count: 2',
      '  store_keys: [total]',
      '  waves: 3',
      '  wave_sizes: [1, 1, 1]',
      '  fan_out_tasks: 1',
      '  total_retries: 3',
      '',
    ]);
  });

  it('reads standard input for - (D41)', async () => {
    const { status, stdout } = await at(['validate', '-'], { input: SOUND });
    expect(status).to.equal(0);
    expect(stdout).to.contain('standard input is valid');
  });

  it('shows every problem with its position, line, caret and hint, and exits with 1 (D8, D40)', async () => {
    const { status, stdout, stderr } = await at(['validate', 'typo.yaml']);
    expect(status).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.contain('typo.yaml:8:13 error: ');
    expect(stderr).to.contain('    8 |       tool: mok\n      |             ^^^\n');
    expect(stderr).to.match(/typo\.yaml:10:\d+ error: .*lits/);
    expect(stderr).to.match(/hint: .*mock/);
    expect(stderr).to.contain('2 errors\n').and.to.contain('typo.yaml is not valid');
  });

  it('shows warnings and exits with 0 (D9)', async () => {
    const { status, stdout, stderr } = await at(['validate', 'warned.yaml']);
    expect(status).to.equal(0);
    expect(stdout).to.contain('warned.yaml is valid');
    expect(stderr).to.contain('warning: ').and.to.contain('1 warning\n');
  });

  it('counts warnings as errors with --strict (D55)', async () => {
    const { status, stdout, stderr } = await at(['validate', 'warned.yaml', '--strict']);
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.contain('1 error\n').and.to.contain('warned.yaml is not valid');
    const json = await at(['validate', 'warned.yaml', '--strict', '--json']);
    expect(json.status).to.equal(1);
    const { ok, errors, warnings, stats } = JSON.parse(json.stdout) as ValidationReport;
    expect({ ok, warnings, stats }).to.deep.equal({ ok: false, warnings: [], stats: null });
    expect(errors).to.have.length(1);
    expect((await at(['validate', 'sound.yaml', '--strict'])).status).to.equal(0);
  });

  it('takes the same session values and inputs as a run (D5, D9)', async () => {
    const { stderr } = await at(['validate', 'warned.yaml', '--session', '{"none": 1}']);
    expect(stderr).to.equal('');
    const wanting = SOUND.replace('city: Oslo, ', '');
    expect((await at(['validate', '-'], { input: wanting })).status).to.equal(1);
    expect((await at(['validate', '-', '--inputs', '{"city": "Rome"}'], { input: wanting })).status).to.equal(
      0,
    );
  });

  it('prints the report as one JSON document and nothing else with --json (D33, D41)', async () => {
    for (const [file, ok] of [
      ['sound.yaml', true],
      ['typo.yaml', false],
      ['warned.yaml', true],
    ] as const) {
      const { status, stdout, stderr } = await at(['validate', file, '--json']);
      const report: ValidationReport = JSON.parse(stdout);
      expect(report.ok).to.equal(ok);
      expect(report).to.have.all.keys('ok', 'errors', 'warnings', 'problems', 'message', 'stats');
      expect(stdout.trimEnd()).not.to.contain('\n');
      expect(stderr).to.equal('');
      expect(status).to.equal(ok ? 0 : 1);
    }
  });

  it('shows only the first problems on a terminal and counts the rest', async () => {
    const tasks = Array.from({ length: 60 }, (_, i) => `    - {id: t${i}, tool: none}`);
    const input = ['pipeline:', '  id: x', '  goal: x', '  tasks:', ...tasks].join('\n');
    const onScreen = await at(['validate', '-'], { input, stderr: new Screen(), env: { NO_COLOR: '1' } });
    expect(onScreen.stderr).to.contain('… 30 more; --json shows them all').and.to.contain('60 errors');
    const narrow = await at(['validate', '-'], { input, stderr: new Screen(30), env: { NO_COLOR: '1' } });
    expect(narrow.stderr).to.contain('\n… 30 more; --json shows\n  them all\n');
    const inFile = await at(['validate', '-'], { input });
    expect(inFile.stderr.match(/ error: /g)).to.have.length(60);
  });

  it('escapes control characters of a file', async () => {
    const input = 'pipeline:\n  id: "\\e[2J"\n  goal: "\u202eevil"\n  tool\u0007: x\n  tasks: []\n';
    const { stderr } = await at(['validate', '-'], { input });
    // oxlint-disable-next-line no-control-regex -- none may be left
    expect(stderr).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  describe('exits with 2 and the reason for a file that cannot be read (D40)', () => {
    const refused = async (name: string, why: RegExp): Promise<void> => {
      const { status, stdout, stderr } = await at(['validate', name]);
      expect(status).to.equal(2);
      expect(stdout).to.equal('');
      expect(stderr).to.match(why);
    };

    it('when it is missing', () =>
      refused('none.yaml', /cannot read the file none\.yaml: there is no such file/));
    it('when its folder is missing', () => refused('none/x.yaml', /there is no such file/));
    it('when its folder is a file', () => refused('sound.yaml/x', /there is no such file/));
    it('when it is a folder', () => refused('.', /cannot read the file \.: it is a folder/));

    it('when it is not UTF-8', async () => {
      folder.write('latin.yaml', Buffer.from([0x67, 0xe9, 0x0a]));
      await refused('latin.yaml', /latin\.yaml: it is not UTF-8 text; save it as UTF-8/);
    });

    it('when it is UTF-16', async () => {
      folder.write('wide.yaml', Buffer.from('\ufeffpipeline:', 'utf16le'));
      await refused('wide.yaml', /wide\.yaml: it looks like UTF-16; save it as UTF-8/);
    });

    it('when it is too large', async () => {
      truncateSync(folder.write('large.yaml', ''), 65 * 1024 * 1024);
      await refused('large.yaml', /large\.yaml is larger than 64 MiB/);
    });

    it('when reading is not permitted', async () => {
      chmodSync(folder.write('secret.yaml', SOUND), 0);
      await asUnprivilegedUser(() => refused('secret.yaml', /permission denied/));
    });
  });
});
