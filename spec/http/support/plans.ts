/** A pipeline of one task. */
export function createPipeline(id: string, task: object): object {
  return { id, goal: 'g', tasks: [task] };
}

/** A task that stores a value. */
export function createStoreTask(key: string, value: unknown): object {
  return { id: 'keep', tool: 'store', inputs: { key, value } };
}

/** Two sub-pipelines: `greet` reads an input, and `sign` reads what `greet` has stored. */
export const LETTER = {
  id: 'letter',
  goal: 'write a letter',
  inputs: { name: 'world' },
  sub_pipelines: [
    { id: 'sign', reads: ['greeting'], stores: ['letter'] },
    { id: 'greet', stores: ['greeting'], inputs: ['name'] },
  ],
};

export const LETTER_PIPELINES = {
  greet: createPipeline('greet', createStoreTask('greeting', 'Dear {{pipeline.inputs.name}}')),
  sign: createPipeline('sign', createStoreTask('letter', '{{session.greeting}}, yours')),
};

/** A plan that contains its only pipeline, as YAML. */
export const LETTER_YAML = `plan:
  id: letter
  inputs: { name: world }
  sub_pipelines:
    - id: greet
      stores: [greeting]
      inputs: [name]
      pipeline:
        id: greet
        goal: g
        tasks:
          - { id: keep, tool: store, inputs: { key: greeting, value: "Dear {{pipeline.inputs.name}}" } }
`;

/** A plan that fails in its second sub-pipeline. */
export const DOOMED = {
  id: 'doomed',
  sub_pipelines: [
    { id: 'a', stores: ['k'], pipeline: createPipeline('a', createStoreTask('k', 1)) },
    {
      id: 'b',
      reads: ['k'],
      pipeline: createPipeline('b', { id: 't', tool: 'fail', inputs: { message: 'boom {{session.k}}' } }),
    },
  ],
};
