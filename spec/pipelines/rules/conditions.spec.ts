import { expect } from 'chai';
import { checkPipelineText, checkTaskList, onlyProblem } from '../../support/definitions/check-pipeline.js';
import type { Problem } from '../../../lib/definition/problems/problem.js';

/** Checks a task `b` with a `when`, after a task `a`. */
const check = (when: string, more = ''): readonly Problem[] =>
  checkTaskList(`- {id: a, tool: mock}\n- {id: b, tool: mock, when: ${when}${more}}`).problems;

describe('The check of conditions (D77)', () => {
  for (const when of [
    '"{{a.output}}"',
    '"{{a.output.count ?? 0}}"',
    '{value: "{{a.output.kind}}", const: invoice}',
    '{value: "{{a.output.kind}}", not: {enum: [a, b]}}',
    '["{{a.output}}", {value: "{{a.output.n}}", minimum: 3}]',
    '"{{a.output}}{{a.output.more}}"',
  ]) {
    it(`allows ${when}`, () => {
      expect(check(when)).to.deep.equal([]);
    });
  }

  const problems: readonly (readonly [when: string, path: string, message: RegExp, hint?: RegExp])[] = [
    ['true', 'when', /must be text/, /write a template/],
    ['"yes"', 'when', /needs a template, and "yes" has none/, /\{\{params\.NAME\}\}/],
    [
      '"{{a.output.kind}} == invoice"',
      'when',
      /always holds/,
      /value: "\{\{a.output.kind\}\}", const: invoice\}/,
    ],
    ['\'{{a.output.n}} != "x"\'', 'when', /always holds/, /not: \{const: x\}/],
    ['"!{{a.output.done}}"', 'when', /always holds/, /for the opposite/],
    ['[]', 'when', /must not be empty/],
    ['["{{a.output}}", "no"]', 'when/1', /needs a template/],
    ['{value: "{{a.output}}"}', 'when', /nothing that the value must be/, /const: VALUE/],
    ['{const: 1}', 'when', /no "value"/],
    ['{value: "{{a.output}}", konst: 1}', 'when/konst', /no keyword "konst"/, /did you mean "const"/],
    ['{value: "{{a.output}}", pattern: "("}', 'when/pattern', /not a pattern/],
    ['{value: "{{a.output}}", minimum: x}', 'when/minimum', /must be a number/],
    ['"{{b.output}}"', 'when', /its own output/],
    ['"{{item}}"', 'when', /without parallel_over/],
    ['"{{nope}}"', 'when', /no task "nope"/],
    ['"{{secrets.KEY}}"', 'when', /a condition cannot read secrets/],
    ['"{{a.output"', 'when', /./],
    [
      '"{{a.output.x == true}}"',
      'when',
      /no operators/,
      /^write \{value: "\{\{a\.output\.x\}\}", const: true\}$/,
    ],
    ['"{{a.output.n}} > 3"', 'when', /always holds/, /exclusiveMinimum: 3\}$/],
    ['failure()', 'when', /needs a template/, /under "on_failure", beside "tasks"$/],
    ['"${{ always() }}"', 'when', /./, /under "finally", beside "tasks"$/],
    ['{value: "{{a.output}}", gt: 3}', 'when/gt', /no keyword "gt"/, /did you mean "exclusiveMinimum"/],
    ['{value: "{{a.output}}", gte: 3}', 'when/gte', /no keyword/, /"minimum"/],
    ['{value: "{{a.output}}", lt: 3}', 'when/lt', /no keyword/, /"exclusiveMaximum"/],
    ['{value: "{{a.output}}", lte: 3}', 'when/lte', /no keyword/, /"maximum"/],
    ['{value: "{{a.output}}", equals: 3}', 'when/equals', /no keyword/, /"const"/],
    ['{value: "{{a.output}}", eq: 3}', 'when/eq', /no keyword/, /"const"/],
    ['{value: "{{a.output}}", ne: 3}', 'when/ne', /no keyword/, /^write not: \{const: 3\}$/],
    ['{value: "{{a.output}}", in: [3]}', 'when/in', /no keyword/, /"enum"/],
    ['{value: "{{a.output}}", notIn: [3]}', 'when/notIn', /no keyword/, /^write not: \{enum: \[3\]\}$/],
    ['{value: "{{a.output}}", any: [{const: 3}]}', 'when/any', /no keyword/, /"anyOf"/],
    ['{value: "{{a.output}}", not: {gt: 3}}', 'when/not/gt', /no keyword/, /"exclusiveMinimum"/],
    ['{value: "{{a.output}}", contains: 3}', 'when/contains', /no keyword/, /transform/],
    ['{value: "{{a.output}}", not: 3}', 'when/not', /must be a schema/, /^write not: \{const: 3\}$/],
    [
      '{value: "{{a.output}}", not: [x, y]}',
      'when/not',
      /must be a schema/,
      /^write not: \{enum: \[x, y\]\}$/,
    ],
    ['{any: ["{{a.output}}", "{{a.output.x}}"]}', 'when', /no "value"/, /^conditions have no "or"/],
    ['{or: ["{{a.output}}"]}', 'when', /no "value"/, /^conditions have no "or"/],
    ['[{all: ["{{a.output}}"]}]', 'when/0', /no "value"/, /as a list/],
  ];
  for (const [when, path, message, hint] of problems) {
    it(`refuses ${when}`, () => {
      const [problem, ...others] = check(when);
      expect(others).to.deep.equal([]);
      expect(problem?.severity).to.equal('error');
      expect(problem?.path).to.equal(`/pipeline/tasks/1/${path}`);
      expect(problem?.message).to.match(message);
      if (hint !== undefined) expect(problem?.hint).to.match(hint);
    });
  }

  it('refuses more than 20 conditions of one task', () => {
    const [problem] = check(`[${Array.from({ length: 21 }, () => '"{{a.output}}"').join(', ')}]`);
    expect(problem?.message).to.contain('20');
  });

  it('makes a task wait for the tasks that its condition reads (rule 5)', () => {
    const checked = checkTaskList('- {id: b, tool: mock, when: "{{a.output}}"}\n- {id: a, tool: mock}');
    expect(checked.ok && checked.pipeline.waves).to.deep.equal([['a'], ['b']]);
  });

  it('finds a cycle through conditions', () => {
    const checked = checkTaskList(
      '- {id: a, tool: mock, when: "{{b.error}}"}\n- {id: b, tool: mock, when: "{{a.error}}"}',
    );
    expect(onlyProblem(checked).code).to.equal('cycle');
  });
});

describe('The check of tasks whose output may be missing (D78, D79)', () => {
  it('warns of a reader without a default, and names the condition', () => {
    const problem = onlyProblem(
      checkTaskList(
        `- {id: a, tool: mock, when: "{{params.x}}"}
- {id: b, tool: mock, inputs: {x: "{{a.output}} {{a.output.y}}"}}`.replace('params.x', 'pipeline.goal'),
      ),
    );
    expect(problem).to.deep.include({ code: 'may_be_skipped', severity: 'warning' });
    expect(problem.message).to.equal('task "b" is skipped when "a" is, by its condition {{pipeline.goal}}');
    expect(problem.hint).to.contain('{{a.output ?? null}}');
  });

  it('warns of a reader of a task that may fail', () => {
    const checked = checkTaskList(
      '- {id: a, tool: mock, on_error: continue}\n- {id: b, tool: mock, inputs: {x: "{{a.output}}"}}',
    );
    expect(onlyProblem(checked).message).to.equal('task "b" is skipped when "a" has failed');
  });

  it('warns of none that gives a default, reads the state, only waits, or has a condition over it', () => {
    const checked = checkTaskList(
      `- {id: a, tool: mock, on_error: continue}
- {id: b, tool: mock, inputs: {x: "{{a.output ?? null}}"}}
- {id: c, tool: mock, inputs: {x: "{{a.error}} {{a.status}}"}}
- {id: d, tool: mock, await: [a]}
- {id: e, tool: mock, when: "{{a.output}}", inputs: {x: "{{a.output}}"}}`,
    );
    expect(checked.problems).to.deep.equal([]);
  });

  const readsFanOut = (when: string): readonly Problem[] =>
    checkPipelineText(`{id: p, goal: g, inputs: {go: true}, tasks: [{id: list, tool: mock},
      {id: a, tool: mock, parallel_over: "{{list.output}}", inputs: {x: "{{item}}"}, when: ${when}},
      {id: b, tool: mock, inputs: {x: "{{a.output}} {{a.status}}"}}]}`).problems;

  it('warns of no reader of a fan-out whose items alone are skipped', () => {
    expect(readsFanOut('"{{item.ok}}"')).to.deep.equal([]);
  });

  it('names the condition by which a fan-out is skipped, not that of its items', () => {
    const [problem, ...others] = readsFanOut('["{{item.ok}}", "{{pipeline.inputs.go}}"]');
    expect(problem?.message).to.equal(
      'task "b" is skipped when "a" is, by its condition {{pipeline.inputs.go}}',
    );
    expect(others).to.deep.equal([]);
  });

  it('warns of a handler that a run without an output skips, unless a condition says so (D80)', () => {
    const withHandler = (more: string): readonly Problem[] =>
      checkPipelineText(`{id: p, goal: g, tasks: [{id: a, tool: mock}],
        finally: [{id: clean, tool: mock, inputs: {x: "{{a.output.id}}"}${more}}]}`).problems;
    const [problem] = withHandler('');
    expect(problem).to.deep.include({ code: 'may_be_skipped', severity: 'warning' });
    expect(problem?.hint).to.contain('{{a.output.id ?? null}}').and.contain('when: "{{a.output ?? null}}"');
    expect(withHandler(', when: "{{a.output ?? null}}"')).to.deep.equal([]);
  });

  it('lets {{a.error}} mean the output of any other task, with a warning (D11)', () => {
    const checked = checkTaskList('- {id: a, tool: mock}\n- {id: b, tool: mock, inputs: {x: "{{a.error}}"}}');
    const { code, hint } = onlyProblem(checked);
    expect(code).to.equal('output_omitted');
    expect(hint).to.equal(
      'write {{a.output.error}} for a field of the output; only tasks with "when" or "on_error: continue" have {{ID.error}} of their own, and a handler reads {{run.error}}',
    );
  });
});
