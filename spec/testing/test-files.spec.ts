import { expect } from 'chai';
import { PIPELINE_TEST_LIMITS } from '../../lib/definition/schema/fields.js';
import { catchRejection } from '../support/rejection.js';
import { pipelineSuite, testPipelines } from '../../lib/testing/index.js';
import { useTestFolder } from './test-folder.js';

const HELLO =
  'pipeline: { id: hello, goal: g, tasks: [{ id: greet, tool: transform, inputs: { input: 1, expression: $ } }] }\n';
const PASSES = 'cases: [{ name: passes, expect: { outputs: { greet: 1 } } }]\n';

describe('A file of tests of pipelines (D91)', () => {
  const { folder, run, problemsOf } = useTestFolder();

  it('is invalid with fields that there are not, with the line and the field that was meant', async () => {
    expect(
      await problemsOf(
        HELLO,
        `cases:
  - name: typing mistakes
    answer: {}
    expect: { ouputs: {} }
  - params: {}
`,
      ),
    ).to.deep.equal([
      '3: there is no field "answer" here (did you mean "answers"?)',
      '4: there is no field "ouputs" here (did you mean "outputs"?)',
      '5: case 2 has no "name"',
    ]);
  });

  it('is invalid with tasks that the definition does not have', async () => {
    expect(
      await problemsOf(
        HELLO,
        `cases:
  - name: names
    answers: { gret: { output: 1 } }
    expect: { outputs: { greeet: 1 }, skipped: [other], failed: [greet], handlers: { end: 1 } }
`,
      ),
    ).to.deep.equal([
      '3: the pipeline has no task "gret" (did you mean "greet"?)',
      '4: the pipeline has no task "greeet" (did you mean "greet"?)',
      '4: the pipeline has no task "other" (its tasks are greet)',
      '4: the pipeline has no task "end" (it has none)',
    ]);
  });

  it('is invalid with answers that are none or two, schemas that are none, and names twice', async () => {
    expect(
      await problemsOf(
        HELLO,
        `cases:
  - name: twice
    answers: { greet: { output: 1, error: x } }
  - name: twice
    answers: { greet: [{}] }
    expect: { outputs: { greet: { type: report } } }
`,
      ),
    ).to.deep.equal([
      '3: an answer has output and error (write one of output, error, items)',
      '4: another case is called "twice", too (give each case a name of its own)',
      '5: an answer must not be empty (write one of output, error)',
      '6: "type" must be one of string, integer, number, boolean, list, array, object, null, or a list of them (a map of nothing but keywords of JSON Schema says what is valid; write {const: VALUE} for a value that is equal)',
    ]);
  });

  it('says what is missing where no definition is beside it', async () => {
    folder.write('alone.test.yaml', PASSES);
    const { ok, files } = await run();
    expect(ok).to.equal(false);
    expect(files[0]?.problems[0]?.message).to.equal(
      `there is no definition beside it: ${folder.at('alone.yaml')}, or the same with .yml or .json`,
    );
  });

  it('has the problems of its definition where that is not valid', async () => {
    expect(await problemsOf(HELLO.replace('transform', 'transfrom'), PASSES)).to.deep.equal([
      '1: there is no tool "transfrom" (did you mean "transform"?)',
    ]);
  });

  it('may have so many bytes and cases, and no more', async () => {
    const many = Array.from({ length: PIPELINE_TEST_LIMITS.cases + 1 }, (_, i) => `  - name: case ${i}\n`);
    expect(await problemsOf(HELLO, `cases:\n${many.join('')}`)).to.deep.equal([
      '2: "cases" must have at most 1000 entries',
    ]);
    const [tooLong] = await problemsOf(HELLO, `${PASSES}#${' '.repeat(PIPELINE_TEST_LIMITS.fileBytes)}`);
    expect(tooLong).to.include('is longer than 1 MiB: split it');
  });

  it('is found in folders and those below them, and beside a definition that is named', async () => {
    folder.write('a.yaml', HELLO);
    folder.write('a.test.yaml', PASSES);
    folder.write('below/b.yml', HELLO);
    folder.write('below/b.test.yml', PASSES);
    folder.write('node_modules/c.test.yaml', PASSES);
    folder.write('.hidden/d.test.yaml', PASSES);
    const names = async (path: string): Promise<string[]> =>
      (await testPipelines(path)).files.map(({ file }) => file.slice(folder.path.length + 1));
    expect(await names(folder.path)).to.deep.equal(['a.test.yaml', 'below/b.test.yml']);
    expect(await names(folder.at('below/b.yml'))).to.deep.equal(['below/b.test.yml']);
    const refused = await catchRejection(testPipelines(folder.at('c.yaml')));
    expect(refused).to.include({ code: 'unreadable_file' });
  });

  it('counts which tasks ran in no case, and which branches none has taken', async () => {
    folder.write(
      'p.yaml',
      `
pipeline:
  id: p
  goal: g
  params: { kind: { type: string, default: a } }
  tasks:
    - { id: a, when: { value: "{{params.kind}}", const: a }, tool: mock }
    - { id: b, when: { value: "{{params.kind}}", const: b }, tool: mock, on_error: continue }
    - { id: c, tool: fail, parallel_over: "{{pipeline.inputs.list}}", on_item_error: collect, inputs: { times: "{{item}}" } }
  inputs: { list: [0] }
  on_failure: [{ id: alert, tool: mock }]
  on_cancel: [{ id: undo, tool: mock }]
`,
    );
    folder.write('p.test.yaml', 'cases: [{ name: one }]');
    const coverage = async (): Promise<unknown> => (await run()).files[0]?.coverage;
    expect(await coverage()).to.deep.equal({
      tasks: { total: 4, never: ['b', 'alert'] },
      branches: {
        total: 6,
        never: ['when of a does not hold', 'when of b holds', 'b fails', 'an item of c fails'],
      },
    });
    folder.write(
      'p.test.yaml',
      `cases:
  - { name: one, inputs: { list: [0, 9] }, expect: { failed: [c] } }
  - { name: two, params: { kind: b }, answers: { b: { error: x }, c: { error: y } }, expect: { error: y } }
`,
    );
    expect(await coverage()).to.deep.equal({
      tasks: { total: 4, never: [] },
      branches: { total: 6, never: [] },
    });
  });

  it('gives cases to mocha and vitest, of which one that fails says why', async () => {
    folder.write('p.yaml', HELLO);
    folder.write(
      'p.test.yaml',
      'cases:\n  - { name: passes }\n  - { name: fails, expect: { outputs: { greet: 2 } } }\n',
    );
    folder.write('q.test.yaml', PASSES);
    const suite = await pipelineSuite(folder.path);
    const file = folder.at('p.test.yaml');
    expect(suite.map(({ title }) => title)).to.deep.equal([
      `${file}: passes`,
      `${file}: fails`,
      `${folder.at('q.test.yaml')} is valid`,
    ]);
    await suite[0]?.run();
    const failed = await catchRejection(suite[1]?.run() ?? Promise.resolve());
    expect(failed).to.include({
      name: 'AssertionError',
      message: `${file}: fails\nline 3: outputs.greet must be 2, not 1`,
    });
    expect(await catchRejection(suite[2]?.run() ?? Promise.resolve())).to.include({ name: 'AssertionError' });
  });
});
