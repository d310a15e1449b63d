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
