/** A small pipeline that works, for an empty page: it needs no network, no file and no model. */
export const START_TEMPLATE = `pipeline:
  id: greetings
  goal: Greet everybody on the list
  params:
    greeting:
      type: string
      default: Hello
      description: The word before each name.
  inputs:
    names: [Ada, Grace, Edsger]
  tasks:
    # Runs once for each name, side by side.
    - id: greet
      tool: transform
      parallel_over: "{{pipeline.inputs.names}}"
      inputs:
        input: {word: "{{params.greeting}}", name: "{{item}}"}
        expression: word & ", " & name & "!"
    # Waits for all of them, because it reads their outputs.
    - id: letter
      tool: transform
      inputs:
        input: "{{greet.output}}"
        expression: $join($, "\\n")
`;

/** A piece of a definition to insert. */
export interface Snippet {
  readonly title: string;
  readonly about: string;
  /** Lines of a list of tasks, without indentation. */
  readonly text: string;
}

/** Tasks to insert, one for each use of a task. Words in capitals are replaced by what the text has. */
export const SNIPPETS: readonly Snippet[] = [
  {
    title: 'Task',
    about: 'Computes a value from another one',
    text: '- id: ID\n  tool: transform\n  inputs:\n    input: INPUT\n    expression: EXPRESSION\n',
  },
  {
    title: 'Fan-out',
    about: 'Calls a tool once for each item of a list',
    text: '- id: ID\n  tool: transform\n  parallel_over: "{{LIST}}"\n  inputs:\n    input: "{{item}}"\n    expression: $\n',
  },
  {
    title: 'Retry',
    about: 'Tries again after a failure, with growing delays',
    text: '- id: ID\n  tool: http_request\n  retry: 3\n  retry_delay: 1\n  timeout: 30\n  inputs:\n    url: https://example.com/\n',
  },
  {
    title: 'Await',
    about: 'Runs after another task without reading its output',
    text: '- id: ID\n  tool: sleep\n  await: [TASK]\n  inputs:\n    seconds: 1\n',
  },
  {
    title: 'Blackboard',
    about: 'Stores a value that later tasks read as {{session.KEY}}',
    text: '- id: ID\n  tool: store\n  inputs:\n    key: result\n    value: "{{LIST}}"\n',
  },
  {
    title: 'Model',
    about: 'Asks a language model; its other inputs are the context',
    text: '- id: ID\n  tool: llm_job\n  inputs:\n    prompt: Summarise this in one sentence.\n    text: "{{LIST}}"\n',
  },
];

/** Writes a snippet for a definition: with a free id, a list or output that there is, and the indentation of its tasks. */
export function writeSnippet({ title, text }: Snippet, taskIds: readonly string[], indent: string): string {
  const name = title.toLowerCase().replaceAll(/[^a-z]/g, '_');
  let id = name;
  for (let count = 2; taskIds.includes(id); count++) id = `${name}_${count}`;
  const last = taskIds.at(-1);
  const filled = text
    .replace('ID', id)
    .replace('INPUT', last === undefined ? '{a: 1, b: 2}' : `"{{${last}.output}}"`)
    .replace('EXPRESSION', last === undefined ? 'a + b' : '$')
    .replace('LIST', last === undefined ? 'pipeline.inputs.list' : `${last}.output`)
    .replace('[TASK]', last === undefined ? '[]' : `[${last}]`);
  return filled.replaceAll(/^(?=.)/gm, indent);
}
