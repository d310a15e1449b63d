import { expect } from 'chai';
import { invoke, Screen } from '../invoke.js';

describe('the statistics of a valid definition on a narrow terminal', () => {
  it('wrap at words, while nothing is lost', async () => {
    const tasks = ['first', 'second', 'third'].map(
      (key) => `{id: ${key}, tool: store, inputs: {key: ${key}_of_all, value: 1}}`,
    );
    const input = `id: p\ngoal: say in many words what it is for\ntasks: [${tasks.join(', ')}]\n`;
    const wide = await invoke(['validate', '-'], { input });
    const { status, stdout } = await invoke(['validate', '-'], {
      input,
      stdout: new Screen(34),
      env: { NO_COLOR: '1' },
    });
    expect(status).to.equal(0);
    expect(stdout.split(/\s+/)).to.deep.equal(wide.stdout.split(/\s+/));
    for (const line of stdout.split('\n')) expect(line.length, line).to.be.below(34);
  });
});

describe('problems of a definition on a narrow terminal', () => {
  const input =
    'id: p\ngoal: g\ntasks:\n  - {id: one, tool: mock, inputs: {x: "{{outer.output}}"}}\n  - {id: two, tool: mok}\n';

  it('wrap at words, and hints too, while nothing is lost', async () => {
    const wide = await invoke(['validate', '-'], { input });
    for (const columns of [34, 60]) {
      const stderr = new Screen(columns);
      const { status } = await invoke(['validate', '-'], { input, stderr, env: { NO_COLOR: '1' } });
      expect(status).to.equal(1);
      for (const line of stderr.text.split('\n')) {
        if (line.trim().includes(' ')) expect(line.length, line).to.be.below(columns);
      }
      const words = (text: string): string[] => text.split(/\s+/).filter((word) => /[a-z]{3}/.test(word));
      const lost = words(wide.stderr).filter((word) => !stderr.text.includes(word));
      // The line of the file is cut around the problem.
      expect(lost.filter((word) => !input.includes(word))).to.deep.equal([]);
    }
  });
});
