import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Json } from '../../../lib/common/json/json.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';
import { GREET, NAME } from '../../support/definitions/greet.js';

describe('run', () => {
  const folder = new TemporaryFolder();
  before(() => folder.write('greet.yaml', GREET));
  after(() => folder.remove());

  const at = (argv: readonly string[], options = {}) => invoke(argv, { cwd: folder.path, ...options });

  describe('with a valid pipeline', () => {
    it('prints Outputs and Stats as one YAML document, and nothing else', async () => {
      const { status, stdout, stderr } = await at(['run', 'greet.yaml', ...NAME]);
      expect(status).to.equal(0);
      expect(stderr).to.equal('');
      const printed: Record<string, Record<string, Json>> = parse(stdout);
      expect(printed['Outputs']).to.have.all.keys('words', 'double', 'note', 'last');
      expect(printed['Outputs']?.['double']).to.equal(4);
      expect(printed['Stats']).to.deep.equal({ waves_executed: 2, tasks_executed: 4 });
    });

    it('prints only the outputs, as one JSON document on one line, with --json (D41)', async () => {
      const { status, stdout, stderr } = await at(['run', 'greet.yaml', ...NAME, '--json']);
      const outputs: Record<string, Json> = JSON.parse(stdout);
      expect(outputs).to.have.all.keys('words', 'double', 'note', 'last');
      expect(outputs['words']).to.deep.include({ inputs: { name: 'Ada', mood: 'kind' } });
      expect(stdout.match(/\n/g)).to.have.length(1);
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
    });

    it('reads the pipeline from standard input for - (D41)', async () => {
      expect((await at(['run', '-', ...NAME, '--json'], { input: GREET })).status).to.equal(0);
    });

    it('passes on params, inputs and session from flags and files (D42)', async () => {
      folder.write('params.json', '{"name": "Grace", "times": 5}');
      folder.write('session.json', '{"note": "from the file", "other": 1}');
      const run = (...flags: string[]) =>
        at(['run', 'greet.yaml', '--json', ...flags]).then(({ stdout }) => JSON.parse(stdout));
      const fromFiles = await run('--params', '@params.json', '--session-file', 'session.json');
      expect(fromFiles).to.deep.include({ double: 10, note: 'from the file' });
      const given = await run(
        '--inputs',
        '{"mood": "grim"}',
        '--params',
        '{"name": "A"}',
        '--session',
        '{"note": 7}',
      );
      expect(given.words.inputs).to.deep.equal({ name: 'A', mood: 'grim' });
      expect(given.note).to.equal(7);
      const both = await run(...NAME, '--session-file', 'session.json', '--session', '{"note": "mine"}');
      expect(both.note).to.equal('mine');
    });

    it('prints warnings, except with --quiet or --json', async () => {
      const input =
        'id: w\ngoal: g\ntasks: [{id: a, tool: mock}, {id: b, tool: mock, inputs: {x: "{{a.status}}"}}]\n';
      expect((await at(['run', '-'], { input })).stderr).to.contain('warning: ');
      expect((await at(['run', '-', '--quiet'], { input })).stderr).to.equal('');
      expect((await at(['run', '-', '--json'], { input })).stderr).to.equal('');
    });

    it('prints each event on a line with --verbose', async () => {
      const { stderr } = await at(['run', 'greet.yaml', ...NAME, '--verbose', '--json']);
      const lines = stderr.trimEnd().split('\n');
      expect(lines.filter((line) => / wave \d (started|settled)/.test(line))).to.have.length(4);
      expect(
        lines.filter((line) => /^[\d:.]{12} words (started \(mock\)|finished)/.test(line)),
      ).to.have.length(2);
      expect(lines.at(-1)).to.match(/^✓ succeeded in .*: 2 waves, 4 invocations$/);
    });

    it('writes each event as a line of JSON with --events (D42)', async () => {
      const { status } = await at(['run', 'greet.yaml', ...NAME, '--events', 'events.jsonl']);
      expect(status).to.equal(0);
      const lines = readFileSync(folder.at('events.jsonl'), 'utf8').trimEnd().split('\n');
      const events: { kind: string; seq: number }[] = lines.map((line) => JSON.parse(line));
      expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, index) => index + 1));
      expect(events.filter(({ kind }) => kind === 'finish')).to.have.length(4);
      expect(events.at(-1)).to.include({ kind: 'run', status: 'succeeded' });
    });

    it('sets variables from --env-file before any code reads them, and keeps those already set (D42)', async () => {
      folder.write('own/tools.mjs', 'export default { name: "own", inputs: {}, run: () => "mine" };');
      folder.write('service.env', 'SERVICE_TOOLS=./own/tools.mjs\nKEPT=file\n');
      const env: Record<string, string | undefined> = { KEPT: 'mine' };
      const input = 'id: e\ngoal: g\ntasks: [{id: a, tool: own}]\n';
      const { status, stdout } = await at(['run', '-', '--env-file', 'service.env', '--json'], {
        input,
        env,
      });
      expect(status).to.equal(0);
      expect(JSON.parse(stdout)).to.deep.equal({ a: 'mine' });
      expect(env).to.deep.include({ KEPT: 'mine', SERVICE_TOOLS: './own/tools.mjs' });
    });

    it('reads files beside the pipeline, in the working directory and in SERVICE_FILE_ROOTS (D51)', async () => {
      const roots = new TemporaryFolder();
      folder.write('deep/beside.txt', 'beside');
      folder.write('here.txt', 'here');
      roots.write('there.txt', 'there');
      const tasks = ['beside', 'here', 'there'].map(
        (id) => `{id: ${id}, tool: ingest_document, inputs: {path: ${id}.txt}}`,
      );
      folder.write('deep/read.yaml', `id: r\ngoal: g\ntasks: [${tasks.join(', ')}]\n`);
      const { stdout } = await at(['run', 'deep/read.yaml', '--json'], {
        env: { SERVICE_FILE_ROOTS: roots.path },
      });
      const outputs: Record<string, { text: string }> = JSON.parse(stdout);
      expect(Object.values(outputs).map(({ text }) => text)).to.deep.equal(['beside', 'here', 'there']);
      roots.remove();
    });
  });

  it('exits with 1 for an invalid pipeline and prints its problems on standard error only', async () => {
    const input = GREET.replace('tool: transform', 'tool: transfrom');
    const { status, stdout, stderr } = await at(['run', '-', ...NAME, '--json'], { input });
    expect(status).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.contain('standard input:10:').and.to.contain('transform');
  });

  it('exits with 3 when its events cannot be written', async function () {
    if (process.platform !== 'linux') this.skip();
    const { status, stdout, stderr } = await at([
      'run',
      'greet.yaml',
      ...NAME,
      '--events',
      '/dev/full',
      '--json',
    ]);
    expect(status).to.equal(3);
    expect(stderr).to.match(/cannot write the --events file \/dev\/full: the disk is full/);
    expect(JSON.parse(stdout)).to.have.property('words');
  });
});
