import { expect } from 'chai';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { checkPipelineText, onlyProblem } from '../../support/definitions/check-pipeline.js';

const pipeline = (labels: string): string =>
  `id: p\ngoal: g\nlabels: ${labels}\ntasks: [{id: a, tool: mock}]\n`;

const MANY = JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`n${n}`, ''])));

describe('Labels of definitions (D76)', () => {
  for (const labels of [
    '{team: billing, a.b-c_1: "", 2024: x}',
    '{}',
    'null',
    String.raw`{stage: 'of {params} \{{params.none}}'}`,
  ]) {
    it(`may be ${labels}`, () => {
      expect(checkPipelineText(pipeline(labels)).problems).to.deep.equal([]);
    });
  }

  it('cause a warning, at its place, for a template, which stays text', () => {
    const result = checkPipelineText(pipeline('{stage: "in {{params.none}}"}'));
    expect(result.ok).to.equal(true);
    expect(onlyProblem(result)).to.deep.include({
      code: 'template_in_label',
      severity: 'warning',
      message: 'the template in the label "stage" stays text',
      path: '/labels/stage',
      line: 3,
      column: 21,
      hint: 'labels in a definition are written out; whoever submits a run may give it others, which win',
    });
  });

  for (const [labels, code, path, message] of [
    ['{my team: a}', 'invalid_value', '/labels/my team', '"my team" cannot be the name of a label'],
    ['{"a:b": c}', 'invalid_value', '/labels/a:b', '"a:b" cannot be the name of a label'],
    ['{team: 5}', 'wrong_type', '/labels/team', '"team" must be text, not 5'],
    ['{team: "a\\nb"}', 'invalid_value', '/labels/team', '"team" must have no line breaks'],
    [`{team: ${'x'.repeat(129)}}`, 'invalid_value', '/labels/team', 'at most 128 characters'],
    ['[team]', 'wrong_type', '/labels', '"labels" must be a map'],
    [MANY, 'invalid_value', '/labels', '"labels" must have at most 20 entries'],
  ] as const) {
    it(`may not be ${labels.slice(0, 30)}`, () => {
      const problem = onlyProblem(checkPipelineText(pipeline(labels)));
      expect(problem).to.include({ code, path });
      expect(problem.message).to.contain(message);
    });
  }

  it('are checked in plans, too', () => {
    const plan = 'id: q\nlabels: {my team: a, b: "{{x}}"}\nsub_pipelines: [{id: a}]';
    const { problems } = checkPlan(plan, { catalog: builtinCatalog(), pipelines: new Map() });
    expect(problems.map(({ path }) => path)).to.include('/labels/my team');
  });
});
