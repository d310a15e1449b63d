/** The example plan of the OpenAPI document. It contains one of its pipelines; the other is sent beside it. */
export const EXAMPLE_PLAN = {
  id: 'letter',
  goal: 'write a letter',
  inputs: { name: 'world' },
  sub_pipelines: [
    {
      id: 'greet',
      stores: ['greeting'],
      inputs: ['name'],
      pipeline: {
        id: 'greet',
        goal: 'find the first words',
        tasks: [
          { id: 'keep', tool: 'store', inputs: { key: 'greeting', value: 'Dear {{pipeline.inputs.name}}' } },
        ],
      },
    },
    { id: 'sign', reads: ['greeting'], stores: ['letter'] },
  ],
};

/** The pipeline that is sent beside the example plan. */
export const EXAMPLE_PLAN_PIPELINES = {
  sign: {
    id: 'sign',
    goal: 'put the letter together',
    tasks: [
      {
        id: 'write',
        tool: 'store',
        inputs: { key: 'letter', value: '{{session.greeting}}, yours, Wavetrain' },
      },
    ],
  },
};

/** The example plan with both pipelines, as YAML. */
export const EXAMPLE_PLAN_YAML = `plan:
  id: letter
  goal: write a letter
  inputs: { name: world }
  sub_pipelines:
    - id: greet
      stores: [greeting]
      inputs: [name]
      pipeline:
        id: greet
        goal: find the first words
        tasks:
          - id: keep
            tool: store
            inputs: { key: greeting, value: "Dear {{pipeline.inputs.name}}" }
    - id: sign
      reads: [greeting]
      stores: [letter]
      pipeline:
        id: sign
        goal: put the letter together
        tasks:
          - id: write
            tool: store
            inputs: { key: letter, value: "{{session.greeting}}, yours, Wavetrain" }
`;

/** The example pipeline of the OpenAPI document. */
export const EXAMPLE_PIPELINE = {
  id: 'hello',
  goal: 'greet {{params.name}}',
  params: { name: { type: 'string', default: 'world' } },
  tasks: [
    { id: 'greet', tool: 'mock', inputs: { text: 'Hello, {{params.name}}!' } },
    { id: 'keep', tool: 'store', inputs: { key: 'greeting', value: '{{greet.output.inputs.text}}' } },
  ],
};

/** The example pipeline as YAML. */
export const EXAMPLE_YAML = `pipeline:
  id: hello
  goal: greet {{params.name}}
  params:
    name: { type: string, default: world }
  tasks:
    - id: greet
      tool: mock
      inputs: { text: "Hello, {{params.name}}!" }
    - id: keep
      tool: store
      inputs: { key: greeting, value: "{{greet.output.inputs.text}}" }
`;
