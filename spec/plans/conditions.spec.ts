import { expect } from 'chai';
import { subPipelineText } from '../support/definitions/parse-plan.js';
import { checkPlanText } from '../support/definitions/check-plan.js';
import { onlyProblem } from '../support/definitions/check-pipeline.js';

const STORE = '{id: s, tool: store, inputs: {key: ka, value: 1}}';

function check(when: string, ...more: string[]): ReturnType<typeof checkPlanText> {
  const parts = [
    subPipelineText('b', '{id: t, tool: mock}', `when: ${when}`),
    subPipelineText('a', STORE, 'stores: [ka]'),
    ...more,
  ];
  return checkPlanText(`{id: p, inputs: {limit: 3}, sub_pipelines: [${parts.join(', ')}]}`);
}

describe('The conditions of sub-pipelines (D77)', () => {
  it('order a sub-pipeline after the one that stores what they read, as reads does', () => {
    const found = check('["{{session.ka}}", {value: "{{pipeline.inputs.limit}}", minimum: 1}]');
    expect(found.problems).to.deep.equal([]);
    expect(found.ok && found.statistics.order).to.deep.equal(['a', 'b']);
    expect(found.ok && found.statistics.keys).to.deep.equal([{ key: 'ka', stored_by: 'a', read_by: ['b'] }]);
  });

  const wrong: readonly (readonly [when: string, message: RegExp, hint: RegExp])[] = [
    ['"{{session.kb}}"', /^no sub-pipeline stores "kb", which a condition of "b" reads$/, /"ka"/],
    ['"{{pipeline.inputs.limt}}"', /^the plan has no input "limt"/, /"limit"/],
    ['"{{params.limit}}"', /^a condition of a sub-pipeline reads only/, /pipeline\.inputs\.limit/],
    ['"{{ka}}"', /^a condition of a sub-pipeline reads only/, /session\.ka/],
    ['"{{secrets.TOKEN}}"', /^a condition of a sub-pipeline reads only/, /^store what it looks at/],
    ['yes please', /^a condition needs a template/, /session\.KEY/],
    ['always()', /^a condition needs a template/, /under "finally", beside "sub_pipelines"$/],
    ['"{{session.ka == true}}"', /no operators/, /^write \{value: "\{\{session\.ka\}\}", const: true\}$/],
    ['{value: "no. {{session.ka}}", minimum: 3}', /^the condition never holds: .* is a text/, /^$/],
    ['{value: "{{session.ka}}"}', /^the condition has a value, and nothing/, /const/],
    ['{value: "{{session.ka}}", minimun: 3}', /^a condition has no keyword "minimun"/, /minimum/],
  ];
  for (const [when, message, hint] of wrong) {
    it(`may not be ${when}, and the message says what to write`, () => {
      const problem = onlyProblem(check(when));
      expect(problem.message).to.match(message);
      expect(problem.hint ?? '').to.match(hint);
      expect(problem.path).to.match(/^\/sub_pipelines\/0\/when/);
    });
  }

  it('may not contradict themselves, so that they never hold', () => {
    for (const when of [
      '{value: "{{session.ka}}", const: 1, minimum: 3}',
      '{value: "{{session.ka}}", enum: [a], not: {const: a}}',
    ])
      expect(onlyProblem(check(when)).message).to.match(/^the condition never holds/);
  });

  it('may not read a key that only their sub-pipeline itself stores, nor one that comes later', () => {
    const own = subPipelineText('c', STORE.replace('ka', 'kc'), 'when: "{{session.kc}}", stores: [kc]');
    expect(onlyProblem(check('"{{session.ka}}"', own)).message).to.include('only "c" itself stores, later');
    const [x, y] = ['x', 'y'].map((id, at, ids) =>
      subPipelineText(
        id,
        STORE.replace('ka', `k${id}`),
        `when: "{{session.k${ids[1 - at]}}}", stores: [k${id}]`,
      ),
    );
    expect(check('"{{session.ka}}"', x ?? '', y ?? '').problems.map(({ code }) => code)).to.deep.equal([
      'cycle',
    ]);
  });

  it('warn of a sub-pipeline that is skipped with another, unless each template gives a default (D78)', () => {
    const reading = (template: string): string =>
      `{id: d, reads: [kc], pipeline: {id: d, goal: g, tasks: [{id: t, tool: mock, inputs: {x: "${template}"}}]}}`;
    const c = subPipelineText('c', STORE.replace('ka', 'kc'), 'when: "{{session.ka}}", stores: [kc]');
    expect(check('"{{session.ka}}"', c, reading('{{session.kc ?? 1}}')).problems).to.deep.equal([]);
    const problem = onlyProblem(check('"{{session.ka}}"', c, reading('{{session.kc}}')));
    expect(problem).to.include({
      code: 'may_be_skipped',
      severity: 'warning',
      path: '/sub_pipelines/3/reads/0',
    });
    expect(problem.message).to.equal(
      'sub-pipeline "d" is skipped when "c" is, by its condition {{session.ka}}: only that one stores "kc"',
    );
  });
});
