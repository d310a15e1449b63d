import { expect } from 'chai';
import { defineTool } from '../../lib/tools/tool.js';
import { defineFunction } from '../../lib/tools/builtin/compute/function.js';
import { useTestFolder } from './test-folder.js';

const FETCH = `
pipeline:
  id: fetch
  goal: Add up what an API lists
  tasks:
    - { id: list, tool: http_request, retry: 2, inputs: { url: "https://api.example/list" } }
    - { id: sum, tool: transform, inputs: { input: "{{list.output.body}}", expression: $sum($) } }
`;

const EACH = `
pipeline:
  id: each
  goal: Ask for each
  tasks:
    - id: ask
      tool: http_request
      retry: 1
      on_item_error: collect
      parallel_over: "{{pipeline.inputs.names}}"
      inputs: { url: "https://api.example/{{item}}" }
  inputs: { names: [a, b, c] }
`;

describe('The answers of a test of a pipeline (D91)', () => {
  const { folder, failuresOf } = useTestFolder();

  it('take the place of what a tool gives, and tools that compute run as they are', async () => {
    const failures = await failuresOf(
      FETCH,
      `cases:
  - name: two numbers
    answers: { list: { output: { body: [3, 4] } } }
    expect: { outputs: { sum: 7 } }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('take the place of programs, which nobody need have allowed (D88)', async () => {
    const failures = await failuresOf(
      '{pipeline: {id: c, goal: g, tasks: [{id: list, tool: command, inputs: {run: [ls]}}]}}',
      `cases:
  - name: lists files
    answers: { list: { output: "a.csv" } }
    expect: { outputs: { list: "a.csv" } }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('may fail: one error in every attempt', async () => {
    const failures = await failuresOf(
      FETCH,
      `cases:
  - name: is down
    answers: { list: { error: the API is down } }
    expect: { status: failed, error: the API is down, failed: [list] }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('may be a list for the attempts in their order', async () => {
    const failures = await failuresOf(
      FETCH,
      `cases:
  - name: is up again
    answers: { list: [{ error: busy }, { error: busy }, { output: { body: [1] } }] }
    expect: { outputs: { sum: 1 } }
  - name: has too few answers
    answers: { list: [{ error: busy }] }
`,
    );
    expect(failures).to.deep.equal([
      [],
      ['6: the answer of task "list" is missing: it has one answer, and this is attempt 2'],
    ]);
  });

  it('may be one for each item of a fan-out, each with its attempts, or one for all', async () => {
    const failures = await failuresOf(
      EACH,
      `cases:
  - name: each by itself
    answers: { ask: { items: [{ output: 1 }, { error: gone }, [{ error: busy }, { output: 3 }]] } }
    expect: { outputs: { ask: [1, { error: gone }, 3] }, failed: ["ask[1]"] }
  - name: all alike
    answers: { ask: { output: 5 } }
    expect: { outputs: { ask: [5, 5, 5] } }
  - name: one is missing
    answers: { ask: { items: [{ output: 1 }, { output: 2 }] } }
`,
    );
    expect(failures).to.deep.equal([
      [],
      [],
      [
        '9: the answer of task "ask" is missing: it has answers for 2 items, and this is item 2, counted from 0',
      ],
    ]);
  });

  it('are an error of the test when a tool needs one, however the run goes on: nothing is sent', async () => {
    const failures = await failuresOf(
      FETCH.replace('retry: 2,', 'on_error: continue,').replace(
        '{{list.output.body}}',
        '{{list.output.body ?? []}}',
      ),
      'cases:\n  - name: says nothing\n',
    );
    expect(failures).to.deep.equal([
      [
        '2: the answer of task "list" is missing: the tool "http_request" may have effects, or read what is not in the test',
      ],
    ]);
  });

  it('are looked up for rounds of a task that is repeated, as for attempts', async () => {
    const failures = await failuresOf(
      `
pipeline:
  id: poll
  goal: Wait
  tasks:
    - id: ready
      tool: http_request
      inputs: { url: "https://api.example" }
      repeat: { until: "{{this.output.body.done}}", every: 30s }
`,
      `cases:
  - name: the third time
    answers: { ready: [{ output: { body: { done: false } } }, { output: { body: { done: false } } }, { output: { body: { done: true } } }] }
    expect: { outputs: { ready: { body: { done: true } } } }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('take the place of a tool that computes, too', async () => {
    const failures = await failuresOf(
      FETCH,
      `cases:
  - name: a sum of its own
    answers: { list: { output: { body: [] } }, sum: { output: 12 } }
    expect: { outputs: { sum: 12 } }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('are needed for an own tool or function unless it is declared as pure', async () => {
    const calls: string[] = [];
    const own = (name: string, pure?: boolean) =>
      defineTool({
        name,
        description: name,
        inputs: {},
        ...(pure !== undefined && { pure }),
        run: () => void calls.push(name),
      });
    const fn = defineFunction({ name: 'double', description: 'doubles', inputs: {}, run: () => 2 });
    const failures = await failuresOf(
      `
pipeline:
  id: own
  goal: Call own tools
  tasks:
    - { id: pay, tool: pay, on_error: continue }
    - { id: add, tool: add }
    - { id: twice, tool: compute, on_error: continue, inputs: { function: double } }
`,
      'cases:\n  - name: without answers\n',
      [own('pay'), own('add', true), fn],
    );
    expect(failures).to.deep.equal([
      [
        '2: the answer of task "pay" is missing: the tool "pay" may have effects, or read what is not in the test',
        '2: the answer of task "twice" is missing: the function "double" is not declared as pure',
      ],
    ]);
    expect(calls).to.deep.equal(['add']);
  });

  it('are needed where a tool that computes would ask a language model', async () => {
    const [failures] = await failuresOf(
      `
pipeline:
  id: choose
  goal: Choose pages
  tasks:
    - { id: words, tool: select, inputs: { document: a b, prompt: b } }
    - { id: model, tool: select, inputs: { document: a b, prompt: b, by: model } }
`,
      'cases:\n  - name: without answers\n',
    );
    expect(failures).to.deep.equal([
      '2: the answer of task "model" is missing: the tool "select" asks a language model',
    ]);
  });

  it('name the tasks of sub-pipelines, of handlers, and of pipelines that tasks run, for one item if need be', async () => {
    folder.write(
      'inner.yaml',
      'pipeline: { id: inner, goal: Ask, tasks: [{ id: ask, tool: http_request, inputs: { url: "https://api.example" } }] }',
    );
    const failures = await failuresOf(
      `
plan:
  id: plan
  sub_pipelines:
    - id: load
      stores: [all]
      pipeline:
        id: load
        goal: Load
        tasks:
          - { id: run, tool: run_pipeline, parallel_over: [1, 2], inputs: { file: inner.yaml, inputs: {}, session: { item: "{{item}}" } } }
          - { id: keep, tool: store, inputs: { key: all, value: "{{run.output}}" } }
  finally:
    - { id: tell, tool: http_request, inputs: { url: "https://chat.example" } }
`
        .replace('[1, 2]', '"{{pipeline.inputs.numbers}}"')
        .replace('stores: [all]', 'stores: [all]\n      inputs: [numbers]')
        .replace('id: plan\n', 'id: plan\n  inputs: { numbers: [1, 2] }\n'),
      `cases:
  - name: all of them
    answers:
      load/run/ask: { output: one }
      load/run[1]/ask: { output: two }
      tell: { output: told }
    expect:
      outputs: { load/run: { items: { required: [outputs] } } }
      blackboard: { all: [{ outputs: { ask: one }, waves_executed: 1, tasks_executed: 1 }, { outputs: { ask: two }, waves_executed: 1, tasks_executed: 1 }] }
      handlers: { tell: told }
`,
    );
    expect(failures).to.deep.equal([[]]);
  });

  it('let a tool of an MCP server be there without its server', async () => {
    const failures = await failuresOf(
      'pipeline: { id: p, goal: g, tasks: [{ id: find, tool: files.search, inputs: { any: 1 } }] }',
      'cases:\n  - { name: finds, answers: { find: { output: x } }, expect: { outputs: { find: x } } }\n',
    );
    expect(failures).to.deep.equal([[]]);
  });
});
