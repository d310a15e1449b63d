import { expect } from 'chai';
import { useTestFolder } from './test-folder.js';

const BRANCH = `
pipeline:
  id: branch
  goal: Book
  params: { kind: { type: string, default: a } }
  inputs: { n: 2 }
  tasks:
    - { id: a, when: { value: "{{params.kind}}", const: a }, tool: mock }
    - { id: b, when: { value: "{{params.kind}}", const: b }, tool: mock }
    - { id: bad, tool: fail, on_error: continue, inputs: { message: no luck } }
    - { id: sum, tool: transform, await: [bad], inputs: { input: "{{pipeline.inputs.n}}", expression: '{ "n": $, "list": [1, $] }' } }
    - { id: keep, tool: store, inputs: { key: kept, value: "{{sum.output.n}}" } }
    - { id: greet, tool: transform, inputs: { input: '{{session.name ?? "nobody"}}', expression: $ } }
  finally:
    - { id: end, tool: transform, inputs: { input: "{{run.status}}", expression: $ } }
`;

describe('The expectations of a test of a pipeline (D91)', () => {
  const { failuresOf } = useTestFolder();

  it('hold of a run with params, inputs and session values', async () => {
    const failures = await failuresOf(
      BRANCH,
      `cases:
  - name: everything
    params: { kind: b }
    inputs: { n: 5 }
    session: { name: Ada }
    expect:
      status: succeeded
      outputs: { sum: { n: 5, list: [1, 5] }, greet: Ada }
      skipped: [a]
      failed: [bad]
      waves: 3
      blackboard: { kept: 5 }
      handlers: { end: succeeded }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('say in words, and with the line of the file, what differs: expected and received at a path', async () => {
    const failures = await failuresOf(
      BRANCH,
      `cases:
  - name: all wrong
    expect:
      outputs:
        sum: { n: 3, list: [1, 2, 3], more: true }
        b: 1
      skipped: [a]
      failed: []
      waves: 9
      blackboard: { kept: 5, other: 1 }
      handlers: { end: failed }
`,
    );
    expect(failures).to.deep.equal([
      [
        '5: outputs.sum.n must be 3, not 2',
        '5: outputs.sum.list must have 3 entries, and has 2',
        '5: outputs.sum.more is missing; it must be true',
        '6: outputs.b is missing: the task was skipped, because {{params.kind}} must be "b", not "a"',
        '11: handlers.end must be "failed", not "succeeded"',
        '10: blackboard.kept must be 5, not 2',
        '10: blackboard.other is missing: nothing was stored there',
        '7: skipped: "a" was not skipped, "b" was skipped',
        '8: failed: "bad" has failed',
        '9: waves must be 9, not 3',
      ],
    ]);
  });

  it('are that the run succeeds, unless they say otherwise', async () => {
    const failures = await failuresOf(
      'pipeline: { id: p, goal: g, tasks: [{ id: t, tool: fail, inputs: { message: the disk is full } }] }',
      `cases:
  - name: nothing said
  - { name: failed, expect: { status: failed } }
  - { name: the error, expect: { error: the disk is full } }
  - { name: a pattern, expect: { error: { pattern: disk } } }
  - { name: another error, expect: { error: the disk is gone } }
  - { name: another pattern, expect: { error: { pattern: memory } } }
`,
    );
    expect(failures).to.deep.equal([
      ['2: the run must end as succeeded, and has failed: the disk is full'],
      [],
      [],
      [],
      ['6: error must be "the disk is gone", not "the disk is full"'],
      ['7: error must match the pattern memory, not "the disk is full"'],
    ]);
  });

  it('are schemas where all keys are keywords, and equal otherwise', async () => {
    const failures = await failuresOf(
      BRANCH,
      `cases:
  - name: schemas
    expect:
      outputs:
        sum: { properties: { n: { minimum: 1, maximum: 3 } }, required: [n, list] }
        greet: { const: nobody }
  - name: violated
    expect: { outputs: { sum: { properties: { n: { minimum: 3 } } } } }
  - name: no schema, since n is no keyword
    expect: { outputs: { sum: { n: { minimum: 1 } } } }
`,
    );
    expect(failures).to.deep.equal([
      [],
      ['8: outputs.sum: field "n" must be at least 3, not 2'],
      ['10: outputs.sum.n must be {"minimum":1}, not 2', '10: outputs.sum.list is not expected: [1,2]'],
    ]);
  });

  it('are not looked at when the run was refused', async () => {
    const failures = await failuresOf(
      'pipeline: { id: p, goal: g, params: { n: { type: integer } }, tasks: [{ id: t, tool: mock, inputs: { n: "{{params.n}}" } }] }',
      'cases:\n  - { name: a text, params: { n: many } }\n',
    );
    expect(failures).to.deep.equal([
      ['2: the run was refused: param "n" must be a whole number, not "many"'],
    ]);
  });
});
