/** A plan that the documents can be tried out with: one of its pipelines stands in it, the other beside it. */
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
          {
            id: 'keep',
            tool: 'store',
            inputs: { key: 'greeting', value: 'Dear {{pipeline.inputs.name}}' },
          },
        ],
      },
    },
    { id: 'sign', reads: ['greeting'], stores: ['letter'] },
  ],
};

/** What is sent beside it. */
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

/** A plan that is whole in itself, as a file holds it. */
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

/** A definition that the documents can be tried out with. */
export const EXAMPLE_PIPELINE = {
  id: 'hello',
  goal: 'greet {{params.name}}',
  params: { name: { type: 'string', default: 'world' } },
  tasks: [
    { id: 'greet', tool: 'mock', inputs: { text: 'Hello, {{params.name}}!' } },
    { id: 'keep', tool: 'store', inputs: { key: 'greeting', value: '{{greet.output.inputs.text}}' } },
  ],
};

/** The same as a file holds it. */
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
