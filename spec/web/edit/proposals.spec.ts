import { yamlLanguage } from '@codemirror/lang-yaml';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { pipelineJsonSchema, planJsonSchema } from '../../../lib/definition/schema/json-schema.js';
import { checkPipeline } from '../../../lib/pipelines/check.js';
import { PathCollector } from '../../../lib/pipelines/shapes/readable-paths.js';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { propose } from '../../../web/console/edit/model/completions.js';
import { findCursor } from '../../../web/console/edit/model/cursor-path.js';
import { explain } from '../../../web/console/edit/model/hover.js';
import { type Outline, partAt, readDefaults, readOutline } from '../../../web/console/edit/model/outline.js';
import { SNIPPETS, START_TEMPLATE, writeSnippet } from '../../../web/console/edit/model/snippets.js';
import type { Language, Vocabulary } from '../../../web/console/edit/model/vocabulary.js';
import { readYaml } from '../../../web/console/edit/model/yaml-tree.js';
import { cases } from '../../support/measuring/cases.js';

const catalog = builtinCatalog().withPools(['erp', 'gpu']);
const LANGUAGE: Language = {
  pipeline: pipelineJsonSchema(catalog.taskNames()),
  plan: planJsonSchema(catalog.taskNames()),
  tools: new Map(catalog.metadata().map((tool) => [tool.name, tool])),
};

function outlineOf(text: string): Outline {
  const tree = yamlLanguage.parser.parse(text);
  return readOutline(readYaml(tree, (from, to) => text.slice(from, to)));
}

/** The language, and what the server says of a text. */
function vocabularyOf(text: string): Vocabulary {
  const collector = new PathCollector();
  const { onRead } = collector;
  if (outlineOf(text).kind === 'plan') checkPlan(text, { catalog, onRead });
  else checkPipeline(text, { catalog, onRead });
  return { ...LANGUAGE, paths: runToEnd(collector.list()) };
}

/** Divides a text at its cursor. */
function split(marked: string): { readonly text: string; readonly at: number } {
  const at = marked.indexOf('¦');
  return { text: marked.replace('¦', ''), at };
}

function labelsAt(marked: string): string[] {
  const { text, at } = split(marked);
  return propose(findCursor(text, at), outlineOf(text), vocabularyOf(text)).options.map(({ label }) => label);
}

const TASKS = `pipeline:
  id: p
  goal: g
  params:
    city: {type: string}
    days: {type: integer, default: 3, description: How many.}
  inputs: {urls: [a, b]}
  tasks:
    - id: fetch
      tool: http_request
      inputs: {url: "{{params.city}}"}
    - id: keep
      tool: store
      inputs: {key: seen, value: 1}
`;

describe('What the editor proposes at the cursor', () => {
  it('is a pipeline or a plan in an empty text', () => {
    expect(labelsAt('¦')).to.deep.equal(['pipeline', 'plan']);
    expect(labelsAt('pip¦')).to.deep.equal(['pipeline', 'plan']);
  });

  it('are the fields of a pipeline that are not written yet', () => {
    const labels = labelsAt('pipeline:\n  id: x\n  go¦\n  tasks: []\n');
    expect(labels).to.include.members(['goal', 'params', 'inputs', 'reads']);
    expect(labels).to.not.include.members(['id']).and.not.include('tasks');
  });

  it('are the fields of a task, also in an empty entry and in braces', () => {
    for (const marked of [
      'pipeline:\n  tasks:\n    - ¦',
      'tasks:\n-¦',
      'tasks:\n- {¦}',
      'tasks:\n  - id: a\n    ¦',
    ]) {
      expect(labelsAt(marked), marked).to.include.members(['tool', 'inputs', 'await', 'retry']);
    }
    expect(labelsAt('tasks:\n- {id: a, to¦}')).to.not.include('id');
  });

  it('are the tools of the server, with what they are for', () => {
    const { text, at } = split('tasks:\n  - id: a\n    tool: tr¦');
    const { from, options } = propose(findCursor(text, at), outlineOf(text), vocabularyOf(text));
    expect(text.slice(from, at)).to.equal('tr');
    const transform = options.find(({ label }) => label === 'transform');
    expect(transform?.info).to.match(/JSONata/);
    expect(options.length).to.equal(catalog.names().length);
  });

  it('are the inputs of the tool of the task, with those that are required first', () => {
    const { text, at } = split('tasks:\n  - id: a\n    tool: transform\n    inputs:\n      ¦');
    const { options } = propose(findCursor(text, at), outlineOf(text), vocabularyOf(text));
    expect(options.map(({ label }) => label)).to.include.members(['input', 'expression']);
    expect(options.find(({ label }) => label === 'expression')?.detail).to.include('required');
    expect(labelsAt('tasks:\n- {id: a, tool: store, inputs: {key: k, ¦}}')).to.deep.equal([
      'value',
      'append',
    ]);
  });

  it('are the values that a field or an input may have', () => {
    expect(labelsAt('params:\n  n: {type: ¦}')).to.include.members(['string', 'integer', 'list']);
    expect(labelsAt('tasks:\n- id: a\n  on_item_error: ¦')).to.deep.equal(['fail', 'collect']);
    expect(labelsAt('tasks:\n- id: a\n  tool: store\n  inputs:\n    append: ¦')).to.deep.equal([
      'true',
      'false',
    ]);
  });

  it('are other tasks in await, in a list of either form', () => {
    expect(labelsAt(`${TASKS}    - id: c\n      await: [¦]\n`)).to.deep.equal(['fetch', 'keep']);
    expect(labelsAt(`${TASKS}    - id: c\n      await:\n        - fe¦`)).to.deep.equal(['fetch', 'keep']);
  });

  it('is everything that a template can read, and nothing after a fallback', () => {
    const task = (value: string): string =>
      `${TASKS}    - id: c\n      tool: mock\n      inputs:\n        x: ${value}\n`;
    expect(labelsAt(task('"{{¦'))).to.include.members([
      'fetch.output',
      'keep.output',
      'params.city',
      'params.days',
      'pipeline.inputs.urls',
      'session.seen',
      'pipeline.goal',
      'secrets.',
    ]);
    expect(labelsAt(task('"{{¦')))
      .to.not.include('c.output')
      .and.not.include('item');
    expect(labelsAt(task('"{{ params.c¦ }}"'))).to.include('params.city');
    expect(labelsAt(task('"{{params.city ?? ¦'))).to.deep.equal([]);
    expect(labelsAt(task('>\n          in a block {{fe¦'))).to.include('fetch.output');
    expect(
      labelsAt(task('1\n      parallel_over: "{{pipeline.inputs.urls}}"').replace('x: 1', 'x: "{{¦"')),
    ).to.include('item');
    expect(labelsAt('pipeline:\n  goal: for {{¦\n  params: {a: {}}')).to.include('params.a');
  });

  it('are the pools of the server', () => {
    expect(labelsAt('tasks:\n- id: a\n  pool: ¦')).to.deep.equal(['erp', 'gpu']);
  });

  const HANDLERS = `${TASKS}    - id: maybe
      tool: mock
      when: "{{fetch.output}}"
  on_failure:
    - id: alert
      tool: store
  finally:
    - id: clean
      tool: mock
`;

  it('are the lists of handlers, and within them the fields of a task, its tools and its inputs', () => {
    expect(labelsAt(`${TASKS}  on_¦`)).to.include.members([
      'on_success',
      'on_failure',
      'on_cancel',
      'finally',
    ]);
    expect(labelsAt('on_failure:\n  - ¦')).to.include.members(['tool', 'inputs', 'retry', 'pool']);
    expect(labelsAt('finally:\n- id: a\n  tool: ¦')).to.deep.equal(catalog.names());
    expect(labelsAt('finally:\n- {id: a, tool: store, inputs: {key: k, ¦}}')).to.deep.equal([
      'value',
      'append',
    ]);
  });

  it('is the end of the run in handlers alone, and the state of tasks that may not have run', () => {
    const inTask = labelsAt(`${TASKS}    - id: c\n      inputs: {x: "{{¦"}\n`);
    expect(inTask).to.include.members(['run.id', 'run.url', 'run.started_by']);
    const ofEnd = ['run.status', 'run.error', 'run.failed_task', 'run.error_code'];
    expect(inTask.filter((label) => ofEnd.includes(label))).to.deep.equal([]);
    const inHandler = labelsAt(`${HANDLERS}    - id: last\n      inputs: {x: "{{¦"}\n`);
    expect(inHandler).to.include.members([...ofEnd, 'run.id', 'fetch.output', 'maybe.output']);
    expect(inHandler).to.include.members(['maybe.status', 'maybe.error']).and.not.include('fetch.status');
  });

  it('are no handlers but those that have run before', () => {
    const at = (list: string) => labelsAt(`${HANDLERS}  ${list}:\n    - {id: new, await: [¦]}\n`);
    expect(at('on_cancel')).to.deep.equal(['fetch', 'keep', 'maybe']);
    expect(labelsAt(`${HANDLERS}    - {id: new, await: [¦]}\n`)).to.deep.equal([
      'fetch',
      'keep',
      'maybe',
      'alert',
      'clean',
    ]);
    expect(labelsAt(HANDLERS.replace('tool: mock\n      when', 'await: [¦]\n      when'))).to.deep.equal([
      'fetch',
      'keep',
    ]);
  });

  it('are in handlers of a plan no outputs of sub-pipelines, but keys, inputs, other handlers and the end of the run', () => {
    const plan = (last: string): string => `plan:
  id: x
  inputs: {limit: 3}
  sub_pipelines:
    - {id: s, stores: [rows]}
  on_failure:
    - {id: alert, tool: mock}
  finally:
    - ${last}
`;
    const paths = labelsAt(plan('{id: z, tool: mock, inputs: {x: "{{¦"}}'));
    expect(paths).to.include.members(['session.rows', 'pipeline.inputs.limit', 'alert.output', 'run.status']);
    expect(paths).to.not.include.members(['s.output']).and.not.include('params.');
    expect(labelsAt(plan('{id: z, await: [¦]}'))).to.deep.equal(['alert']);
    expect(labelsAt(plan('{id: z, tool: store, inputs: {¦}}'))).to.deep.equal(['key', 'value', 'append']);
    expect(labelsAt(plan('{id: z, tool: store, inputs: {key: ¦}}'))).to.deep.equal(['rows']);
    expect(labelsAt(plan('{id: z, ¦}'))).to.include.members(['tool', 'retry', 'when']);
    expect(labelsAt('plan:\n  id: x\n  ¦')).to.include.members(['on_failure', 'finally', 'handler_timeout']);
    const { text, at } = split(plan('{id: z, tool: mock, inputs: {x: "{{run.err¦or}}"}}'));
    expect(explain(text, at, outlineOf(text), vocabularyOf(text))?.text).to.match(/failed of/);
  });

  it('are session keys where keys are listed', () => {
    expect(labelsAt(`${TASKS}  reads: [¦]`)).to.deep.equal(['seen']);
    const plan = 'plan:\n  sub_pipelines:\n    - {id: a, stores: [rows]}\n    - id: b\n      reads: [¦]\n';
    expect(labelsAt(plan)).to.deep.equal(['rows']);
  });

  it('are those of the pipeline within a plan', () => {
    const plan = `plan:
  id: x
  sub_pipelines:
    - id: s
      pipeline:
        id: s
        goal: g
        tasks:
          - {id: one, tool: mock}
          - id: two
            tool: mock
            inputs: {x: "{{¦"}
`;
    expect(labelsAt(plan)).to.include('one.output').and.not.include('two.output');
    expect(labelsAt('plan:\n  sub_pipelines:\n    - ¦')).to.include.members(['reads', 'stores', 'file']);
  });

  it('never fails, wherever the cursor is in whatever was written', () => {
    const piece = fc.constantFrom(
      '\n',
      '  ',
      '- ',
      'tasks:',
      'id: a',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '{{',
      '}}',
      ': ',
      '|',
      ',',
      'tool: mock',
      '#',
      '\t',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(200), (pieces, place) => {
        const text = pieces.join('');
        const at = Math.min(place, text.length);
        const cursor = findCursor(text, at);
        expect(cursor.from).to.be.within(0, at);
        propose(cursor, outlineOf(text), vocabularyOf(text));
        explain(text, at, outlineOf(text), vocabularyOf(text));
      }),
      cases(500),
    );
  });
});

describe('The paths of templates in the editor', () => {
  const DEFINITION = `${TASKS}    - {id: files, tool: list_files, inputs: {path: .}}
    - {id: each, tool: http_request, parallel_over: "{{OVER}}", inputs: {url: "{{ITEM}}"}}
    - {id: wait, tool: http_request, inputs: {url: a}, repeat: {every: 1s, at_most: 3, until: "{{UNTIL}}"}}
    - {id: last, tool: mock, inputs: {x: "{{PATH}}"}}
`;
  const write = (path: string, place: string): string =>
    DEFINITION.replace(place, () => path)
      .replace('OVER', 'files.output.files')
      .replace(/PATH|ITEM|UNTIL/g, 'params.city');

  const proposalsAt = (path: string, place = 'PATH') => {
    const { text, at } = split(write(`${path}¦`, place));
    return propose(findCursor(text, at), outlineOf(text), vocabularyOf(text)).options;
  };
  const labels = (path: string, place?: string): string[] =>
    proposalsAt(path, place).map(({ label }) => label);

  const explainPath = (path: string, place = 'PATH') => {
    const { text, at } = split(write(path, place));
    return explain(text, at, outlineOf(text), vocabularyOf(text));
  };

  it('are proposed by the schema of the tool, with their types, and none where nobody knows any', () => {
    expect(labels('fetch.output.')).to.deep.equal([
      'fetch.output.status',
      'fetch.output.url',
      'fetch.output.headers',
      'fetch.output.body',
    ]);
    expect(proposalsAt('fetch.output.')[0]).to.include({ label: 'fetch.output.status', detail: 'integer' });
    expect(labels('fetch.output.st')).to.deep.equal(labels('fetch.output.'));
    expect(labels('fetch.output.body.')).to.deep.equal([]);
    expect(labels('last.output.'), 'of the task itself').to.deep.equal([]);
  });

  it('are those of an element, and of a list how to select one', () => {
    for (const element of ['files[0]', 'files[-1]', 'files.0', 'files.first', 'files.last'])
      expect(labels(`files.output.${element}.`), element).to.include(`files.output.${element}.modified`);
    expect(labels('files.output.files.')).to.deep.equal(
      ['first', 'last', 'length'].map((name) => `files.output.files.${name}`),
    );
    expect(labels('each.output[-1].')).to.include('each.output[-1].status');
    expect(labels('each.output.')).to.include('each.output.first').and.not.include('each.output.status');
  });

  it('are those of the item of a fan-out, but not in its list', () => {
    expect(labels('item.', 'ITEM')).to.include.members(['item.path', 'item.modified']);
    expect(labels('', 'ITEM')).to.include('item');
    expect(labels('item.', 'PATH')).to.deep.equal([]);
    expect(labels('item.', 'OVER')).to.deep.equal([]);
  });

  it('are params with their types and descriptions', () => {
    const params = proposalsAt('params.');
    expect(params.map(({ label }) => label)).to.deep.equal(['params.city', 'params.days']);
    expect(params[1]).to.include({ detail: 'integer', info: 'How many.' });
    expect(labels('params.c')).to.include('params.city').and.not.include('pipeline.goal');
  });

  it('are those of what a session key holds', () => {
    const keep = write('session.seen.¦', 'PATH').replace('value: 1', 'value: "{{fetch.output}}"');
    expect(labelsAt(keep)).to.include('session.seen.status');
  });

  it('are those of a round in repeat.until alone', () => {
    expect(labels('this.output.', 'UNTIL')).to.include('this.output.status');
    expect(labels('this.output.', 'PATH')).to.deep.equal([]);
  });

  it('are of each pipeline within a plan its own', () => {
    const plan = `plan:
  id: x
  sub_pipelines:
    - {id: a, pipeline: {id: a, goal: g, tasks: [{id: one, tool: http_request, inputs: {url: u}}]}}
    - id: b
      pipeline:
        id: b
        goal: g
        tasks:
          - {id: one, tool: list_files, inputs: {path: .}}
          - {id: two, tool: mock, inputs: {x: "{{one.output.¦}}"}}
`;
    expect(labelsAt(plan)).to.include('one.output.files').and.not.include('one.output.status');
  });

  it('are explained up to the name under the pointer, with type, description and fields', () => {
    expect(explainPath('fetch.output.sta¦tus')).to.include({
      title: 'fetch.output.status',
      detail: 'integer',
    });
    expect(explainPath('params.da¦ys')).to.include({
      title: 'params.days',
      detail: 'integer',
      text: 'How many.',
    });
    expect(explainPath('item.pa¦th', 'ITEM')).to.include({ title: 'item.path', detail: 'text' });
    const files = explainPath('files.output.fi¦les[0].path');
    expect(files).to.include({ title: 'files.output.files[0]', detail: 'map' });
    expect(files?.names.map(({ name }) => name)).to.include.members(['path', 'modified']);
    expect(explainPath('fe¦tch.output.status')?.title).to.equal('fetch.output.status');
  });

  it('are not explained where they lead nowhere, or cannot be read', () => {
    for (const [path, place] of [
      ['fetch.output.sta¦tsu', 'PATH'],
      ['params.to¦wn', 'PATH'],
      ['item.pa¦th', 'PATH'],
      ['nobody.out¦put', 'PATH'],
      ['this.output.sta¦tus', 'PATH'],
    ] as const)
      expect(explainPath(path, place), path).to.equal(undefined);
  });
});

describe('What the editor explains', () => {
  const explainAt = (marked: string) => {
    const { text, at } = split(marked);
    return explain(text, at, outlineOf(text), vocabularyOf(text));
  };

  it('are fields, inputs and tools', () => {
    expect(explainAt('tasks:\n- id: a\n  re¦try: 3')).to.include({
      title: 'retry',
      detail: 'integer, default 0',
    });
    expect(explainAt('tasks:\n- id: a\n  tool: transform\n  inputs: {expr¦ession: $}')?.text).to.match(
      /JSONata/i,
    );
    const tool = explainAt('tasks:\n- id: a\n  tool: sto¦re');
    expect(tool?.names.map(({ name }) => name)).to.deep.equal(['key', 'value', 'append']);
  });

  it('are lists of handlers, the fields of their tasks, and the end of the run within them', () => {
    expect(explainAt('on_fai¦lure: []')?.text).to.match(/when the run has failed/);
    expect(explainAt('finally:\n- id: a\n  re¦try: 3')).to.include({ title: 'retry' });
    const read = (list: string) => explainAt(`${list}:\n- id: a\n  inputs: {x: "{{run.fai¦led_task}}"}`);
    expect(read('on_failure')).to.include({ title: 'run.failed_task', detail: 'text or null' });
    expect(read('tasks')).to.equal(undefined);
  });

  it('is nothing else', () => {
    for (const marked of ['tasks:\n- id: so¦me', 'tasks:\n- id: a\n  inputs: {x: "{{params.na¦me}}"}', '¦']) {
      expect(explainAt(marked), marked).to.equal(undefined);
    }
  });
});

describe('The outline of a text in the editor', () => {
  it('has the tasks with their places, also of a text with errors', () => {
    const text = `${TASKS}    - id: last\n      to`;
    const { parts } = outlineOf(text);
    expect(parts.map(({ id, tool }) => [id, tool])).to.deep.equal([
      ['fetch', 'http_request'],
      ['keep', 'store'],
      ['last', ''],
    ]);
    expect(partAt(outlineOf(text), text.indexOf('seen'))?.id).to.equal('keep');
    const handler = `${TASKS}  finally:\n    - {id: clean, tool: mock}\n`;
    expect(partAt(outlineOf(handler), handler.indexOf('clean'))?.id).to.equal('clean');
  });

  it('gives the declarations of the params for a form', () => {
    expect(readDefaults(outlineOf(TASKS))).to.deep.equal({
      params: { city: { type: 'string' }, days: { type: 'integer', default: 3, description: 'How many.' } },
      inputs: { urls: ['a', 'b'] },
    });
  });
});

describe('The examples of the editor', () => {
  it('have no problems, alone and after each other', () => {
    expect(checkPipeline(START_TEMPLATE, { catalog }).problems).to.deep.equal([]);
    let text = START_TEMPLATE;
    for (const snippet of [...SNIPPETS, ...SNIPPETS]) {
      const ids = outlineOf(text).parts.map(({ id }) => id);
      text += writeSnippet(snippet, ids, '    ');
    }
    expect(
      checkPipeline(text, { catalog }).problems.filter(({ severity }) => severity === 'error'),
    ).to.deep.equal([]);
  });
});
