/** A pipeline with a required param, a default, an input and a session value; two waves, four invocations. */
export const GREET = `pipeline:
  id: greet
  goal: greet {{params.name}}
  params:
    name: {type: string, description: Whom to greet}
    times: {type: integer, description: How often, default: 2}
  inputs: {mood: kind}
  tasks:
    - {id: words, tool: mock, inputs: {name: "{{params.name}}", mood: "{{pipeline.inputs.mood}}"}}
    - {id: double, tool: transform, inputs: {input: "{{params.times}}", expression: "$ * 2"}}
    - {id: note, tool: sleep, inputs: {seconds: 0, value: "{{session.note ?? \\"none\\"}}"}}
    - {id: last, tool: mock, await: [words]}
`;

/** Sets the required param. */
export const NAME = ['--params', '{"name": "Ada"}'];
