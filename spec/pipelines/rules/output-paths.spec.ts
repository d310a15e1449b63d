import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';
import { checkPipelineText, checkTaskList, onlyProblem } from '../../support/definitions/check-pipeline.js';

const LIST = '- {id: list, tool: http_request, inputs: {url: "https://example.com"}}';
const FILES = '- {id: files, tool: list_files, inputs: {path: .}}';
const EACH = `${FILES}\n- {id: each, tool: read_file, parallel_over: "{{files.output.files}}", inputs: {path: "{{item.path}}"}}`;

function check(tasks: string): readonly Problem[] {
  return checkTaskList(tasks).problems;
}

/** Checks a task that reads a template, after others. */
function read(before: string, template: string, fields = ''): readonly Problem[] {
  return check(
    `${before}\n- {id: reader, tool: transform, inputs: {input: '${template}', expression: $}${fields}}`,
  );
}

describe('The paths of templates into what tools return', () => {
  const wrong: readonly (readonly [before: string, template: string, message: string, hint?: RegExp])[] = [
    [
      LIST,
      '{{list.output.items}}',
      'list.output has no "items": it has status, url, headers, body',
      /list\.output\.body\.items/,
    ],
    [
      LIST,
      '{{list.output.statsu}}',
      'list.output has no "statsu": it has status, url, headers, body',
      /"list\.output\.status"/,
    ],
    [LIST, '{{list.output.status.code}}', 'list.output.status is a number, which has no fields'],
    [LIST, 'text with {{list.items}} in it', 'list.output has no "items": it has status, url, headers, body'],
    [
      LIST,
      '{{list.output[0]}}',
      'list.output is an object, which has no index 0: it has status, url, headers, body',
    ],
    [
      EACH,
      '{{each.output.size}}',
      'each.output is a list: select one of its items first, as in each.output[0].size',
      /parallel_over: "\{\{each\.output\}\}"/,
    ],
    [
      FILES,
      '{{files.output.files[0].nmae}}',
      'files.output.files[0] has no "nmae": it has name, path, size, modified, is_folder',
      /files\[0\]\.name/,
    ],
    [
      '- {id: s, tool: store, inputs: {key: k, value: {a: [1, {b: 2}]}}}',
      '{{s.output.a[1].c}}',
      's.output.a[1] has no "c": it has b',
    ],
    [
      `${LIST}\n- {id: s, tool: store, inputs: {key: k, value: {code: '{{list.output.status}}'}}}`,
      '{{s.output.code.x}}',
      's.output.code is a number, which has no fields',
    ],
    [
      '- {id: doc, tool: ingest_document, inputs: {path: a.pdf}}',
      '{{doc.output.page}}',
      'doc.output has no "page": it has source, format, title, filename, text, bytes, pages, page_count, …',
      /pages/,
    ],
    [
      '- {id: docs, tool: ingest_document, inputs: {path: [a.pdf, b.pdf]}}',
      '{{docs.output.text}}',
      'docs.output is a list: select one of its items first, as in docs.output[0].text',
    ],
    [
      '- {id: fields, tool: extract_fields, inputs: {document: x, schema: {total: number, buyer: string}}}',
      '{{fields.output.totl}}',
      'fields.output has no "totl": it has total, buyer',
      /fields\.output\.total/,
    ],
    [
      '- {id: schema, tool: load_schema, inputs: {source: [total, buyer]}}\n' +
        '- {id: fields, tool: extract_fields, inputs: {document: x, schema: "{{schema.output}}", provenance: true}}',
      '{{fields.output.total}}',
      'fields.output has no "total": it has fields, provenance',
      /fields\.output\.fields\.total/,
    ],
    [
      '- {id: sql, tool: sql_query, inputs: {connection: a, query: select 1}}',
      '{{sql.output.results}}',
      'sql.output has no "results": it has columns, rows, row_count, truncated, changed, artifact',
    ],
    [
      '- {id: sql, tool: sql_query, inputs: {connection: a, queries: [select 1]}}',
      '{{sql.output.rows}}',
      'sql.output has no "rows": it has results',
    ],
    [
      '- {id: label, tool: compute, inputs: {function: fiscal_period_logic, as_of_date: "2024-12-31", company: x}}',
      '{{label.output[0].labl}}',
      'label.output[0] has no "labl": it has label, period_end, period_type, is_annual',
      /\.label"/,
    ],
  ];
  for (const [before, template, message, hint = /./] of wrong) {
    it(`refuses ${template} of ${/tool: (\w+)/.exec(before.split('\n').at(-1) ?? '')?.[1]}`, () => {
      const problem = onlyProblem({
        problems: read(before, template).filter(({ code }) => code !== 'output_omitted'),
      });
      expect(problem.severity).to.equal('error');
      expect(problem.code).to.equal('unknown_reference');
      expect(problem.message).to.match(/^\{\{.*\}\}: /);
      expect(problem.message).to.contain(message);
      expect(problem.path).to.equal(`/pipeline/tasks/${before.split('\n').length}/inputs/input`);
      if (problem.hint !== undefined) expect(problem.hint).to.match(hint);
    });
  }

  const right: readonly (readonly [title: string, tasks: string])[] = [
    [
      'any path in the body of a response',
      `${LIST}\n- {id: a, tool: mock, inputs: {v: "{{list.output.body.items[0].name}} {{list.output.headers.etag}}"}}`,
    ],
    [
      'the whole output, its length and its elements',
      `${EACH}\n- {id: a, tool: mock, inputs: {v: "{{each.output}} {{each.output.length}} {{each.output[-1]}} {{each.output.first}}"}}`,
    ],
    [
      'JSON in the text of a model',
      '- {id: job, tool: llm_job, inputs: {prompt: x}}\n- {id: a, tool: mock, parallel_over: "{{job.output.rows}}", inputs: {v: "{{item.name}}"}}',
    ],
    [
      'any path in the output of mock, which stands in for other tools',
      '- {id: m, tool: mock}\n- {id: a, tool: mock, parallel_over: "{{m.output.rows}}", inputs: {v: "{{item.name}} {{m.output.total}}"}}',
    ],
    [
      'errors and outputs of items whose errors are collected',
      `${FILES}\n- {id: each, tool: ingest_document, on_item_error: collect, parallel_over: "{{files.output.files}}", inputs: {path: "{{item.path}}"}}\n- {id: a, tool: mock, inputs: {v: "{{each.output[0].error}} {{each.output[0].text}}"}}`,
    ],
    [
      'fields of items that a condition may have skipped',
      `${FILES}\n- {id: each, tool: ingest_document, when: "{{item.size}}", parallel_over: "{{files.output.files}}", inputs: {path: "{{item.path}}"}}\n- {id: a, tool: mock, parallel_over: "{{each.output}}", inputs: {v: "{{item.text}}"}}`,
    ],
    [
      'the status and the error of a tolerated task',
      '- {id: list, tool: http_request, on_error: continue, inputs: {url: "https://a.b"}}\n- {id: a, tool: mock, inputs: {v: "{{list.status}} {{list.error}} {{list.output.status ?? null}}"}}',
    ],
    [
      'the output of a round',
      '- {id: a, tool: http_request, inputs: {url: "https://a.b"}, repeat: {until: {value: "{{this.output.body.state}}", const: done}}}',
    ],
    [
      'documents that may be one or several',
      '- {id: m, tool: mock}\n- {id: doc, tool: ingest_document, inputs: {path: "{{m.output.path}}"}}\n- {id: a, tool: mock, inputs: {v: "{{doc.output.text}} {{doc.output[0].text}} {{doc.output.own}}"}}',
    ],
    [
      'a tool without a schema',
      '- {id: t, tool: transform, inputs: {input: 1, expression: $}}\n- {id: a, tool: mock, inputs: {v: "{{t.output.a[0].b}}"}}',
    ],
    [
      'a list with a default',
      `${LIST}\n- {id: a, tool: mock, parallel_over: "{{list.output.body.rows ?? []}}", inputs: {v: "{{item.name}}"}}`,
    ],
    [
      'what the parts of a split document give together',
      '- {id: f, tool: extract_fields, inputs: {document: x, split: true, schema: {type: object, properties: {a: {type: array, maxItems: 2}}}}}\n- {id: a, tool: mock, inputs: {v: "{{f.output.a[5]}}"}}',
    ],
    [
      'keys of a schema that was passed on',
      '- {id: m, tool: mock}\n- {id: s, tool: load_schema, inputs: {source: "{{m.output.x}}"}}\n- {id: a, tool: mock, inputs: {v: "{{s.output.own}} {{s.output.fields[0].unit}}"}}',
    ],
  ];
  for (const [title, tasks] of right) {
    it(`allows ${title}`, () => {
      expect(check(tasks)).to.deep.equal([]);
    });
  }

  it('warns of a path whose default always applies', () => {
    const problem = onlyProblem({ problems: read(LIST, '{{list.output.items ?? null}}') });
    expect(problem).to.include({ severity: 'warning', code: 'unknown_reference' });
    expect(problem.message).to.equal(
      '{{list.output.items ?? null}} always gives its default: list.output has no "items": it has status, url, headers, body',
    );
  });

  const lists: readonly (readonly [before: string, list: string, message: RegExp, hint?: RegExp])[] = [
    [LIST, '{{list.output.status}}', /must give a list, and \{\{list\.output\.status\}\} is a number$/],
    [FILES, '{{files.output}}', /is an object$/, /files\.output\.files/],
    ['- {id: job, tool: llm_job, inputs: {prompt: x}}', '{{job.output}}', /is a text$/, /transform/],
  ];
  for (const [before, list, message, hint] of lists) {
    it(`refuses parallel_over: ${list}`, () => {
      const problem = onlyProblem({
        problems: check(
          `${before}\n- {id: a, tool: mock, parallel_over: "${list}", inputs: {v: "{{item.x}}"}}`,
        ),
      });
      expect(problem).to.include({
        severity: 'error',
        code: 'invalid_value',
        path: '/pipeline/tasks/1/parallel_over',
      });
      expect(problem.message).to.match(message);
      if (hint !== undefined) expect(problem.hint).to.match(hint);
    });
  }

  it('checks the fields of the items of a fan-out', () => {
    const tasks = `${FILES}\n- {id: a, tool: mock, parallel_over: "{{files.output.files}}", inputs: {v: "{{item.nope}}"}}`;
    const { message } = onlyProblem({ problems: check(tasks) });
    expect(message).to.equal(
      '{{item.nope}}: item has no "nope": it has name, path, size, modified, is_folder',
    );
  });

  it('checks conditions, and the output of a round', () => {
    const skipped = `${LIST}\n- {id: a, tool: mock, when: "{{list.output.done}}"}`;
    expect(onlyProblem({ problems: check(skipped) }).message).to.contain('list.output has no "done"');
    const repeated =
      '- {id: a, tool: http_request, inputs: {url: "https://a.b"}, repeat: {until: "{{this.output.done}}"}}';
    expect(onlyProblem({ problems: check(repeated) }).message).to.contain('this.output has no "done"');
  });

  const params = (template: string): readonly Problem[] =>
    checkPipelineText(
      [
        'pipeline:',
        '  id: p',
        '  goal: read params',
        '  params:',
        '    limit: {type: integer, default: 3}',
        '    kind: {type: string, enum: [a, b], default: a}',
        '    text: {type: string, default: ""}',
        '    rows: {type: list, default: [], items: {type: object, properties: {id: {type: integer}}, additionalProperties: false}}',
        '    other: {type: object, default: null}',
        '  tasks:',
        `  - {id: a, tool: mock, inputs: {v: "${template}"}}`,
      ].join('\n'),
    ).problems;

  it('checks the paths into params by their declarations', () => {
    expect(onlyProblem({ problems: params('{{params.limit.x}}') }).message).to.contain(
      'params.limit is a number, which has no fields',
    );
    expect(onlyProblem({ problems: params('{{params.kind.x}}') }).message).to.contain(
      'params.kind is a text',
    );
    expect(onlyProblem({ problems: params('{{params.rows[0].nr}}') }).message).to.contain(
      'params.rows[0] has no "nr": it has id',
    );
    expect(params('{{params.text.a}} {{params.rows[3].id}} {{params.other.a.b}}')).to.deep.equal([]);
  });

  it('reads the schema of an own tool, also of one that replaces a built-in one (D58)', () => {
    const own = defineTool({
      name: 'http_request',
      description: 'of its own',
      inputs: {},
      output: {
        name: 'answer',
        description: 'an answer',
        type: 'object',
        schema: { type: 'object', properties: { items: { type: 'array' } }, additionalProperties: false },
      },
      run: () => ({ items: [] }),
    });
    const catalog = builtinCatalog().with([own]);
    const tasks = (path: string): string =>
      `- {id: list, tool: http_request}\n- {id: a, tool: mock, inputs: {v: "{{list.output.${path}}}"}}`;
    expect(checkTaskList(tasks('items'), { catalog }).problems).to.deep.equal([]);
    expect(onlyProblem(checkTaskList(tasks('body'), { catalog })).message).to.contain(
      'list.output has no "body": it has items',
    );
  });

  it('follows outputs through long chains of tasks, of which each passes on the one before twice', () => {
    const tasks = [LIST];
    for (let at = 0; at < 1000; at++) {
      const before = at === 0 ? 'list' : `s${at - 1}`;
      tasks.push(
        `- {id: s${at}, tool: store, inputs: {key: k${at}, value: {a: "{{${before}.output}}", b: "{{${before}.output ?? 1}}"}}}`,
      );
    }
    const end = (path: string): readonly Problem[] =>
      check([...tasks, `- {id: end, tool: mock, inputs: {v: "{{s999.output.${path}}}"}}`].join('\n'));
    expect(end('a.b.a.b.a')).to.deep.equal([]);
    expect(onlyProblem({ problems: end('a.b.a.c') }).message).to.contain('has no "c": it has a, b');
  });

  it('reads what a template in a written value gives, and not its text', () => {
    const before = `- {id: first, tool: sleep, inputs: {seconds: 0, value: {a: {x: 1}}}}
- {id: second, tool: sleep, inputs: {seconds: 0, value: ["{{first.output.a}}"]}}`;
    expect(read(before, '{{second.output[0].x}}')).to.deep.equal([]);
  });

  itTimed('bounds the work for lists that multiply the alternatives of each other', () => {
    const keys = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, 0]));
    const list = (first: string, text: string): string[] => [first, ...Array<string>(39).fill(text)];
    const values = [
      { a: keys },
      list('{{params.n}}', '{{t0.output.a}}'),
      list('{{t1.output.last}}', '{{t1.output.last}}'),
      list('{{t2.output.last}}', '{{t2.output.last}}'),
    ];
    const tasks = values.map((value, at) => ({ id: `t${at}`, tool: 'sleep', inputs: { seconds: 0, value } }));
    const reader = { id: 'reader', tool: 'sleep', inputs: { seconds: 0, value: '{{t3.output.last.zzz}}' } };
    const pipeline = {
      id: 'x',
      goal: 'g',
      params: { n: { type: 'integer', default: 1 } },
      tasks: [...tasks, reader],
    };
    const cpuMs = measureCpuMsSync(() => checkPipelineText(JSON.stringify({ pipeline })));
    expect(cpuMs).to.be.lessThan(2_000);
  });
});
