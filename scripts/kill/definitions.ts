/** The comparison of a run with an undisturbed one. */
type Comparison =
  /** The record and the events of the run are equal. */
  | 'equal'
  /** The run is equal, or has failed because a call was at work that must not be made twice. */
  | 'once'
  /** The run is cancelled while it is at work, and has settled. */
  | 'cancelled'
  | 'forced';

export interface Kind {
  readonly name: string;
  readonly path: '/pipelines/run_async' | '/plans/run_async';
  readonly comparison: Comparison;
  /** A pipeline or a plan, as YAML. */
  readonly body: string;
}

function list(length: number): string {
  return `[${Array.from({ length }, (_, at) => at).join(', ')}]`;
}

function pipeline(name: string, tasks: string, comparison: Comparison = 'equal'): Kind {
  return { name, path: '/pipelines/run_async', comparison, body: `id: ${name}\ngoal: survive\n${tasks}` };
}

const SLOW = `inputs: {list: ${list(30)}}
tasks:
  - {id: each, tool: work, parallel_over: "{{pipeline.inputs.list}}", fan_out_concurrency: 3, inputs: {ms: 40, value: "{{item}}"}}
  - {id: end, tool: work, inputs: {value: "{{each.output}}"}}
`;

/** Every kind of run. */
export const KINDS: readonly Kind[] = [
  pipeline(
    'chain',
    `tasks:
  - {id: a, tool: work, inputs: {ms: 30, value: 1, key: seen}}
  - {id: b, tool: work, inputs: {ms: 30, value: "{{a.output}}", key: seen}}
  - {id: c, tool: work, inputs: {ms: 30, value: "{{b.output}}", key: seen}}
  - {id: end, tool: mock, await: [c], inputs: {seen: "{{session.seen}}"}}
`,
  ),
  pipeline(
    'fan-out',
    `inputs: {list: ${list(60)}}
tasks:
  - {id: each, tool: work, parallel_over: "{{pipeline.inputs.list}}", fan_out_concurrency: 4, inputs: {ms: 15, value: "{{item}}", key: seen}}
  - {id: sum, tool: transform, inputs: {input: "{{each.output}}", expression: "$sum($)"}}
  - {id: end, tool: transform, await: [sum], inputs: {input: "{{session.seen}}", expression: "$sort($)"}}
`,
  ),
  pipeline(
    'retries',
    `inputs: {list: [0, 1, 2]}
tasks:
  - {id: each, tool: work, retry: 3, retry_delay: 0.1, parallel_over: "{{pipeline.inputs.list}}", inputs: {fails: "{{item}}"}}
  - {id: end, tool: mock, inputs: {of: "{{each.output}}"}}
`,
  ),
  pipeline(
    'nested',
    `inputs: {list: [1, 2, 3]}
tasks:
  - id: each
    tool: run_pipeline
    parallel_over: "{{pipeline.inputs.list}}"
    inputs:
      inputs: {n: "{{item}}"}
      pipeline:
        id: inner
        goal: survive too
        inputs: {n: 0}
        tasks:
          - {id: x, tool: work, inputs: {ms: 30, value: "{{pipeline.inputs.n}}"}}
          - {id: y, tool: work, inputs: {ms: 30, value: "{{x.output}}"}}
  - {id: end, tool: mock, inputs: {of: "{{each.output}}"}}
`,
  ),
  pipeline(
    'sequence',
    `tasks:
  - id: in_turn
    tool: work_in_sequence
    retry: 1
    retry_delay: 0.05
    inputs:
      fails: 1
      pipelines:
        - {id: one, goal: survive, inputs: {v: 0}, tasks: [{id: end, tool: work, inputs: {ms: 30, value: 1}}]}
        - {id: two, goal: survive, inputs: {v: 0}, tasks: [{id: end, tool: work, inputs: {ms: 30, value: "\\\\{{pipeline.inputs.v}}"}}]}
  - {id: end, tool: mock, inputs: {of: "{{in_turn.output}}"}}
`,
  ),
  {
    name: 'plan',
    path: '/plans/run_async',
    comparison: 'equal',
    body: `id: plan
goal: survive
sub_pipelines:
  - id: first
    stores: [seen]
    pipeline:
      id: first-pipeline
      goal: begin
      inputs: {list: ${list(12)}}
      tasks:
        - {id: each, tool: work, parallel_over: "{{pipeline.inputs.list}}", fan_out_concurrency: 3, inputs: {value: "{{item}}", key: seen}}
  - id: beside
    pipeline:
      id: beside-pipeline
      goal: work beside it
      tasks: [{id: a, tool: work, inputs: {ms: 60, value: 1}}, {id: b, tool: work, inputs: {value: "{{a.output}}"}}]
  - id: last
    reads: [seen]
    pipeline:
      id: last-pipeline
      goal: end
      tasks: [{id: z, tool: transform, inputs: {input: "{{session.seen}}", expression: "$sort($)"}}]
`,
  },
  pipeline(
    'fails',
    `tasks:
  - {id: a, tool: work, inputs: {ms: 50}}
  - {id: b, tool: work, await: [a], retry: 1, retry_delay: 0.05, inputs: {fails: 9}}
  - {id: c, tool: work, await: [b]}
`,
  ),
  pipeline(
    'wave',
    `tasks:\n${Array.from({ length: 60 }, (_, at) => `  - {id: t${at}, tool: work, inputs: {ms: ${at % 20}, value: ${at}}}`).join('\n')}\n`,
  ),
  pipeline(
    'once',
    `tasks:
  - {id: a, tool: work_once, inputs: {ms: 10, value: 1}}
  - {id: b, tool: work_once, inputs: {ms: 10, value: "{{a.output}}"}}
`,
    'once',
  ),
  pipeline('cancelled', SLOW, 'cancelled'),
  pipeline('forced', SLOW, 'forced'),
];
