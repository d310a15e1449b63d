import { expect } from 'chai';
import { onlyProblem } from '../support/definitions/check-pipeline.js';
import {
  checkPlanText,
  matchingSubPipeline,
  pipelineWith,
  formatPlanProblems,
  wrapSubPipelines,
  checkSubPipelines,
} from '../support/definitions/check-plan.js';

describe('checkKeys (Plan, rule 3)', () => {
  it('requires another sub-pipeline to store every key that is read, before or after it', () => {
    const both = [
      matchingSubPipeline('b', { reads: ['x'] }),
      matchingSubPipeline('a', { stores: ['x'] }),
    ].join('\n');
    expect(checkSubPipelines(both).problems).to.deep.equal([]);
    const problem = onlyProblem(checkSubPipelines(both.replace('reads: [x]', 'reads: [x, xx]')));
    expect(problem).to.include({
      code: 'unsatisfied_read',
      message: 'no sub-pipeline stores "xx", which "b" reads',
      path: '/plan/sub_pipelines/0/reads/1',
      hint: 'did you mean "x"?',
    });
  });

  it('never suggests a key that the reader alone stores', () => {
    const text = wrapSubPipelines(
      [
        matchingSubPipeline('a', { reads: ['facts'], stores: ['fact'] }),
        matchingSubPipeline('b', { stores: ['figures'] }),
      ].join('\n'),
    );
    expect(onlyProblem(checkPlanText(text)).hint).to.equal(
      'add it to the "stores" of the sub-pipeline that writes it, or pass it in the session',
    );
  });

  it('accepts a key of the session of the run', () => {
    const text = wrapSubPipelines(matchingSubPipeline('a', { reads: ['x'] }));
    expect(checkPlanText(text).ok).to.be.false;
    expect(checkPlanText(text, { session: { x: 1 } }).problems).to.deep.equal([]);
  });

  it('accepts a key that the reader itself stores, from which no order comes (D55)', () => {
    const tasks = `[{id: s, tool: store, inputs: {key: x, value: 1}},
      {id: r, tool: mock, await: [s], inputs: {x: "{{session.x}}"}}]`;
    const text = wrapSubPipelines(`
- {id: a, reads: [x, y], stores: [x], pipeline: {id: p, goal: g, tasks: ${tasks}}}
${matchingSubPipeline('b', { stores: ['y'] })}
`);
    const check = checkPlanText(text);
    expect(check.problems).to.deep.equal([]);
    expect(check.ok && check.statistics.order).to.deep.equal(['b', 'a']);
    expect(check.ok && check.statistics.keys).to.deep.equal([
      { key: 'y', stored_by: 'b', read_by: ['a'] },
      { key: 'x', stored_by: 'a', read_by: ['a'] },
    ]);
  });

  it('runs a sub-pipeline that reads its own key after another one that stores it too, and rejects the second writer', () => {
    const text = wrapSubPipelines(
      [
        matchingSubPipeline('a', { reads: ['x'], stores: ['x'] }),
        matchingSubPipeline('b', { stores: ['x'] }),
      ].join('\n'),
    );
    expect(formatPlanProblems(checkPlanText(text))).to.include(
      'two_writers at /plan/sub_pipelines/1/stores/0',
    );
  });

  it('rejects two writers of a key and names both', () => {
    const text = wrapSubPipelines(
      ['a', 'b', 'c'].map((id) => matchingSubPipeline(id, { stores: ['x', id] })).join('\n'),
    );
    const { problems } = checkPlanText(text);
    expect(problems.map(({ code, path, message }) => `${code} ${path} ${message}`)).to.deep.equal([
      'two_writers /plan/sub_pipelines/1/stores/0 sub-pipelines "a" and "b" both store "x"',
      'two_writers /plan/sub_pipelines/2/stores/0 sub-pipelines "a" and "c" both store "x"',
    ]);
  });

  it('rejects two writers even when both only append', () => {
    const appending =
      '{id: p, goal: g, tasks: [{id: s, tool: store, inputs: {key: x, value: 1, append: true}}]}';
    const text = wrapSubPipelines(
      ['a', 'b'].map((id) => `- {id: ${id}, stores: [x], pipeline: ${appending}}`).join('\n'),
    );
    expect(formatPlanProblems(checkPlanText(text))).to.deep.equal([
      'two_writers at /plan/sub_pipelines/1/stores/0',
    ]);
  });

  it('warns of a key that a list contains twice, and counts it once', () => {
    const text = wrapSubPipelines(`
${matchingSubPipeline('a', { stores: ['x'] }).replace('stores: [x]', 'stores: [x, x]')}
${matchingSubPipeline('b', { reads: ['x'] }).replace('reads: [x]', 'reads: [x, x]')}
`);
    const check = checkPlanText(text);
    expect(formatPlanProblems(check)).to.deep.equal([
      'warning: repeated_key at /plan/sub_pipelines/0/stores/1',
      'warning: repeated_key at /plan/sub_pipelines/1/reads/1',
    ]);
    expect(check.ok && check.statistics.keys).to.deep.equal([{ key: 'x', stored_by: 'a', read_by: ['b'] }]);
  });

  it('rejects two sub-pipelines with the same id', () => {
    const text = wrapSubPipelines(
      [matchingSubPipeline('b', {}), ...Array(3).fill(matchingSubPipeline('a', {}))].join('\n'),
    );
    const { problems } = checkPlanText(text);
    expect(problems.map(({ code, path, message }) => `${code} ${path} ${message}`)).to.deep.equal([
      'duplicate_sub_pipeline /plan/sub_pipelines/2/id duplicate sub-pipeline id "a"; the first is sub-pipeline 2',
      'duplicate_sub_pipeline /plan/sub_pipelines/3/id duplicate sub-pipeline id "a"; the first is sub-pipeline 2',
    ]);
  });

  it('finds no cycle between two unrelated sub-pipelines with the same id', () => {
    const text = wrapSubPipelines(
      [
        matchingSubPipeline('a', { stores: ['x'] }),
        matchingSubPipeline('b', { reads: ['x'], stores: ['y'] }),
        matchingSubPipeline('a', { reads: ['y'] }),
      ].join('\n'),
    );
    expect(formatPlanProblems(checkPlanText(text))).to.deep.equal([
      'duplicate_sub_pipeline at /plan/sub_pipelines/2/id',
    ]);
  });

  it('rejects passing an input that neither the plan nor the run has', () => {
    const reading = '{id: p, goal: g, inputs: {topic: x, tpic: y}, tasks: [{id: t, tool: mock}]}';
    const text = wrapSubPipelines(
      `- {id: a, inputs: [topic, tpic], pipeline: ${reading}}`,
      '  inputs: {topic: tea}\n',
    );
    expect(onlyProblem(checkPlanText(text))).to.include({
      code: 'unknown_input',
      message: 'the plan has no input "tpic" to pass to sub-pipeline "a"',
      path: '/plan/sub_pipelines/0/inputs/1',
      hint: 'did you mean "topic"?',
    });
    expect(checkPlanText(text, { inputs: { tpic: 1 } }).problems).to.deep.equal([]);
    const using = text.replace('tool: mock', 'tool: mock, inputs: {x: "{{pipeline.inputs.other}}"}');
    expect(formatPlanProblems(checkPlanText(using.replace('tpic]', 'other]')))).to.deep.equal([
      'unknown_input at /plan/sub_pipelines/0/inputs/1',
    ]);
  });

  it('accepts any name as a key, such as toString', () => {
    const keys = ['__proto__', 'constructor', 'toString'];
    const text = wrapSubPipelines(
      `${matchingSubPipeline('a', { stores: keys })}\n- {id: b, reads: [${keys.join(', ')}], pipeline: ${pipelineWith({})}}`,
    );
    const check = checkPlanText(text);
    expect(check.problems).to.deep.equal([]);
    expect(check.ok && check.statistics.keys.map(({ key }) => key)).to.deep.equal(keys);
    expect(
      formatPlanProblems(
        checkSubPipelines(`- {id: b, reads: [${keys.join(', ')}], pipeline: ${pipelineWith({})}}`),
      ),
    ).to.have.length(3);
  });
});
