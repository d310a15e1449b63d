import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Fix, Position, Problem } from '../../lib/definition/problems/problem.js';
import { readSource } from '../../lib/definition/text/source.js';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { checkPlan } from '../../lib/plans/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { checkPipelineText } from '../support/definitions/check-pipeline.js';
import { cases } from '../support/measuring/cases.js';

const START = 'pipeline:\n  id: p\n  goal: g\n';
const GOAL = 'Say what this pipeline does';
const MOCK = '\n    - id: task_1\n      tool: mock';
const LIST = '    - id: list\n      tool: transform\n      inputs: {input: null, expression: "[1]"}\n';

function withTasks(tasks: string, before = ''): string {
  return `${START}${before}  tasks:\n${LIST}${tasks}`;
}

/** A pipeline with a task that reads a template. */
function reading(template: string, before = ''): string {
  return withTasks(`    - id: a\n      tool: mock\n      inputs: {x: "${template}"}\n`, before);
}

/** The mistake, the code of the problem, and the text that the fix must lead to. */
const CASES: readonly (readonly [name: string, code: string, text: string, part: string])[] = [
  [
    'a misspelt field of the pipeline',
    'unknown_field',
    `${START}  versoin: "1"\n  tasks:\n${LIST}`,
    'version: "1"',
  ],
  ['a misspelt field of a task', 'unknown_field', withTasks('    - id: a\n      tol: mock\n'), 'tool: mock'],
  [
    'a field in the words of another product',
    'unknown_field',
    withTasks('    - id: a\n      tool: mock\n      depends_on: [list]\n'),
    'await: [list]',
  ],
  [
    'a field that only says what the templates say already',
    'unknown_field',
    withTasks(
      '    - id: a\n      depends_on:\n        - list\n      tool: mock\n      inputs: {x: "{{list.output}}"}\n',
    ),
    '    - id: a\n      tool: mock\n',
  ],
  ['a misspelt tool', 'unknown_tool', withTasks('    - {id: a, tool: transfrom}\n'), 'tool: transform}'],
  ['a misspelt tool in quotes', 'unknown_tool', withTasks('    - {id: a, tool: "moc"}\n'), '"mock"'],
  [
    'a misspelt task in a template',
    'unknown_reference',
    reading('see {{lits.output[0]}}'),
    '{{list.output[0]}}',
  ],
  [
    'a template that leaves out .output',
    'output_omitted',
    reading('{{ list.rows ?? null }}'),
    '{{ list.output.rows ?? null }}',
  ],
  ['a misspelt .output', 'output_omitted', reading('{{list.outptu}}'), '{{list.output}}'],
  [
    'a misspelt param',
    'unknown_reference',
    reading('{{params.nmae}}', '  params:\n    name: {type: string}\n'),
    '{{params.name}}',
  ],
  [
    'a param without its namespace',
    'unknown_reference',
    reading('{{name}}', '  params:\n    name: {type: string}\n'),
    '{{params.name}}',
  ],
  [
    'a param of a pipeline without params',
    'unknown_reference',
    reading('{{params.who}}'),
    '  params:\n    who: {type: string}\n',
  ],
  [
    'another param',
    'unknown_reference',
    reading('{{params.who}}', '  params:\n    quantity: {type: integer}\n'),
    '    quantity: {type: integer}\n    who:\n      type: string\n',
  ],
  [
    'a param in JSON',
    'unknown_reference',
    '{"id": "p", "goal": "g", "tasks": [{"id": "a", "tool": "mock", "inputs": {"x": "{{params.who}}"}}]}',
    '"params": {"who": {"type": "string"}}, "goal"',
  ],
  [
    'a misspelt input of the pipeline',
    'unknown_reference',
    reading('{{pipeline.inputs.adress}}', '  inputs: {address: x}\n'),
    '{{pipeline.inputs.address}}',
  ],
  [
    'a misspelt input of a tool',
    'unknown_input',
    withTasks('    - id: a\n      tool: transform\n      inputs: {input: 1, expresion: "1"}\n'),
    'expression: "1"',
  ],
  [
    'a task to await that is misspelt',
    'unknown_reference',
    withTasks('    - id: a\n      tool: mock\n      await: [lsit]\n'),
    'await: [list]',
  ],
  [
    'an unquoted template',
    'unquoted_template',
    withTasks('    - id: a\n      tool: mock\n      inputs:\n        x: {{list.output}}\n'),
    'x: "{{list.output}}"',
  ],
  [
    'an unquoted template with text after it',
    'syntax',
    withTasks('    - id: a\n      tool: mock\n      inputs:\n        x: {{list.output}} and more\n'),
    'x: "{{list.output}} and more"',
  ],
  [
    'a reader that does not await the task that stores',
    'session_race',
    withTasks(
      '    - id: keep\n      tool: store\n      inputs: {key: k, value: 1}\n    - id: a\n      tool: mock\n      inputs: {x: "{{session.k}}"}\n',
    ),
    '    - id: a\n      await: [keep]\n      tool: mock\n',
  ],
  [
    'a reader that awaits other tasks only',
    'session_race',
    withTasks(
      '    - id: keep\n      tool: store\n      await: [list]\n      inputs: {key: k, value: 1}\n    - id: a\n      tool: mock\n      await:\n        - list\n      inputs: {x: "{{session.k}}"}\n',
    ),
    'await:\n        - keep\n        - list\n',
  ],
  [
    'items that overwrite each other',
    'store_conflict',
    withTasks(
      '    - id: keep\n      tool: store\n      parallel_over: "{{list.output}}"\n      inputs:\n        key: k\n        value: "{{item}}"\n',
    ),
    '        key: k\n        append: true\n',
  ],
  ['a reserved id', 'reserved_id', withTasks('    - {id: item, tool: mock}\n'), 'id: item_task'],
  ['a duplicate id', 'duplicate_task', withTasks('    - {id: list, tool: mock}\n'), '{id: list_2,'],
  ['a number in quotes', 'wrong_type', withTasks('    - {id: a, tool: mock, retry: "3"}\n'), 'retry: 3}'],
  [
    'a duration in words',
    'invalid_value',
    withTasks('    - id: a\n      tool: mock\n      timeout: 5 minutes\n'),
    'timeout: 300\n',
  ],
  [
    'one id where a list belongs',
    'wrong_type',
    withTasks('    - id: a\n      tool: mock\n      await: list # first\n'),
    'await: [list] # first',
  ],
  ['a version without quotes', 'wrong_type', `${START}  version: 1.0\n  tasks:\n${LIST}`, 'version: "1.0"'],
  [
    'a type in the words of another language',
    'invalid_value',
    withTasks('', '  params:\n    n: {type: int}\n'),
    '{type: integer}',
  ],
  [
    'a path without braces in parallel_over',
    'invalid_value',
    withTasks(
      '    - id: a\n      tool: mock\n      parallel_over: list.output\n      inputs: {x: "{{item}}"}\n',
    ),
    'parallel_over: "{{list.output}}"',
  ],
];

/** The same, of fields that are missing: what is added, and what of the text stays beside it. */
const MISSING: readonly (readonly [name: string, text: string, part: string])[] = [
  [
    'no goal',
    `pipeline:\n  id: p # the name\n  # what it does\n  tasks:\n${LIST}`,
    `  id: p # the name\n  goal: "${GOAL}"\n  # what it does\n  tasks:\n`,
  ],
  [
    'a goal without a value',
    `pipeline:\n  id: p\n  goal: # later\n  tasks:\n${LIST}`,
    `  goal: "${GOAL}" # later\n`,
  ],
  [
    'no goal in JSON',
    '{\n  "id": "p",\n  "tasks": [{"id": "a", "tool": "mock"}]\n}',
    `"id": "p", "goal": "${GOAL}",\n`,
  ],
  ['no goal in braces', '{id: p, tasks: [{id: a, tool: mock}]}', `{id: p, goal: "${GOAL}", tasks`],
  ['no id', `goal: g # why\ntasks:\n${LIST}`, 'id: my_pipeline\ngoal: g # why\n'],
  ['no tasks', `${START}  # the end\n`, `goal: g\n  tasks:${MOCK}\n  # the end\n`],
  ['no tasks and no last line break', START.trimEnd(), `goal: g\n  tasks:${MOCK}`],
  ['tasks without a value', `${START}  tasks: # soon\n\n`, `tasks: # soon${MOCK}\n\n`],
  [
    'no tasks behind a block of text',
    'id: p\ngoal: |\n  one\n\n  two\n',
    '  two\ntasks:\n  - id: task_1\n    tool: mock\n',
  ],
  [
    'no tasks in lines that end as on Windows',
    'id: p\r\ngoal: g\r\n',
    'goal: g\r\ntasks:\r\n  - id: task_1\r\n    tool: mock\r\n',
  ],
  [
    'a task without an id',
    withTasks('    - tool: mock # here\n'),
    '    - id: task_2\n      tool: mock # here\n',
  ],
  [
    'a task without an id beside one of the id that it would get',
    withTasks('    - {tool: mock}\n    - {id: task_2, tool: mock}\n'),
    '{id: task_3, tool: mock}\n',
  ],
  [
    'a task without a tool',
    withTasks('    - id: a # here\n      retry: 1\n'),
    '    - id: a # here\n      tool: mock\n      retry: 1\n',
  ],
  ['a task without a tool in braces', withTasks('    - {id: a}\n'), '- {id: a, tool: mock}\n'],
  ['a tool without a value', withTasks('    - id: a\n      tool:\n'), '    - id: a\n      tool: mock\n'],
];

/** Texts that are no YAML because of their tabs. */
const TABS: readonly (readonly [name: string, text: string, part: string])[] = [
  [
    'tabs that indent everything',
    'pipeline:\n\tid: p # the name\n\t# why\n\tgoal: g\n\ttasks:\n\t\t- id: a\n\t\t\ttool: mock\n',
    'pipeline:\n  id: p # the name\n  # why\n  goal: g\n  tasks:\n    - id: a\n      tool: mock\n',
  ],
  ['a tab in one line', withTasks('    - id: a\n\t\t\ttool: mock\n'), '    - id: a\n      tool: mock\n'],
  ['a tab behind spaces', withTasks('  \t- {id: a, tool: mock}\n'), '    - {id: a, tool: mock}\n'],
  ['a tab behind a dash', withTasks('    -\tid: a\n      tool: mock\n'), '    - id: a\n      tool: mock\n'],
  [
    'a tab before a block of text',
    'id: p\ngoal: |\n\tone\n\ttwo\ntasks: [{id: a, tool: mock}]\n',
    'goal: |\n  one\n  two\ntasks:',
  ],
  [
    'tabs beside a block of text that has tabs of its own',
    'id: p\ngoal: |\n  a\tb\n  \tc\ntasks:\n\t- id: a\n\t  tool: mock\n',
    'goal: |\n  a\tb\n  \tc\ntasks:\n  - id: a\n    tool: mock\n',
  ],
];

const ALL = [
  ...CASES,
  ...MISSING.map(([name, text, part]) => [name, 'missing_field', text, part] as const),
  ...TABS.map(([name, text, part]) => [name, 'syntax', text, part] as const),
];

describe('Fixes of problems (D8)', () => {
  for (const [name, code, text, part] of ALL) {
    it(`solve the problem: ${name}`, () => {
      const problem = find(check(text), code);
      const fixed = applyFix(text, fixOf(problem));
      expect(fixed).to.include(part);
      expect(check(fixed).map(({ code: found }) => found)).to.not.include(code);
    });
  }

  it('leave the rest of the text as it is, to the last character', () => {
    const text = withTasks('    - {id: a, tool: moc} # "moc"\n\n# the end');
    const fixed = applyFix(text, fixOf(find(check(text), 'unknown_tool')));
    expect(fixed).to.equal(text.replace('tool: moc}', 'tool: mock}'));
  });

  it('are located in a definition within another one', () => {
    const plan = `plan:\n  id: p\n  goal: g\n  sub_pipelines:\n    - id: s\n      pipeline:\n        id: s\n        goal: g\n        tasks:\n          - {id: a, tool: mock, inputs: {x: "{{params.n}}"}}\n`;
    const [problem] = checkPlan(plan, { catalog: builtinCatalog(), complete: true }).problems;
    expect(applyFix(plan, fixOf(problem))).to.include(
      '        id: s\n        params:\n          n: {type: string}\n        goal: g\n',
    );
  });

  it('add a key to what a sub-pipeline of a plan stores and reads (D46)', () => {
    const sub = (id: string, task: string): string =>
      `  - id: ${id}\n    pipeline: {id: ${id}, goal: g, tasks: [${task}]}\n`;
    let plan = `id: p\nsub_pipelines:\n${sub('w', '{id: a, tool: store, inputs: {key: k, value: 1}}')}${sub('r', '{id: b, tool: mock, inputs: {x: "{{session.k}}"}}')}`;
    const rounds: string[] = [];
    for (;;) {
      const { problems } = checkPlan(plan, { catalog: builtinCatalog(), complete: true });
      const fixable = problems.find(({ fix }) => fix !== undefined);
      if (fixable === undefined) break;
      rounds.push(fixable.code);
      plan = applyFix(plan, fixOf(fixable));
    }
    expect(rounds).to.deep.equal(['undeclared_store', 'undeclared_read']);
    expect(plan).to.include('stores: [k]').and.to.include('reads: [k]');
  });

  it('are absent where the definition came as an object', () => {
    const definition = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'moc' }] };
    const [problem] = checkDefinition(definition, { catalog: builtinCatalog() }).problems;
    expect(problem).to.include({ code: 'unknown_tool', hint: 'did you mean "mock"?' });
    expect(problem).to.not.have.property('fix');
  });

  for (const [name, text] of [
    ['stands in a block of text', withTasks('    - id: a\n      tool: |-\n        moc\n')],
    ['is written with escapes', withTasks('    - {id: a, tool: "mo\\x63"}\n')],
    ['comes from an alias', withTasks('    - {id: a, tool: &t moc}\n    - {id: b, tool: *t}\n')],
  ] as const) {
    it(`are absent where the name ${name}`, () => {
      const problems = check(text).filter(({ code }) => code === 'unknown_tool');
      expect(problems.at(-1)).to.include({ hint: 'did you mean "mock"?' });
      expect(problems.at(-1)).to.not.have.property('fix');
    });
  }

  for (const [what, lines] of [
    ['a comment', ['- id: a', '  depends_on: [list] # first']],
    ['the start of its task', ['- depends_on: [list]', '  id: a']],
  ] as const) {
    it(`remove no line that also has ${what}`, () => {
      const rest = ['  tool: mock', '  inputs: {x: "{{list.output}}"}', ''];
      const problems = check(withTasks(`    ${[...lines, ...rest].join('\n    ')}`));
      const problem = problems.find(({ code }) => code === 'unknown_field');
      expect(problem?.hint).to.contain('remove it');
      expect(problem).to.not.have.property('fix');
    });
  }

  it('give each task without an id another one, which no task has', () => {
    const problems = check(
      `${START}  tasks:\n    - tool: mock\n    - tool: mock\n    - {id: task_1, tool: mock}\n`,
    );
    const titles = problems.flatMap(({ fix }) => fix?.title ?? []);
    expect(titles).to.deep.equal(['add id: task_2', 'add id: task_3']);
  });

  it('add no field that may be there under another name', () => {
    const text = withTasks('    - id: a\n      uses: mock\n    - id: b\n      tol: mock\n');
    const missing = check(text).filter(({ code }) => code === 'missing_field');
    expect(missing.map(({ hint, fix }) => [hint, fix])).to.deep.equal([
      ['write tool: NAME; `wavetrain tools` lists them', undefined],
      ['write tool: NAME; `wavetrain tools` lists them', undefined],
    ]);
  });

  it('change no more than 2,000 lines', () => {
    const withLines = (count: number): string =>
      `id: p\ngoal: g\ntasks:\n${'\t- {id: a, tool: mock}\n'.repeat(count)}`;
    expect(check(withLines(2000))[0]?.fix?.edits).to.have.length(2000);
    expect(check(withLines(2001))[0])
      .to.include({ code: 'syntax' })
      .and.to.not.have.property('fix');
  });

  it('never make a text unreadable, whatever is around them', () => {
    const lines = CASES.flatMap(([, , text]) => text.split('\n').slice(3));
    const line = fc.oneof(
      fc.constantFrom(...lines),
      fc.constantFrom('  # note', '', '    - &x {id: b, tool: moc}', '      "tol" : mock', '      await: []'),
    );
    const change = fc.record({ at: fc.nat(20), remove: fc.nat(2), line, crlf: fc.boolean() });
    let applied = 0;
    const size = cases(1000);
    fc.assert(
      fc.property(
        fc.constantFrom(...CASES, ...MISSING),
        fc.array(change, { maxLength: 3 }),
        ([, , text], changes) => {
          const parts = text.split('\n');
          for (const { at, remove, line: added } of changes) parts.splice(3 + at, remove, added);
          const changed = parts.join(changes[0]?.crlf === true ? '\r\n' : '\n');
          const before = readSource(changed);
          if (before.value === undefined) return;
          for (const { fix } of check(changed)) {
            if (fix === undefined) continue;
            applied++;
            const after = readSource(applyFix(changed, fix));
            expect(after.value, `${fix.title}:\n${changed}`).to.not.equal(undefined);
            expect(after.problems.length).to.be.at.most(before.problems.length);
          }
        },
      ),
      size,
    );
    expect(applied).to.be.greaterThan(0.3 * size.numRuns);
  });
});

function check(text: string): readonly Problem[] {
  return checkPipelineText(text).problems;
}

function find(problems: readonly Problem[], code: string): Problem | undefined {
  return problems.find((problem) => problem.code === code && problem.fix !== undefined);
}

function fixOf(problem: Problem | undefined): Fix {
  if (problem?.fix === undefined) throw new Error(`no fix: ${JSON.stringify(problem)}`);
  return problem.fix;
}

/** Applies the edits as a reader of the API would. */
function applyFix(text: string, { edits }: Fix): string {
  const lines = text.split('\n');
  const offsetOf = ({ line, column }: Position): number =>
    lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0) + column - 1;
  return edits
    .toSorted((a, b) => offsetOf(b.from) - offsetOf(a.from))
    .reduce(
      (fixed, { from, to, text: written }) =>
        fixed.slice(0, offsetOf(from)) + written + fixed.slice(offsetOf(to)),
      text,
    );
}
