import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { ManualClock } from '../support/manual-clock.js';
import { useTemporaryFolder } from '../support/temporary-folder.js';
import { invoke, Recorder } from '../cli/invoke.js';

const BOOK = `pipeline:
  id: book
  goal: Book
  params: { kind: { type: string, default: a } }
  tasks:
    - { id: load, tool: http_request, inputs: { url: "https://api.example" } }
    - { id: sum, tool: transform, inputs: { input: "{{load.output}}", expression: $sum($) } }
    - { id: b, when: { value: "{{params.kind}}", const: b }, tool: mock }
`;

const TESTS = `# Two cases.
cases:
  - name: adds up # as it should
    answers: { load: { output: [1, 2] } }
    expect: { outputs: { sum: 3 } }
  - name: adds up wrongly
    answers: { load: { output: [1, 2] } }
    expect:
      outputs: { sum: 4 } # is wrong
      waves: 2
`;

describe('test (D91)', () => {
  const folder = useTemporaryFolder();
  const at = (argv: readonly string[], options = {}) =>
    invoke(['test', ...argv], { cwd: folder.path, ...options });

  beforeEach(() => {
    folder.write('book.yaml', BOOK);
    folder.write('book.test.yaml', TESTS);
  });

  it('prints what differs with the line of the file, and what no case has reached', async () => {
    const { status, stdout, stderr } = await at([]);
    expect(stderr).to.equal('');
    expect(stdout.replace(/\d+ ms|\d\.\d s/, '5 ms').split('\n')).to.deep.equal([
      '✗ book.test.yaml (2 cases)',
      '  ✗ adds up wrongly',
      '    outputs.sum must be 4, not 3 (book.test.yaml:9)',
      'coverage: 2 of 3 tasks, 1 of 2 branches',
      '  never in book.yaml: b runs, when of b holds',
      '✗ 1 of 2 cases failed in 5 ms, 1 file',
      '',
    ]);
    expect(status).to.equal(1);
  });

  it('returns 0 when all cases pass, 1 for a file that is not valid, and 2 for bad usage', async () => {
    expect((await at(['--case', 'adds up'])).status).to.equal(1);
    folder.write('book.test.yaml', TESTS.replace('sum: 4', 'sum: 3'));
    expect((await at([])).status).to.equal(0);
    folder.write('book.test.yaml', 'cases: [{}]');
    const { status, stdout } = await at(['book.yaml']);
    expect(status).to.equal(1);
    expect(stdout).to.include('    case 1 has no "name" (book.test.yaml:1)\n');
    expect((await at(['missing'])).status).to.equal(2);
    expect((await at(['--watch', '--json'])).status).to.equal(2);
  });

  it('is what the hint of validate says of a file of tests', async () => {
    const { stderr } = await invoke(['validate', 'book.test.yaml'], { cwd: folder.path });
    expect(stderr).to.include('these are tests of a definition: `wavetrain test` runs them');
  });

  it('runs the cases with a text in their name', async () => {
    const { status, stdout } = await at(['--case', 'wrongly', '--json']);
    expect(status).to.equal(1);
    const { files, ...counts } = JSON.parse(stdout) as {
      files: { cases: { name: string }[]; coverage: null }[];
    };
    expect(files[0]?.cases.map(({ name }) => name)).to.deep.equal(['adds up wrongly']);
    expect(files[0]?.coverage).to.equal(null);
    expect(counts).to.include({ ok: false, passed: 0, failed: 1 });
    const none = await at(['--case', 'subtracts']);
    expect(none.status).to.equal(2);
    expect(none.stderr).to.include('no case has "subtracts" in its name');
  });

  it('prints one JSON document with expected and received', async () => {
    const { stdout } = await at(['--json']);
    const { files } = JSON.parse(stdout) as { files: { cases: { problems: object[] }[] }[] };
    expect(files[0]?.cases[1]?.problems).to.deep.equal([
      {
        message: 'outputs.sum must be 4, not 3',
        expected: 4,
        received: 3,
        line: 9,
        column: 23,
        path: '/cases/1/expect/outputs/sum',
      },
    ]);
  });

  it('writes JUnit XML', async () => {
    folder.write('bad.test.yaml', 'cases: [{ name: x }]');
    await at(['--junit', 'results.xml']);
    const xml = readFileSync(folder.at('results.xml'), 'utf8').replaceAll(/time="[\d.]+"/g, 'time="0"');
    expect(xml.split('\n')).to.deep.equal([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites tests="3" failures="1" errors="1" time="0">',
      '  <testsuite name="bad.test.yaml" tests="1" failures="0" errors="1" time="0">',
      '    <testcase classname="bad.test.yaml" name="is valid" time="0">',
      '      <error message="there is no definition beside it: bad.yaml, or the same with .yml or .json">there is no definition beside it: bad.yaml, or the same with .yml or .json</error>',
      '    </testcase>',
      '  </testsuite>',
      '  <testsuite name="book.test.yaml" tests="2" failures="1" errors="0" time="0">',
      '    <testcase classname="book.test.yaml" name="adds up" file="book.test.yaml" line="3" time="0"/>',
      '    <testcase classname="book.test.yaml" name="adds up wrongly" file="book.test.yaml" line="6" time="0">',
      '      <failure message="book.test.yaml:9: outputs.sum must be 4, not 3">book.test.yaml:9: outputs.sum must be 4, not 3</failure>',
      '    </testcase>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  it('writes all of what came out with --update, however much differs', async () => {
    const keys = Array.from({ length: 30 }, (_, index) => index);
    const define = (value: number): string => `{ ${keys.map((key) => `k${key}: ${value}`).join(', ')} }`;
    folder.write(
      'p.yaml',
      `pipeline: { id: p, goal: g, tasks: [${keys.map((key) => `{ id: t${key}, tool: transform, inputs: { input: ${key}, expression: $ } }`).join(', ')}] }`,
    );
    folder.write(
      'p.test.yaml',
      `cases: [{ name: many, expect: { outputs: ${define(-1).replaceAll('k', 't')} } }]\n`,
    );
    await at(['--update']);
    expect((await at([])).status).to.equal(0);
  });

  it('writes what came out into the file with --update, and keeps comments, schemas and other cases', async () => {
    const more = `  - name: says nothing
    params: { kind: b }
    answers: { load: { output: [1, 2, 3] }, b: { output: booked } }
  - name: has a rule
    answers: { load: { output: [1] } }
    expect: { outputs: { sum: { minimum: 5 } } }
`;
    folder.write('book.test.yaml', TESTS + more);
    const { stderr } = await at(['--update']);
    expect(stderr).to.equal('wrote 2 cases of book.test.yaml\n');
    expect(readFileSync(folder.at('book.test.yaml'), 'utf8')).to.equal(
      TESTS.replace('sum: 4', 'sum: 3') +
        more.replace(
          '{ output: booked } }\n',
          `{ output: booked } }
    expect: { status: succeeded, outputs: { load: [1, 2, 3], b: booked, sum: 6 } }
`,
        ),
    );
    expect((await at([])).stdout).to.include('✗ 1 of 4 cases failed');
  });

  it('watches: a changed definition runs the tests of its folder again, a changed test itself', async () => {
    const stdout = new Recorder();
    const processEvents = new EventEmitter();
    const clock = new ManualClock();
    const ended = at(['--watch', '.'], { stdout, processEvents, clock });
    const printed = async (text: string): Promise<void> => {
      for (let look = 0; !stdout.text.includes(text); look++) {
        if (look > 20_000) throw new Error(`waited for ${text}, and read ${stdout.text}`);
        clock.advance(300);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await printed('1 of 2 cases failed');
    writeFileSync(folder.at('book.test.yaml'), TESTS.replace('sum: 4', 'sum: 3'));
    await printed('✓ 2 cases passed');
    writeFileSync(folder.at('book.yaml'), BOOK.replace('$sum($)', '$count($) + 10'));
    await printed('2 of 2 cases failed');
    processEvents.emit('SIGINT');
    expect((await ended).status).to.equal(0);
  });
});
