import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

const INPUT = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]\n';

const PLAN = `plan:
  id: p
  sub_pipelines:
    - {id: a, stores: [k], pipeline: {id: a, goal: g, tasks: [{id: t, tool: store, inputs: {key: k, value: 1}}]}}
    - {id: b, reads: [k], pipeline: {id: b, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "{{session.k}}"}}]}}
`;

describe('graph', () => {
  it('draws text by default, and Mermaid, dot or SVG with --format', async () => {
    expect((await invoke(['graph', '-'], { input: INPUT })).stdout).to.match(/^wave 1 +wave 2\n/);
    expect((await invoke(['graph', '-', '--format', 'mermaid'], { input: INPUT })).stdout).to.contain(
      'flowchart LR',
    );
    expect((await invoke(['graph', '-', '--format', 'dot'], { input: INPUT })).stdout).to.match(
      /^digraph "p"/,
    );
    const svg = await invoke(['graph', '-', '--format', 'svg'], { input: INPUT });
    expect(svg.stdout).to.match(/^<svg xmlns=[^]*<\/svg>\n$/);
  });

  it('prints waves and edges as one JSON document with --json (D41)', async () => {
    const { stdout, stderr } = await invoke(['graph', '-', '--json'], { input: INPUT });
    expect(JSON.parse(stdout)).to.have.all.keys('id', 'goal', 'waves', 'edges');
    expect(stderr).to.equal('');
  });

  it('draws the sub-pipelines of a plan and the keys they pass on (D43)', async () => {
    const { status, stdout } = await invoke(['graph', '-'], { input: PLAN });
    expect(status).to.equal(0);
    expect(stdout)
      .to.match(/^wave 1 +wave 2\n/)
      .and.to.contain('<- a: k');
    const chart = await invoke(['graph', '-', '--format', 'mermaid'], { input: PLAN });
    expect(chart.stdout).to.contain('p0 -->|"k"| p1');
    const digraph = await invoke(['graph', '-', '--format', 'dot'], { input: PLAN });
    expect(digraph.stdout).to.contain('"a" -> "b" [label="k"]');
    const svg = await invoke(['graph', '-', '--format', 'svg'], { input: PLAN });
    expect(svg.stdout)
      .to.contain('<title>b reads from a: k</title>')
      .and.to.match(/class="label"[^>]*>k</);
    const json: object = JSON.parse((await invoke(['graph', '-', '--json'], { input: PLAN })).stdout);
    expect(json).to.have.all.keys('id', 'goal', 'waves', 'edges');
  });

  it('takes the same session values as a run: a key that is read must have a source (Plan, rule 3)', async () => {
    const input = PLAN.replace('id: a, stores', 'id: a, reads: [since], stores').replace(
      'value: 1',
      'value: "{{session.since}}"',
    );
    expect((await invoke(['graph', '-'], { input })).status).to.equal(1);
    expect((await invoke(['graph', '-', '--session', '{"since": 1}'], { input })).status).to.equal(0);
  });

  it('exits with 1 for an invalid plan and prints its problems', async () => {
    const { status, stdout, stderr } = await invoke(['graph', '-'], { input: PLAN.replace('mock', 'mok') });
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.contain('did you mean "mock"?');
  });

  describe('with --output', () => {
    let folder: TemporaryFolder;
    beforeEach(() => void (folder = new TemporaryFolder()));
    afterEach(() => folder.remove());
    const draw = (...argv: string[]): ReturnType<typeof invoke> =>
      invoke(['graph', '-', ...argv], { input: INPUT, cwd: folder.path });
    const textOf = (name: string): string => readFileSync(folder.at(name), 'utf8');

    it('writes the format that the ending of the file says, and replaces a file that is there', async () => {
      const beginnings = {
        'p.svg': /^<svg xmlns=/,
        'p.mmd': /\nflowchart LR\n/,
        'p.mermaid': /\nflowchart LR\n/,
        'p.DOT': /^digraph "p"/,
        'p.gv': /^digraph "p"/,
        'p.txt': /^wave 1 +wave 2\n/,
        p: /^wave 1 +wave 2\n/,
      };
      folder.write('p.svg', 'an older drawing');
      for (const [name, beginning] of Object.entries(beginnings)) {
        const { status, stdout, stderr } = await draw('-o', name);
        expect({ status, stdout, stderr }).to.deep.equal({
          status: 0,
          stdout: '',
          stderr: `wrote ${name}\n`,
        });
        expect(textOf(name), name).to.match(beginning);
      }
      expect(textOf('p.svg')).to.equal((await draw('--format', 'svg')).stdout);
    });

    it('writes the format of --format whatever the ending of the file', async () => {
      expect((await draw('--output', 'p.svg', '--format', 'dot')).status).to.equal(0);
      expect(textOf('p.svg')).to.match(/^digraph "p"/);
    });

    it('exits with 2 for an ending that is no format, beside --json, and for its own definition, and writes nothing', async () => {
      const unknown = await draw('-o', 'p.png');
      expect(unknown.status).to.equal(2);
      expect(unknown.stderr).to.contain('".png" is no format of --output').and.to.contain('.mmd');
      const json = await draw('-o', 'p.svg', '--json');
      expect(json.status).to.equal(2);
      expect(json.stderr).to.contain('--json prints to standard output');
      const itself = await invoke(['graph', 'p.yaml', '--format', 'dot', '-o', './p.yaml'], {
        cwd: folder.path,
      });
      expect(itself.stderr).to.contain('--output would replace the definition itself');
      expect(readdirSync(folder.path)).to.deep.equal([]);
    });

    it('says why a file cannot be written, and writes none for an invalid pipeline', async () => {
      const { status, stderr } = await draw('-o', 'missing/p.svg');
      expect(status).to.equal(2);
      expect(stderr).to.contain('cannot write missing/p.svg: there is no such folder');
      const input = INPUT.replace('[a]', '[c]');
      const invalid = await invoke(['graph', '-', '-o', 'p.svg'], { input, cwd: folder.path });
      expect(invalid.status).to.equal(1);
      expect(readdirSync(folder.path)).to.deep.equal([]);
    });
  });

  it('exits with 2 for an unknown format', async () => {
    for (const format of ['png', 'toString']) {
      const { status, stderr } = await invoke(['graph', '-', '--format', format], { input: INPUT });
      expect(status).to.equal(2);
      expect(stderr).to.contain('--format must be one of text, mermaid, dot, svg');
    }
  });

  it('exits with 1 for an invalid pipeline and prints its problems', async () => {
    const { status, stdout, stderr } = await invoke(['graph', '-'], { input: INPUT.replace('[a]', '[c]') });
    expect(status).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.contain('error: ');
  });
});
