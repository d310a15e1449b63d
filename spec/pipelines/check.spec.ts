import { expect } from 'chai';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { createReport } from '../../lib/pipelines/report.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import {
  checkPipelineText,
  formatProblems,
  onlyProblem,
  wrapTasks,
  checkTaskList,
} from '../support/definitions/check-pipeline.js';
import { itTimed, measureCpuMsSync } from '../support/measuring/cpu-time.js';

const TASKS = `
- {id: a, tool: mock}
- {id: b, tool: mock, inputs: {x: "{{a.output.inputs}}"}}
`;

describe('checkPipeline (rule 11, D8)', () => {
  it('accepts a pipeline under its key or bare, as YAML, JSON or an object (D3)', () => {
    const bare = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}]';
    for (const text of [
      bare,
      `pipeline:\n${bare.replaceAll(/^/gm, '  ')}`,
      '{"pipeline": {"id": "p", "goal": "g", "tasks": [{"id": "a", "tool": "mock"}]}}',
    ]) {
      expect(checkPipelineText(text).ok, text).to.equal(true);
    }
    const definition = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] };
    expect(checkDefinition({ pipeline: definition }, { catalog: builtinCatalog() }).ok).to.equal(true);
    expect(checkDefinition(definition, { catalog: builtinCatalog() }).ok).to.equal(true);
  });

  it('rejects params with more schemas than can be compiled quickly', () => {
    const schemas = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { default: 'a', pattern: 'a' }]));
    const codesOf = (params: object) => {
      const definition = { id: 'p', goal: 'g', params, tasks: [{ id: 'a', tool: 'mock' }] };
      return formatProblems(checkDefinition(definition, { catalog: builtinCatalog() }));
    };
    expect(codesOf(schemas(1000))).to.deep.equal([]);
    expect(codesOf(schemas(1001))).to.deep.equal(['too_large at /params']);
    expect(codesOf({ p: { type: 'object', default: {}, properties: schemas(1000) } })).to.deep.equal([
      'too_large at /params',
    ]);
  });

  it('rejects more than 100,000 different templates, of which equal ones count once (Limits)', () => {
    const codesOf = (texts: readonly string[]) => {
      const tasks = [
        { id: 'a', tool: 'mock' },
        ...texts.map((x, at) => ({ id: `t${at}`, tool: 'mock', inputs: { x } })),
      ];
      return formatProblems(checkDefinition({ id: 'p', goal: 'g', tasks }, { catalog: builtinCatalog() }));
    };
    const different = (count: number) => Array.from({ length: count }, (_, at) => `{{a.output.f${at}}}`);
    const halves = (count: number) => [
      different(count / 2).join(''),
      different(count)
        .slice(count / 2)
        .join(''),
    ];
    expect(codesOf([...halves(100_000), '{{a.output}}'.repeat(100_000)])).to.deep.equal([
      'too_large at /tasks',
    ]);
    expect(codesOf([...halves(100_000), '{{a.output.f0}}'.repeat(100_000)])).to.deep.equal([]);
    expect(codesOf([...halves(200_000), 'x {{a.output.f0}}'])).to.include('too_large at /tasks');
  });

  it('returns a pipeline with its waves and statistics (Command-line interface)', () => {
    const check = checkPipelineText(`
pipeline:
  id: p
  goal: "about {{params.topic}}"
  params: {topic: {description: what}}
  inputs: {one: 1, two: 2}
  tasks:
    - {id: s, tool: store, retry: 2, inputs: {key: k2, value: "{{l.output}}"}}
    - {id: l, tool: transform, inputs: {input: null, expression: "[1]"}}
    - {id: f, tool: store, retry: 1, parallel_over: "{{l.output}}", inputs: {key: k1, value: "{{item}}", append: true}}
`);
    expect(check.ok && check.pipeline.statistics).to.deep.equal({
      id: 'p',
      goal: 'about {{params.topic}}',
      tasks: 3,
      tools: ['store', 'transform'],
      inputs_count: 2,
      store_keys: ['k2', 'k1'],
      waves: 2,
      wave_sizes: [1, 2],
      fan_out_tasks: 1,
      total_retries: 3,
    });
  });

  it('locates each problem by line and JSON pointer', () => {
    const problem = onlyProblem(checkTaskList('- id: a\n  tool: mock\n  retries: 3'));
    expect(problem).to.deep.equal({
      code: 'unknown_field',
      severity: 'error',
      message: 'there is no field "retries" here',
      hint: 'did you mean "retry"?',
      path: '/pipeline/tasks/0/retries',
      line: 7,
      column: 7,
      fix: {
        title: 'write "retry"',
        edits: [{ from: { line: 7, column: 7 }, to: { line: 7, column: 14 }, text: 'retry' }],
      },
    });
  });

  it('reports no lines for a definition that came as an object', () => {
    const check = checkDefinition(
      { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mok' }] },
      { catalog: builtinCatalog() },
    );
    expect(onlyProblem(check)).to.deep.equal({
      code: 'unknown_tool',
      severity: 'error',
      message: 'there is no tool "mok"',
      hint: 'did you mean "mock"?',
      path: '/tasks/0/tool',
    });
  });

  for (const tool of ['save_file', 'write', 'csv_export', 'file']) {
    it(`leads from ${tool} to export (D63)`, () => {
      const check = checkDefinition(
        { id: 'p', goal: 'g', tasks: [{ id: 'a', tool }] },
        { catalog: builtinCatalog() },
      );
      expect(onlyProblem(check)).to.include({
        code: 'unknown_tool',
        hint: 'the tool "export" writes files',
      });
    });
  }

  const wrong: [string, string, string[]][] = [
    ['no definition at all', '[1, 2]', ['wrong_type at ']],
    ['text', 'just text', ['wrong_type at ']],
    ['neither pipeline nor its fields', 'steps: []', ['missing_field at ']],
    [
      'something beside the pipeline',
      `${wrapTasks('- {id: a, tool: mock}')}version: 1\n`,
      ['unknown_field at /version'],
    ],
    ['a pipeline that is a list', 'pipeline: []', ['wrong_type at /pipeline']],
    ['missing fields', 'pipeline: {id: p}', ['missing_field at /pipeline', 'missing_field at /pipeline']],
    ['no tasks', 'pipeline: {id: p, goal: g, tasks: []}', ['invalid_value at /pipeline/tasks']],
    [
      'a bad id',
      'pipeline: {id: "1 p", goal: g, tasks: [{id: a, tool: mock}]}',
      ['invalid_value at /pipeline/id'],
    ],
    [
      'an unknown param in the goal',
      'pipeline: {id: p, goal: "{{params.p}}", tasks: [{id: a, tool: mock}]}',
      ['unknown_reference at /pipeline/goal'],
    ],
    [
      'a default that is not of its type',
      'pipeline: {id: p, goal: g, params: {n: {type: integer, default: x}}, tasks: [{id: a, tool: mock}]}',
      ['invalid_param at /pipeline/params/n/default'],
    ],
    [
      'a pattern that is none',
      'pipeline: {id: p, goal: g, params: {n: {pattern: "("}}, tasks: [{id: a, tool: mock}]}',
      ['invalid_param at /pipeline/params/n/pattern'],
    ],
    [
      'an unknown param type',
      'pipeline: {id: p, goal: g, params: {n: {type: text}}, tasks: [{id: a, tool: mock}]}',
      ['invalid_value at /pipeline/params/n/type'],
    ],
  ];
  /** The same, of tasks: paths begin at the list of tasks. */
  const wrongTasks: [title: string, tasks: string, problem: string][] = [
    ['a task id with a dot', '- {id: a.b, tool: mock}', 'invalid_value at 0/id'],
    ['a reserved task id (D1)', '- {id: session, tool: mock}', 'reserved_id at 0/id'],
    [
      'a task with the id item, and not its readers (D1)',
      '- {id: item, tool: mock}\n- {id: a, tool: mock, inputs: {x: "{{item.output}}"}}',
      'reserved_id at 0/id',
    ],
    ['two tasks of one id', '- {id: a, tool: mock}\n- {id: a, tool: mock}', 'duplicate_task at 1/id'],
    ['a task that is text', '- mock', 'wrong_type at 0'],
    ['a negative retry', '- {id: a, tool: mock, retry: -1}', 'invalid_value at 0/retry'],
    ['a retry of one and a half', '- {id: a, tool: mock, retry: 1.5}', 'wrong_type at 0/retry'],
    ['a timeout of nothing', '- {id: a, tool: mock, timeout: 0}', 'invalid_value at 0/timeout'],
    ['an unknown tool', '- {id: a, tool: stor}', 'unknown_tool at 0/tool'],
    [
      'an input that the tool has not',
      '- {id: a, tool: store, inputs: {key: k, value: 1, appnd: true}}',
      'unknown_input at 0/inputs/appnd',
    ],
    ['an input that is missing', '- {id: a, tool: store, inputs: {key: k}}', 'missing_input at 0/inputs'],
    [
      'a literal of the wrong type',
      '- {id: a, tool: store, inputs: {key: 5, value: 1}}',
      'invalid_input at 0/inputs/key',
    ],
    [
      'a template that is never closed',
      '- {id: a, tool: mock, inputs: {x: "{{a.output"}}',
      'template_syntax at 0/inputs/x',
    ],
    [
      'an unknown name',
      '- {id: a, tool: mock, inputs: {x: "{{b.output}}"}}',
      'unknown_reference at 0/inputs/x',
    ],
    [
      'an unknown param',
      '- {id: a, tool: mock, inputs: {x: "{{params.p}}"}}',
      'unknown_reference at 0/inputs/x',
    ],
    [
      'an unknown input key (D5)',
      '- {id: a, tool: mock, inputs: {x: "{{pipeline.inputs.k}}"}}',
      'unknown_reference at 0/inputs/x',
    ],
    ['its own output', '- {id: a, tool: mock, inputs: {x: "{{a.output}}"}}', 'self_reference at 0/inputs/x'],
    ['awaiting itself', '- {id: a, tool: mock, await: [a]}', 'self_reference at 0/await/0'],
    ['awaiting a stranger', '- {id: a, tool: mock, await: [b]}', 'unknown_reference at 0/await/0'],
    [
      'an item outside a fan-out (D6)',
      '- {id: a, tool: mock, inputs: {x: "{{item}}"}}',
      'item_outside_fan_out at 0/inputs/x',
    ],
    [
      'a fan-out that never reads the item (D6)',
      '- {id: a, tool: mock, parallel_over: "{{session.l ?? []}}"}',
      'item_unused at 0/parallel_over',
    ],
    [
      'a fan-out over text around a template (D6)',
      '- {id: a, tool: mock, parallel_over: "x {{session.l ?? []}}", inputs: {x: "{{item}}"}}',
      'invalid_value at 0/parallel_over',
    ],
    [
      'a fan-out over plain text (D6)',
      '- {id: a, tool: mock, parallel_over: "list", inputs: {x: "{{item}}"}}',
      'invalid_value at 0/parallel_over',
    ],
    [
      'a fan-out over two templates (D6)',
      '- {id: a, tool: mock, parallel_over: "{{session.l ?? []}}{{session.l ?? []}}", inputs: {x: "{{item}}"}}',
      'invalid_value at 0/parallel_over',
    ],
    [
      'a fan-out over its item',
      '- {id: a, tool: mock, parallel_over: "{{item.list}}", inputs: {x: "{{item}}"}}',
      'item_outside_fan_out at 0/parallel_over',
    ],
  ];
  for (const [title, tasks, problem] of wrongTasks) {
    wrong.push([title, wrapTasks(tasks), [problem.replace(' at ', ' at /pipeline/tasks/')]]);
  }
  for (const [title, text, expected] of wrong) {
    it(`rejects ${title}`, () => {
      const check = checkPipelineText(text);
      expect(check.ok).to.equal(false);
      expect(formatProblems(check)).to.deep.equal(expected);
    });
  }

  it('reports the path of a cycle (D8)', () => {
    const problem = onlyProblem(
      checkTaskList(
        '- {id: a, tool: mock, await: [c]}\n- {id: b, tool: mock, inputs: {x: "{{a.output}}"}}\n- {id: c, tool: mock, await: [b]}',
      ),
    );
    expect(problem).to.deep.include({
      code: 'cycle',
      message: 'tasks wait for each other: a -> c -> b -> a',
      line: 5,
    });
  });

  it('reports all problems at once, in the order of the text', () => {
    const check = checkPipelineText(`
pipeline:
  id: p
  gaol: x
  tasks:
    - id: a
      tool: ecko
      inputs: {n: {{b.output}}, z: "{{aa.output}}"}
    - id: a
      tool: mock
      inputs: {n: "{{item}}", q: "{{c.output"}
    - {id: c, tool: mock, await: [d]}
    - {id: d, tool: mock, await: [c]}
`);
    expect(check.problems.map(({ code, line }) => `${line} ${code}`)).to.deep.equal([
      '3 missing_field',
      '4 unknown_field',
      '7 unknown_tool',
      '8 unquoted_template',
      '8 unknown_reference',
      '9 duplicate_task',
      '11 item_outside_fan_out',
      '11 template_syntax',
      '12 cycle',
    ]);
  });

  it('reports an unquoted template as one problem, whatever else it breaks', () => {
    const check = checkTaskList(
      '- {id: a, tool: mock}\n- {id: b, tool: mock, parallel_over: {{a.output}}, inputs: {x: "{{item}}"}}',
    );
    expect(formatProblems(check)).to.deep.equal(['unquoted_template at /pipeline/tasks/1/parallel_over']);
  });

  it('accepts an output without "output", with a warning (D11)', () => {
    const check = checkTaskList('- {id: a, tool: mock}\n- {id: b, tool: mock, inputs: {x: "{{a.message}}"}}');
    expect(check.ok).to.equal(true);
    expect(onlyProblem(check)).to.deep.include({
      code: 'output_omitted',
      severity: 'warning',
      hint: 'write {{a.output.message}}',
    });
  });

  it('accepts references to the inputs of the run (D5)', () => {
    const text = wrapTasks('- {id: a, tool: mock, inputs: {x: "{{pipeline.inputs.k}}"}}');
    expect(checkPipelineText(text, { inputs: { k: 1 } }).ok).to.equal(true);
    expect(checkTaskList('- {id: a, tool: mock, inputs: {x: "{{pipeline.inputs.k ?? 1}}"}}').ok).to.equal(
      true,
    );
  });

  it('accepts dots in the id of a pipeline, because recorded pipelines are named after files (D1)', () => {
    expect(checkPipelineText('{id: "run-0.6.json", goal: g, tasks: [{id: a, tool: mock}]}').ok).to.equal(
      true,
    );
  });

  it('produces the report of the validation endpoint (D33)', () => {
    const good = createReport(checkTaskList(TASKS));
    expect(good).to.deep.include({
      ok: true,
      errors: null,
      warnings: [],
      problems: [],
      message: 'Pipeline is valid',
    });
    expect(good.stats?.wave_sizes).to.deep.equal([1, 1]);
    const bad = createReport(checkPipelineText('pipeline: {id: p}'));
    expect(bad).to.deep.include({ ok: false, message: 'Validation failed', stats: null });
    expect(bad.errors).to.deep.equal([
      'line 1, column 11: the pipeline has no "goal" (say under "goal" what it is for)',
      'line 1, column 11: the pipeline has no "tasks" (list the tasks under "tasks", each with an "id" and a "tool")',
    ]);
  });

  it('never throws, whatever the object', () => {
    let deep: unknown = null;
    for (let level = 0; level < 50_000; level++) deep = [deep];
    const cycle: Record<string, unknown> = { id: 'p', goal: 'g' };
    cycle['tasks'] = [{ id: 'a', tool: 'store', inputs: cycle }];
    const task = (extra: object) => ({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'store', ...extra }] });
    const broken = [
      deep,
      cycle,
      task({ inputs: { value: deep } }),
      { ...task({}), params: { p: { default: deep } } },
      { ...task({}), params: { p: { type: deep } } },
      { ...task({}), id: deep, tool: deep },
    ];
    for (const definition of broken) {
      expect(checkDefinition(definition, { catalog: builtinCatalog() }).ok).to.equal(false);
    }
  });

  const scaling: [string, (size: number) => string][] = [
    [
      'unknown tasks to await',
      (n) => `- {id: a, tool: mock, await: [${many(n, (i) => `nobody_${i}`)}]}\n${tasksOf(n)}`,
    ],
    [
      'unknown inputs',
      (n) => many(n, (i) => `- {id: a${i}, tool: mock, inputs: {x: "{{pipeline.inputs.gone_${i}}}"}}`, '\n'),
    ],
    // Their length is what scales.
    ['spaces in a condition', (n) => `- {id: a, tool: mock, when: "always()${' '.repeat(40 * n)}x"}`],
    ['unknown tools', (n) => many(n, (i) => `- {id: a${i}, tool: tool_${i}}`, '\n')],
    [
      'unquoted templates',
      (n) => many(n, (i) => `- {id: a${i}, tool: mok, inputs: {a: {{x.output}}}}`, '\n'),
    ],
    ['values in a statement', (n) => pasted('sql_query', 'query', n, (i) => `x${i}`)],
    ['values of one name in a statement', (n) => pasted('sql_query', 'query', n, (i) => `x${i}.x`)],
    ['values in a script', (n) => pasted('command', 'script', n, (i) => `x${i}`)],
    ['values of one name in a script', (n) => pasted('command', 'script', n, (i) => `x${i}.x`)],
    [
      'readers of a key stored at the end of a long chain',
      (n) =>
        `${chainOf(n)}\n- {id: s, tool: store, inputs: {key: k, value: "{{c${n - 1}.output}}"}}\n${many(n, (i) => `- {id: r${i}, tool: mock, inputs: {x: "{{session.k}}"}}`, '\n')}`,
    ],
    [
      'readers and writers of one key',
      (n) =>
        `${many(n, (i) => `- {id: s${i}, tool: store, inputs: {key: k, value: 1}}`, '\n')}\n${many(n, (i) => `- {id: r${i}, tool: mock, inputs: {x: "{{session.k}}"}}`, '\n')}`,
    ],
  ];
  it('suggests how to write a param with nothing behind it, which is no field that may be left out', () => {
    const text = wrapTasks('- {id: a, tool: mock}').replace('  tasks:', '  params: {city: }\n  tasks:');
    expect(onlyProblem(checkPipelineText(text))).to.deep.include({
      message: '"city" must be a map, not null',
      hint: 'write city: {type: string}',
    });
  });

  it('suggests how to write a list of keys', () => {
    const text = wrapTasks('- {id: a, tool: mock}\n- {id: b, tool: mock, await: a}');
    const check = checkPipelineText(text.replace('  goal:', '  reads: x, y\n  goal:'));
    expect(check.problems.map(({ message, hint }) => `${message}; ${hint ?? ''}`)).to.deep.equal([
      '"reads" must be a list, not text; write reads: [x, y]',
      '"await" must be a list, not text; write await: [a]',
    ]);
  });

  for (const [title, tasks] of scaling) {
    itTimed(`takes linear time for a text with many ${title}`, () => {
      const timeOf = (size: number): number => {
        const text = wrapTasks(tasks(size));
        return measureCpuMsSync(() => void checkPipelineText(text));
      };
      timeOf(200);
      // For 8 times the text, a quadratic check would take 64 times as long.
      expect(timeOf(3200)).to.be.below(32 * timeOf(400));
    });
  }

  it('survives hostile definitions', () => {
    const huge = Array.from(
      { length: 3000 },
      (_, i) => `{id: t${i}, tool: mok${i}, inputs: {x: "{{u${i}.output}}"}}`,
    ).join(', ');
    const check = checkPipelineText(`{id: p, goal: g, tasks: [${huge}]}`);
    expect(check.problems.at(-1)?.message).to.equal('and more problems, not listed here');
    for (const value of [
      null,
      1,
      'x',
      [],
      [[]],
      { tasks: {} },
      { tasks: [null, [], 1] },
      { pipeline: null },
      { id: [], goal: {}, tasks: 'x' },
    ]) {
      expect(checkDefinition(value, { catalog: builtinCatalog() }).ok).to.equal(false);
    }
  });
});

function many(count: number, line: (index: number) => string, glue = ', '): string {
  return Array.from({ length: count }, (_, index) => line(index)).join(glue);
}

/** A task with many templates in a text that is code. */
function pasted(tool: string, input: string, count: number, field: (index: number) => string): string {
  const templates = many(count, (i) => `{{a.output.${field(i)}}}`, ' , ');
  return `- {id: a, tool: mock}\n- {id: b, tool: ${tool}, inputs: {${input}: "SELECT ${templates}"}}`;
}

function tasksOf(count: number): string {
  return many(count, (i) => `- {id: known_${i}, tool: mock}`, '\n');
}

function chainOf(length: number): string {
  return many(length, (i) => `- {id: c${i}, tool: mock${i === 0 ? '' : `, await: [c${i - 1}]`}}`, '\n');
}
