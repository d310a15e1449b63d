/** A good pipeline, in which each mutation makes one mistake that language models make. */
export const GOOD = `pipeline:
  id: digest
  goal: Digest pages for {{params.reader}}
  params:
    urls:
      type: list
      description: Addresses
    reader:
      type: string
      default: the board
  inputs:
    tone: sober
  tasks:
    - id: pages
      tool: ingest_document
      parallel_over: "{{params.urls}}"
      fan_out_concurrency: 4
      retry: 2
      timeout: 60
      inputs:
        path: "{{item}}"
    - id: texts
      tool: transform
      inputs:
        input: "{{pages.output}}"
        expression: "[$.text]"
    - id: keep
      tool: store
      inputs:
        key: texts
        value: "{{texts.output}}"
    - id: digest
      tool: llm_job
      await: [keep]
      inputs:
        prompt: "Write a digest in a {{pipeline.inputs.tone}} tone for {{params.reader}}."
        texts: "{{session.texts}}"
    - id: file
      tool: export
      inputs:
        data: "{{digest.output}}"
        format: text
        filename: digest.txt
`;

/** One mistake: what is replaced, by what, and a part of the cure that a message must name. */
export interface Mutation {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly cure: RegExp;
}

function m(what: string, from: string, to: string, cure: RegExp): Mutation {
  return { what, from, to, cure };
}

export const MUTATIONS: readonly Mutation[] = [
  // templates
  m('a template without quotes', 'input: "{{pages.output}}"', 'input: {{pages.output}}', /quotes/),
  m('single braces', 'path: "{{item}}"', 'path: "{item}"', /\{\{item\}\}/),
  m(
    'a dollar before single braces',
    'data: "{{digest.output}}"',
    'data: "${digest.output}"',
    /\{\{digest\.output\}\}/,
  ),
  m(
    'a dollar before double braces',
    'value: "{{texts.output}}"',
    'value: "${{texts.output}}"',
    /write \{\{texts\.output\}\}/,
  ),
  m('triple braces', 'value: "{{texts.output}}"', 'value: "{{{texts.output}}}"', /braces?/),
  m('outputs for output', '{{digest.output}}', '{{digest.outputs}}', /digest\.output\b(?!s)/),
  m('result for output', '{{digest.output}}', '{{digest.result}}', /digest\.output/),
  m('an output that is left out', '{{texts.output}}', '{{texts}}', /texts\.output/),
  m('tasks before the id', '{{pages.output}}', '{{tasks.pages.output}}', /pages\.output/),
  m(
    'steps and outputs, as in GitHub Actions',
    '{{pages.output}}',
    '{{steps.pages.outputs.text}}',
    /pages\.output/,
  ),
  m('a filter', '{{texts.output}}', '{{texts.output | join}}', /transform/),
  m('a function', '{{texts.output}}', '{{length(texts.output)}}', /transform/),
  m('an operator', '{{texts.output}}', '{{texts.output + 1}}', /transform/),
  m('a condition', '{{texts.output}}', '{{texts.output ? 1 : 2}}', /transform/),
  m('an "or"', '{{texts.output}}', '{{texts.output or 0}}', /transform/),
  m('a block of Handlebars', '{{texts.output}}', '{{#each texts.output}}', /transform/),
  m('a block of Jinja', 'value: "{{texts.output}}"', 'value: "{% for t in texts %}"', /transform|templates/),
  m('a wildcard', '{{pages.output}}', '{{pages.output[*].text}}', /transform/),
  m('a slice', '{{pages.output}}', '{{pages.output[0:3]}}', /write \[0\]|transform/),
  m('optional chaining', '{{pages.output}}', '{{pages.output?.text}}', /\?\? null/),
  m('a template that is not closed', '"{{texts.output}}"', '"{{texts.output}"', /\}\}/),
  m('an empty template', '"{{texts.output}}"', '"{{}}"', /path/),
  m('a literal in a template', '"{{texts.output}}"', `"{{'texts'}}"`, /without braces/),
  m('a misspelt task', '{{texts.output}}', '{{text.output}}', /texts/),
  m('a misspelt param', '{{params.urls}}', '{{params.url}}', /urls/),
  m('a param that is not declared', '{{params.urls}}', '{{params.addresses}}', /declare/),
  m('param for params', '{{params.urls}}', '{{param.urls}}', /"params"/),
  m('inputs without pipeline', '{{pipeline.inputs.tone}}', '{{inputs.tone}}', /pipeline\.inputs\.tone/),
  m('an input that is a param', '{{params.urls}}', '{{pipeline.inputs.urls}}', /params\.urls/),
  m('a param that is an input', '{{pipeline.inputs.tone}}', '{{params.tone}}', /pipeline\.inputs\.tone/),
  m('the environment', '{{pipeline.inputs.tone}}', '{{env.TONE}}', /param/),
  m('secret for secrets', '{{pipeline.inputs.tone}}', '{{secret.TONE}}', /secrets/),
  m('items for item', 'path: "{{item}}"', 'path: "{{items}}"', /\{\{item\}\}|"item"/),
  m('item outside of a fan-out', 'value: "{{texts.output}}"', 'value: "{{item}}"', /parallel_over/),
  m('a fan-out without item', 'path: "{{item}}"', 'path: "a.txt"', /\{\{item\}\}/),
  m('its own output', 'value: "{{texts.output}}"', 'value: "{{keep.output}}"', /own output/),
  // fan-out and order
  m(
    'parallel_over with a bare name',
    'parallel_over: "{{params.urls}}"',
    'parallel_over: params.urls',
    /\{\{params\.urls\}\}/,
  ),
  m(
    'parallel_over with a list',
    'parallel_over: "{{params.urls}}"',
    'parallel_over: [a, b]',
    /\{\{pipeline\.inputs\.NAME\}\}/,
  ),
  m(
    'parallel_over with a text around it',
    'parallel_over: "{{params.urls}}"',
    'parallel_over: "all {{params.urls}}"',
    /one template/,
  ),
  m('for_each', 'parallel_over:', 'for_each:', /parallel_over/),
  m('depends_on', 'await: [keep]', 'depends_on: [keep]', /await/),
  m('await of a task that is not there', 'await: [keep]', 'await: [kept]', /keep/),
  m('await as a text', 'await: [keep]', 'await: keep', /\[keep\]|list/),
  m('no await before a session value', '      await: [keep]\n', '', /await/),
  m('a session key that nothing stores', '{{session.texts}}', '{{session.text}}', /texts|store/),
  m('a cycle', 'input: "{{pages.output}}"', 'input: "{{digest.output}}"', /remove one/),
  // tools and inputs
  m('a misspelt tool', 'tool: llm_job', 'tool: llm_jobs', /llm_job/),
  m('a shorter name of a tool', 'tool: llm_job', 'tool: llm', /llm_job/),
  m('an invented tool', 'tool: export', 'tool: send_email', /tools/),
  m(
    'a missing input',
    '        prompt: "Write a digest in a {{pipeline.inputs.tone}} tone for {{params.reader}}."\n',
    '',
    /prompt/,
  ),
  m('a misspelt input', 'expression:', 'expresion:', /expression/),
  m(
    'an invented input',
    'filename: digest.txt',
    'destination: digest.txt',
    /no input|accepts|inputs are|known/,
  ),
  m('a wrong value of an input', 'format: text', 'format: pdf', /"text"|text/),
  m('a wrong type of an input', 'key: texts', 'key: 7', /string|text/),
  m(
    'inputs beside "inputs"',
    '      inputs:\n        key: texts',
    '      key: texts\n      inputs:',
    /needs the input "key"/,
  ),
  m('with for inputs', '      inputs:\n        key: texts', '      with:\n        key: texts', /inputs/),
  m('an expression that is not JSONata', '"[$.text]"', '"[$.text for p in pages"', /expect|"\]"|JSONata|\$/),
  // fields
  m('name for id', '- id: keep', '- name: keep', /id/),
  m('a dot in an id', '- id: keep', '- id: keep.it', /letters|pattern|dots|_/),
  m('the same id twice', '- id: keep', '- id: texts', /rename|unique|twice|another|already/),
  m('a reserved id', '- id: keep', '- id: session', /another|rename|reserved/),
  m('steps for tasks', '  tasks:', '  steps:', /tasks/),
  m('retries for retry', 'retry: 2', 'retries: 2', /retry/),
  m('retry as a map', 'retry: 2', 'retry: {max: 2}', /integer|number/),
  m('a timeout in words', 'timeout: 60', 'timeout: 1 minute', /60/),
  m('a condition of another product', 'tool: store', 'tool: store\n      if: "{{params.reader}}"', /when/),
  m('no goal', '  goal: Digest pages for {{params.reader}}\n', '', /goal/),
  m('a type of another language', 'type: list', 'type: array', /list/),
  m('an optional param', 'default: the board', 'required: false', /default/),
  m(
    'params as a list',
    '  params:\n    urls:\n      type: list\n      description: Addresses\n',
    '  params:\n    - name: urls\n',
    /NAME|map|name/,
  ),
  m(
    'a param beside the pipeline',
    'filename: digest.txt\n',
    'filename: digest.txt\ntone: sober\n',
    /move it under "pipeline"/,
  ),
  // YAML
  m('a tab', '      tool: store', '\ttool: store', /tab|space/),
  m('a colon in a text', 'filename: digest.txt', 'filename: digest: txt', /quotes?/),
  m('a quote that is not closed', 'filename: digest.txt', 'filename: "digest.txt', /quote|close/),
  m(
    'a lost indentation',
    '      inputs:\n        data:',
    '     inputs:\n        data:',
    /indent|column|align/,
  ),
  m('a key twice', '        format: text', '        format: text\n        format: text', /keep one of them/),
];
