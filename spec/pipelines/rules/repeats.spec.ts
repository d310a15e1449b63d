import { expect } from 'chai';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkTaskList } from '../../support/definitions/check-pipeline.js';

const check = (fields: string): readonly Problem[] =>
  checkTaskList(`- {id: a, tool: mock}\n- {id: b, tool: mock, ${fields}}`).problems;

const UNTIL = 'until: "{{this.output.done}}"';

describe('The check of repeat (D83)', () => {
  for (const repeat of [
    `{${UNTIL}}`,
    `{${UNTIL}, every: 0, at_most: 1}`,
    `{${UNTIL}, every: 7d, at_most: 10000}`,
    '{until: {value: "{{this.output.state}}", enum: [done, gone]}, every: 1h30m}',
    '{until: ["{{this.output.done}}", "{{a.output}}"]}',
    'null',
  ]) {
    it(`allows ${repeat}`, () => {
      expect(check(`repeat: ${repeat}`)).to.deep.equal([]);
    });
  }

  const problems: readonly (readonly [fields: string, path: string, message: RegExp, hint?: RegExp])[] = [
    ['repeat: {}', 'repeat', /no "until"/, /until: "\{\{this\.output\.done\}\}"/],
    ['repeat: 3', 'repeat', /must be a map/, /write repeat: \{until/],
    [`repeat: {${UNTIL}, every: -1}`, 'repeat/every', />= 0/],
    [`repeat: {${UNTIL}, every: 8d}`, 'repeat/every', /<= 7d/],
    [`repeat: {${UNTIL}, every: 604801}`, 'repeat/every', /<= 604800/],
    [`repeat: {${UNTIL}, every: 5 min}`, 'repeat/every', /no duration/, /every: 300/],
    [`repeat: {${UNTIL}, at_most: 0}`, 'repeat/at_most', />= 1/],
    [`repeat: {${UNTIL}, at_most: 10001}`, 'repeat/at_most', /<= 10000/],
    [
      `repeat: {${UNTIL}, at_most: 10m}`,
      'repeat/at_most',
      /must be a whole number/,
      /^at_most is a number of rounds/,
    ],
    [`repeat: {${UNTIL}, timeout: 10m}`, 'repeat/timeout', /no field/, /at_most is a number of rounds/],
    ['repeat: {until: "{{this.output.done == true}}"}', 'repeat/until', /no operators/, /const: true/],
    [`repeat: {${UNTIL}, interval: 3}`, 'repeat/interval', /no field "interval"/, /did you mean "every"/],
    ['repeat: {until: done}', 'repeat/until', /needs a template/],
    ['repeat: {until: "{{a.output}}"}', 'repeat/until', /never reads \{\{this\.output\}\}/, /this\.output/],
    ['repeat: {until: "{{b.output.x}}"}', 'repeat/until', /its own output/, /did you mean "this\.output\.x"/],
    ['repeat: {until: ["{{this.output}}", "{{item}}"]}', 'repeat/until/1', /without parallel_over/],
    ['repeat: {until: "{{secrets.KEY}}{{this.output}}"}', 'repeat/until', /cannot read secrets/],
    [`cache: true, repeat: {${UNTIL}}`, 'repeat', /cannot stand beside "cache"/, /remove "cache"/],
    [
      `parallel_over: "{{a.output}}", inputs: {x: "{{item}}"}, repeat: {${UNTIL}}`,
      'repeat',
      /cannot stand beside "parallel_over"/,
      /run_pipeline/,
    ],
    ['when: "{{this.output}}"', 'when', /only repeat\.until reads/, /TASK\.output/],
    ['inputs: {x: "{{this.output}}"}', 'inputs/x', /only repeat\.until reads/],
  ];
  for (const [fields, path, message, hint] of problems) {
    it(`refuses ${fields}`, () => {
      const [problem, ...others] = check(fields);
      expect(others).to.deep.equal([]);
      expect(problem?.severity).to.equal('error');
      expect(problem?.path).to.equal(`/pipeline/tasks/1/${path}`);
      expect(problem?.message).to.match(message);
      if (hint !== undefined) expect(problem?.hint).to.match(hint);
    });
  }

  it('makes a task wait for the tasks that its condition reads (rule 5)', () => {
    const checked = checkTaskList(
      '- {id: b, tool: mock, repeat: {until: ["{{this.output}}", "{{a.output}}"]}}\n- {id: a, tool: mock}',
    );
    expect(checked.ok && checked.pipeline.waves).to.deep.equal([['a'], ['b']]);
  });

  it('lets a task be called "this", with a warning', () => {
    const { ok, problems: found } = checkTaskList(
      '- {id: this, tool: mock}\n- {id: b, tool: mock, inputs: {x: "{{this.output.x}}"}}',
    );
    expect(ok).to.equal(true);
    expect(found.map(({ code, severity }) => [code, severity])).to.deep.equal([['reserved_id', 'warning']]);
  });

  it('warns of a path that leaves out "output" (D11)', () => {
    const [problem] = check('repeat: {until: "{{this.done}}"}');
    expect(problem).to.include({ code: 'output_omitted', hint: 'write {{this.output.done}}' });
  });

  for (const field of [
    'until',
    'while',
    'loop_until',
    'retry_until',
    'repeat_policy',
    'repeatInterval',
    'poll',
  ]) {
    it(`knows "${field}" of other products`, () => {
      expect(check(`${field}: x`)[0]?.hint).to.match(/^write repeat: \{until/);
    });
  }
});
