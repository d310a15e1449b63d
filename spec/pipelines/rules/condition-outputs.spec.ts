import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkTaskList, onlyProblem } from '../../support/definitions/check-pipeline.js';

const GET = '- {id: get, tool: http_request, inputs: {url: "https://example.com"}}';

function check(when: string, before = GET): readonly Problem[] {
  return checkTaskList(`${before}\n- {id: next, tool: mock, when: ${when}}`).problems;
}

describe('Conditions on what tools return', () => {
  it('refuses a constant of a type that the tool never returns, and suggests one that it may', () => {
    const problem = onlyProblem({ problems: check('{value: "{{get.output.status}}", const: "200"}') });
    expect(problem.message).to.equal('the condition never holds: {{get.output.status}} is a number');
    expect(problem.hint).to.equal('write const: 200');
  });

  it('refuses a keyword of another type, and a "not" that excludes nothing', () => {
    const pattern = onlyProblem({ problems: check('{value: "{{get.output.status}}", pattern: "^2"}') });
    expect(pattern.message).to.contain('the condition never holds: {{get.output.status}} is a number');
    const not = onlyProblem({ problems: check('{value: "{{get.output.status}}", not: {const: "200"}}') });
    expect(not.message).to.contain('"not" excludes nothing');
  });

  it('compares the output of a round in "repeat.until"', () => {
    const task = `- {id: get, tool: http_request, inputs: {url: "https://example.com"}, repeat: {until: {value: "{{this.output.status}}", const: "200"}}}`;
    expect(onlyProblem(checkTaskList(task)).message).to.contain('{{this.output.status}} is a number');
  });

  it('compares a field of the items of a fan-out', () => {
    const files = '- {id: files, tool: list_files, inputs: {path: .}}';
    const each =
      '- {id: each, tool: read_file, parallel_over: "{{files.output.files}}", when: {value: "{{item.size}}", const: big}, inputs: {path: "{{item.path}}"}}';
    expect(onlyProblem(checkTaskList(`${files}\n${each}`)).message).to.contain('{{item.size}} is a number');
  });

  for (const when of [
    '{value: "{{get.output.status}}", const: 200}',
    '{value: "{{get.output.status}}", enum: ["200", 200]}',
    '{value: "{{get.output.body.any}}", const: "200"}',
    `{value: '{{get.output.status ?? "none"}}', const: none}`,
    '"{{get.output.status}}"',
  ]) {
    it(`accepts ${when}, which may hold`, () => {
      expect(check(when)).to.deep.equal([]);
    });
  }

  it('accepts a condition on a value that is written in the definition, whatever it is', () => {
    const store = '- {id: s, tool: store, inputs: {key: k, value: {on: true, level: 1}}}';
    for (const when of ['"{{s.output.on}}"', '{value: "{{s.output.level}}", const: 2}'])
      expect(check(when, store), when).to.deep.equal([]);
  });
});
