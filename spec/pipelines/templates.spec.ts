import { expect } from 'chai';
import type { CheckResult } from '../../lib/pipelines/pipeline.js';
import {
  checkPipelineText,
  onlyProblem,
  wrapTasks,
  checkTaskList,
} from '../support/definitions/check-pipeline.js';

describe('Templates of a pipeline', () => {
  /** The source at the position of each problem, up to the next space or quote. */
  function listUnderlined(text: string, { problems }: CheckResult): string[] {
    const lines = text.split('\n');
    return problems.map(({ line = 0, column = 0, severity, code }) => {
      const [word] = /^[^\s"]*/.exec(lines[line - 1]?.slice(column - 1) ?? '') ?? [];
      return `${severity} ${code} ${word}`;
    });
  }

  it('are each reported for themselves: one that is not valid hides no other in its text, in any style of YAML', () => {
    const text = `pipeline:
  id: p
  goal: >
    find {{a.output}} for
    {{params.nobody}} {{
  tasks:
  - id: a
    tool: mock
    inputs:
      quoted: "say \\"{{x.}}\\" to {{y.output}}"
      block: |
        {{a.b
        {{c.d}} then {{e
      plain: with {{item}}, {{params.p}} and {{pipeline.inputs.i}}
`;
    expect(listUnderlined(text, checkPipelineText(text))).to.deep.equal([
      'error unknown_reference {{params.nobody}}',
      'error template_syntax {{x.}}\\',
      'error unknown_reference {{y.output}}',
      'error template_syntax {{a.b',
      'error unknown_reference {{c.d}}',
      'error template_syntax {{e',
      'error item_outside_fan_out {{item}},',
      'error unknown_reference {{params.p}}',
      'error unknown_reference {{pipeline.inputs.i}}',
      'warning unknown_reference {{a.output}}',
      'warning template_syntax {{',
    ]);
  });

  it('point at the template in warnings too', () => {
    const text = wrapTasks(
      '- {id: u, tool: mock, inputs: {x: "to {{session.k}}, or"}}\n- {id: r, tool: mock}\n- {id: s, tool: store, inputs: {key: k, value: 1}}\n- {id: t, tool: mock, inputs: {x: "a {{session.gone}}, b {{r.status}}"}}',
    );
    expect(listUnderlined(text, checkPipelineText(text))).to.deep.equal([
      'warning session_race {{session.k}},',
      'warning session_never_stored {{session.gone}},',
      'warning output_omitted {{r.status}}',
    ]);
  });

  it('read a whole output when they name only the task, with a warning (D11)', () => {
    const check = checkTaskList('- {id: a, tool: mock}\n- {id: b, tool: mock, inputs: {x: "{{a}}"}}');
    expect(check.ok && check.pipeline.waves).to.deep.equal([['a'], ['b']]);
    expect(onlyProblem(check)).to.deep.include({
      code: 'output_omitted',
      severity: 'warning',
      message: '{{a}} leaves out "output"',
      hint: 'write {{a.output}}',
    });
  });

  it('suggest .output for a misspelt one, which might also be a field of the output (D11)', () => {
    const tasks = '- {id: a, tool: mock}\n- {id: b, tool: mock, inputs: {x: "{{ a.outptu.rows[0] ?? 1 }}"}}';
    expect(onlyProblem(checkTaskList(tasks))).to.deep.include({
      severity: 'warning',
      hint: 'did you mean {{a.output.rows[0]}}? Otherwise write {{a.output.outptu.rows[0] ?? 1}}',
    });
  });

  it('are reported with a warning when a "$" stands directly before them, in inputs and in the goal (D9)', () => {
    const text = `pipeline:
  id: p
  goal: "in \${{ params.city }}"
  params: {city: {default: Rome}}
  tasks:
  - {id: a, tool: mock, inputs: {list: ["\${{params.city}}"], amount: "$ {{params.city}}", plain: "$\\\\{{x}}"}}
`;
    const check = checkPipelineText(text);
    expect(check.ok).to.equal(true);
    expect(listUnderlined(text, check)).to.deep.equal([
      'warning stray_dollar {{',
      'warning stray_dollar {{params.city}}',
    ]);
    expect(check.problems[1]).to.include({
      message: 'the "$" before {{params.city}} stays in the text',
      hint: 'write {{params.city}}, unless the text needs the "$"',
    });
  });

  it('that read nothing known get the hint to remove the "$" before them, beside their own (D9)', () => {
    const { problems } = checkTaskList('- {id: a, tool: mock, inputs: {x: "${{ env.CITY }}"}}');
    expect(problems.map(({ code, hint }) => [code, hint])).to.deep.equal([
      ['unknown_reference', 'templates read no environment: declare a param and pass it'],
      ['stray_dollar', 'remove it, unless the text needs the "$"'],
    ]);
  });

  it('are reported with a warning in the keys of inputs, where they stay text (D15)', () => {
    const text = wrapTasks(
      '- {id: a, tool: mock, inputs: {x: [{"{{item}}": 1, ok: {"v-{{a}}": 2}}], "{{b}}": 3, plain: {"\\\\{{c}}": 4}}}\n' +
        '- {id: b, tool: transform, inputs: {input: 1, expression: "1", "{{x}}": 1}}',
    );
    const check = checkPipelineText(text);
    const lines = text.split('\n');
    const found = check.problems.map(({ code, line = 0, column = 0 }) => {
      return `${code} ${lines[line - 1]?.slice(column - 1).replace(/:.*/, '')}`;
    });
    expect(found).to.deep.equal([
      'unknown_input "{{x}}"',
      'template_in_key "{{item}}"',
      'template_in_key "v-{{a}}"',
      'template_in_key "{{b}}"',
    ]);
    expect(check.problems[1]).to.include({
      message: 'the template in the key "{{item}}" stays text',
      hint: 'templates are replaced in values only: write the key itself, or build the object with the tool "transform"',
    });
  });

  it('suggest the namespace of a param or an input (rule 8)', () => {
    const text = `pipeline:
  id: p
  goal: g
  params: {city: {}}
  inputs: {limit: 3}
  tasks:
  - {id: a, tool: mock, inputs: {x: "{{city}}", y: "{{limit}}"}}
  - {id: b, tool: mock, inputs: {x: "{{pipeline.inputs.city}}", y: "{{params.limit}}"}}
`;
    expect(checkPipelineText(text).problems.map(({ hint }) => hint)).to.deep.equal([
      'did you mean "params.city"?',
      'did you mean "pipeline.inputs.limit"?',
      'did you mean "params.city"?',
      'did you mean "pipeline.inputs.limit"?',
    ]);
  });

  it('may stand alone in a block of YAML, also in parallel_over (D10)', () => {
    const tasks = `
- {id: a, tool: mock}
- id: b
  tool: mock
  parallel_over: >
    {{a.output.inputs}}
  inputs:
    x: |
      {{item}}`;
    expect(checkTaskList(tasks).problems).to.deep.equal([]);
  });

  it('of other values than params stay text in the goal, with a warning (D54)', () => {
    const check = checkPipelineText(
      'pipeline: {id: p, goal: "use {{a.output}} and {{ x | y }}", tasks: [{id: a, tool: mock}]}',
    );
    expect(check.ok).to.equal(true);
    expect(check.problems.map(({ code, severity, message }) => [code, severity, message])).to.deep.equal([
      ['unknown_reference', 'warning', '{{a.output}} stays text: the goal can only read params'],
      ['template_syntax', 'warning', 'templates have no filters: the template stays text in the goal'],
    ]);
  });

  it('are not looked for in a goal that is too long', () => {
    const goal = '{{'.repeat(6000);
    const check = checkPipelineText(JSON.stringify({ id: 'p', goal, tasks: [{ id: 'a', tool: 'mock' }] }));
    expect(onlyProblem(check)).to.include({ code: 'invalid_value', path: '/goal' });
  });
});
