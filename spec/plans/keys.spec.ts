import { expect } from 'chai';
import {
  checkingPlan,
  keeping,
  onlyProblem,
  pipelineWith,
  planCodes,
  planOf,
} from '../support/definitions/checking-plans.js';

describe('the keys of a plan (Plan, rule 3)', () => {
  it('wants every read stored by another sub-pipeline, wherever it stands', () => {
    const both = [keeping('b', { reads: ['x'] }), keeping('a', { stores: ['x'] })].join('\n');
    expect(checkingPlan(planOf(both)).problems).to.deep.equal([]);
    const problem = onlyProblem(checkingPlan(planOf(both.replace('reads: [x]', 'reads: [x, xx]'))));
    expect(problem).to.include({
      code: 'unsatisfied_read',
      message: 'no sub-pipeline stores "xx", which "b" reads',
      path: '/plan/sub_pipelines/0/reads/1',
      hint: 'did you mean "x"?',
    });
  });

  it('never suggests a key that the reader alone stores', () => {
    const text = planOf(
      [keeping('a', { reads: ['facts'], stores: ['fact'] }), keeping('b', { stores: ['figures'] })].join(
        '\n',
      ),
    );
    expect(onlyProblem(checkingPlan(text)).hint).to.equal(
      'add it to the "stores" of the one that writes it, or give it as session',
    );
  });

  it('takes a key of the session that is given for the run', () => {
    const text = planOf(keeping('a', { reads: ['x'] }));
    expect(checkingPlan(text).ok).to.be.false;
    expect(checkingPlan(text, { session: { x: 1 } }).problems).to.deep.equal([]);
  });

  it('refuses a key that its own writer alone reads, in words of its own', () => {
    const text = planOf(keeping('a', { reads: ['x'], stores: ['x'] }));
    const unsatisfied = checkingPlan(text).problems.filter(({ code }) => code === 'unsatisfied_read');
    expect(unsatisfied.map(({ message }) => message)).to.deep.equal([
      'only sub-pipeline "a" itself stores "x", which it reads',
    ]);
    expect(checkingPlan(text, { session: { x: 1 } }).ok).to.be.true;
    const twice = checkingPlan(text.replace('stores: [x]', 'stores: [x, x]'));
    expect(planCodes(twice)).to.include('unsatisfied_read at /plan/sub_pipelines/0/reads/0');
  });

  it('refuses two writers of a key, and names both', () => {
    const text = planOf(['a', 'b', 'c'].map((id) => keeping(id, { stores: ['x', id] })).join('\n'));
    const { problems } = checkingPlan(text);
    expect(problems.map(({ code, path, message }) => `${code} ${path} ${message}`)).to.deep.equal([
      'two_writers /plan/sub_pipelines/1/stores/0 sub-pipelines "a" and "b" both store "x"',
      'two_writers /plan/sub_pipelines/2/stores/0 sub-pipelines "a" and "c" both store "x"',
    ]);
  });

  it('refuses two writers even when both only append', () => {
    const appending =
      '{id: p, goal: g, tasks: [{id: s, tool: store, inputs: {key: x, value: 1, append: true}}]}';
    const text = planOf(
      ['a', 'b'].map((id) => `- {id: ${id}, stores: [x], pipeline: ${appending}}`).join('\n'),
    );
    expect(planCodes(checkingPlan(text))).to.deep.equal(['two_writers at /plan/sub_pipelines/1/stores/0']);
  });

  it('warns of a key that stands twice in one list, and takes it for one', () => {
    const text = planOf(`
${keeping('a', { stores: ['x'] }).replace('stores: [x]', 'stores: [x, x]')}
${keeping('b', { reads: ['x'] }).replace('reads: [x]', 'reads: [x, x]')}
`);
    const check = checkingPlan(text);
    expect(planCodes(check)).to.deep.equal([
      'warning: repeated_key at /plan/sub_pipelines/0/stores/1',
      'warning: repeated_key at /plan/sub_pipelines/1/reads/1',
    ]);
    expect(check.ok && check.statistics.keys).to.deep.equal([{ key: 'x', stored_by: 'a', read_by: ['b'] }]);
  });

  it('refuses two sub-pipelines of one id', () => {
    const text = planOf([keeping('b', {}), ...Array(3).fill(keeping('a', {}))].join('\n'));
    const { problems } = checkingPlan(text);
    expect(problems.map(({ code, path, message }) => `${code} ${path} ${message}`)).to.deep.equal([
      'duplicate_sub_pipeline /plan/sub_pipelines/2/id two sub-pipelines are called "a"; the first is sub-pipeline 2',
      'duplicate_sub_pipeline /plan/sub_pipelines/3/id two sub-pipelines are called "a"; the first is sub-pipeline 2',
    ]);
  });

  it('sees no cycle between two of one id that stand apart', () => {
    const text = planOf(
      [
        keeping('a', { stores: ['x'] }),
        keeping('b', { reads: ['x'], stores: ['y'] }),
        keeping('a', { reads: ['y'] }),
      ].join('\n'),
    );
    expect(planCodes(checkingPlan(text))).to.deep.equal([
      'duplicate_sub_pipeline at /plan/sub_pipelines/2/id',
    ]);
  });

  it('refuses to hand on an input that neither the plan nor the run has', () => {
    const reading = '{id: p, goal: g, inputs: {topic: x, tpic: y}, tasks: [{id: t, tool: mock}]}';
    const text = planOf(`- {id: a, inputs: [topic, tpic], pipeline: ${reading}}`, '  inputs: {topic: tea}\n');
    expect(onlyProblem(checkingPlan(text))).to.include({
      code: 'unknown_input',
      message: 'the plan has no input "tpic" to hand on to sub-pipeline "a"',
      path: '/plan/sub_pipelines/0/inputs/1',
      hint: 'did you mean "topic"?',
    });
    expect(checkingPlan(text, { inputs: { tpic: 1 } }).problems).to.deep.equal([]);
    const using = text.replace('tool: mock', 'tool: mock, inputs: {x: "{{pipeline.inputs.other}}"}');
    expect(planCodes(checkingPlan(using.replace('tpic]', 'other]')))).to.deep.equal([
      'unknown_input at /plan/sub_pipelines/0/inputs/1',
    ]);
  });

  it('takes any name for a key, such as those that objects have of themselves', () => {
    const keys = ['__proto__', 'constructor', 'toString'];
    const text = planOf(
      `${keeping('a', { stores: keys })}\n- {id: b, reads: [${keys.join(', ')}], pipeline: ${pipelineWith({})}}`,
    );
    const check = checkingPlan(text);
    expect(check.problems).to.deep.equal([]);
    expect(check.ok && check.statistics.keys.map(({ key }) => key)).to.deep.equal(keys);
    expect(
      planCodes(
        checkingPlan(planOf(`- {id: b, reads: [${keys.join(', ')}], pipeline: ${pipelineWith({})}}`)),
      ),
    ).to.have.length(3);
  });
});
