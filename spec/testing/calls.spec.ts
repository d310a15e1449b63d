import { expect } from 'chai';
import { useTestFolder } from './test-folder.js';

const SEND = `
pipeline:
  id: send
  goal: Send messages
  params: { to: { type: list, default: [ann, bob] } }
  tasks:
    - id: list
      tool: http_request
      inputs: { url: "https://people.example" }
    - id: mail
      tool: http_request
      parallel_over: "{{params.to}}"
      retry: 2
      inputs: { url: "https://mail.example/{{item}}", method: POST, json: { count: "{{list.output.body.count}}" } }
    - id: warn
      when: { value: "{{list.output.body.count}}", minimum: 10 }
      tool: http_request
      inputs: { url: "https://chat.example" }
`;

const ANSWERS =
  'answers: { list: { output: { body: { count: 3 } } }, mail: { output: ok }, warn: { output: ok } }';

describe('The calls that a test of a pipeline expects (D91)', () => {
  const { failuresOf, problemsOf } = useTestFolder();

  it('compare the inputs that they list, by item, and leave out all others', async () => {
    const failures = await failuresOf(
      SEND,
      `cases:
  - name: two mails
    ${ANSWERS}
    expect:
      calls:
        mail: [{ url: "https://mail.example/ann", json: { count: 3 } }, { url: { pattern: bob$ } }]
        warn: []
        list: 1
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('say which input of which call differs', async () => {
    const failures = await failuresOf(
      SEND,
      `cases:
  - name: others
    ${ANSWERS}
    expect:
      calls:
        mail: [{ json: { count: 4 } }, { url: { pattern: ann$ }, form: 1 }]
        list: []
        warn: [{ url: "https://chat.example" }]
`,
    );
    expect(failures).to.deep.equal([
      [
        '6: calls.mail[0].json.count must be 4, not 3',
        '6: calls.mail[1].url must match the pattern ann$, not "https://mail.example/bob"',
        '6: calls.mail[1].form is missing; it must be 1',
        '7: list must be called 0 times, and was called 1 time',
        '8: warn must be called 1 time, and was called 0 times: the task was skipped, because {{list.output.body.count}} must be at least 10, not 3',
      ],
    ]);
  });

  it('list the attempts of an item one after another, before the next item', async () => {
    const failures = await failuresOf(
      SEND,
      `cases:
  - name: tries again
    answers: { list: { output: { body: { count: 3 } } }, mail: { items: [[{ error: busy }, { output: ok }], { output: ok }] } }
    expect:
      calls:
        mail: [{ url: { pattern: ann$ } }, { url: { pattern: ann$ } }, { url: { pattern: bob$ } }]
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('are those of tools that run as they are, of sub-pipelines, of pipelines that tasks run, and of handlers', async () => {
    const nested = `
pipeline:
  id: nested
  goal: g
  inputs: { letters: [b, a] }
  tasks:
    - id: ask
      tool: run_pipeline
      parallel_over: "{{pipeline.inputs.letters}}"
      inputs:
        inputs: { letter: "{{item}}" }
        pipeline: { id: one, goal: g, tasks: [{ id: get, tool: mock, inputs: { x: "{{pipeline.inputs.letter}}" } }] }
  finally:
    - { id: end, tool: mock, inputs: { status: "{{run.status}}" } }
`;
    const failures = await failuresOf(
      nested,
      `cases:
  - name: all
    expect:
      calls:
        ask: 2
        ask/get: [{ x: b }, { x: a }]
        ask[1]/get: [{ x: a }]
        end: [{ status: succeeded }]
`,
    );
    expect(failures).to.deep.equal([[]]);
    const plan = `
plan:
  id: plan
  goal: g
  sub_pipelines:
    - { id: part, goal: g, pipeline: { id: part, goal: g, tasks: [{ id: get, tool: mock, inputs: { x: 1 } }] } }
`;
    expect(
      await failuresOf(plan, 'cases: [{ name: all, expect: { calls: { part/get: [{ x: 1 }] } } }]'),
    ).to.deep.equal([[]]);
  });

  it('refuse tasks that there are not, and schemas that are none', async () => {
    const problems = await problemsOf(
      SEND,
      `cases:
  - name: typo
    ${ANSWERS}
    expect: { calls: { mial: 2 } }
  - name: schema
    ${ANSWERS}
    expect: { calls: { mail: [{ url: { pattern: "(" } }] } }
`,
    );
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include('"pattern"');
    expect(
      await problemsOf(SEND, `cases:\n  - { name: t, ${ANSWERS}, expect: { calls: { mial: 2 } } }\n`),
    ).to.deep.equal(['2: the pipeline has no task "mial" (did you mean "mail"?)']);
  });

  it('compare no more than 4 MiB of inputs of a case', async () => {
    const failures = await failuresOf(
      `
pipeline:
  id: large
  goal: g
  inputs: { two: [1, 2] }
  params: { text: { type: string, default: "${'x'.repeat(1000)}" } }
  tasks:
    - { id: grow, tool: transform, inputs: { input: "{{params.text}}", expression: '$join([1..3000].$$.$, "")' } }
    - { id: take, tool: mock, parallel_over: "{{pipeline.inputs.two}}", inputs: { text: "{{grow.output}}", n: "{{item}}" } }
`,
      'cases:\n  - { name: all, expect: { calls: { take: [{ n: 1, text: { minLength: 9 } }, { n: 2, text: { minLength: 9 } }] } } }\n',
    );
    expect(failures).to.deep.equal([
      ['2: calls.take[1] is too long: at most 4 MiB of inputs of a case are compared'],
    ]);
  });
});
