import { expect } from 'chai';
import { invoke } from './invoke.js';

const INPUT = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]\n';

describe('graph', () => {
  it('draws text, and Mermaid and dot when asked', async () => {
    expect((await invoke(['graph', '-'], { input: INPUT })).stdout).to.match(/^wave 1 +wave 2\n/);
    expect((await invoke(['graph', '-', '--format', 'mermaid'], { input: INPUT })).stdout).to.contain(
      'flowchart LR',
    );
    expect((await invoke(['graph', '-', '--format', 'dot'], { input: INPUT })).stdout).to.match(
      /^digraph "p"/,
    );
  });

  it('prints waves and edges as one JSON document with --json (D41)', async () => {
    const { stdout, stderr } = await invoke(['graph', '-', '--json'], { input: INPUT });
    expect(JSON.parse(stdout)).to.have.all.keys('id', 'goal', 'waves', 'edges');
    expect(stderr).to.equal('');
  });

  it('answers 2 to an unknown format', async () => {
    for (const format of ['png', 'toString']) {
      const { status, stderr } = await invoke(['graph', '-', '--format', format], { input: INPUT });
      expect(status).to.equal(2);
      expect(stderr).to.contain('the formats are text, mermaid, dot');
    }
  });

  it('answers 1 to an invalid pipeline, with its problems', async () => {
    const { status, stdout, stderr } = await invoke(['graph', '-'], { input: INPUT.replace('[a]', '[c]') });
    expect(status).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.contain('error: ');
  });
});
