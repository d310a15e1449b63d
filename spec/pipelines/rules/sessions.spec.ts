import { expect } from 'chai';
import {
  checkPipelineText,
  formatProblems,
  onlyProblem,
  wrapTasks,
  checkTaskList,
} from '../../support/definitions/check-pipeline.js';

const STORE = '- {id: s, tool: store, inputs: {key: k, value: 1}}';
const READ = '- {id: r, tool: mock, inputs: {x: "{{session.k}}"}}';

function warnings(tasks: string, extra = '') {
  const check = checkPipelineText(`${wrapTasks(tasks)}${extra}`);
  expect(check.ok, JSON.stringify(check.problems)).to.equal(true);
  return check;
}

describe('checkSessions (D9)', () => {
  it('warns of a key that nothing stores', () => {
    expect(onlyProblem(warnings(READ))).to.deep.include({
      code: 'session_never_stored',
      severity: 'warning',
      message: 'no earlier task stores session key "k"',
      path: '/pipeline/tasks/0/inputs/x',
    });
  });

  it('accepts a key that is declared under reads, passed to the run, or has a fallback', () => {
    expect(formatProblems(warnings(READ, '  reads: [k]\n'))).to.deep.equal([]);
    expect(formatProblems(checkTaskList(READ, { session: { k: 1 } }))).to.deep.equal([]);
    expect(
      formatProblems(warnings('- {id: r, tool: mock, inputs: {x: "{{session.k ?? 1}}"}}')),
    ).to.deep.equal([]);
  });

  it('accepts any key when a task stores under a templated key', () => {
    const dynamic =
      '- {id: l, tool: transform, inputs: {input: null, expression: "[1]"}}\n- {id: d, tool: store, parallel_over: "{{l.output}}", inputs: {key: "k{{item}}", value: 1}}';
    expect(
      formatProblems(
        warnings(`${dynamic}\n- {id: r, tool: mock, await: [d], inputs: {x: "{{session.k1}}"}}`),
      ),
    ).to.deep.equal([]);
  });

  it('warns of a race with a task of the same wave, and suggests the missing await', () => {
    expect(onlyProblem(warnings(`${STORE}\n${READ}`))).to.deep.include({
      code: 'session_race',
      message: 'task "r" reads session key "k", which task "s" stores in the same wave',
      hint: 'add "await: [s]" to task "r"',
    });
  });

  it('warns of a race with a task of a later wave', () => {
    const late = '- {id: s, tool: store, inputs: {key: k, value: "{{a.output}}"}}\n- {id: a, tool: mock}';
    expect(onlyProblem(warnings(`${READ}\n${late}`))).to.deep.include({
      code: 'session_race',
      message: 'task "r" reads session key "k", which task "s" stores only in a later wave',
    });
  });

  it('adds to the existing awaits in the hint', () => {
    const tasks = `- {id: a, tool: mock}\n- {id: s, tool: store, await: [a], inputs: {key: k, value: 1}}\n- {id: r, tool: mock, await: [a], inputs: {x: "{{session.k}}"}}`;
    expect(onlyProblem(warnings(tasks)).hint).to.equal('add "await: [a, s]" to task "r"');
  });

  it('accepts a reader that awaits the storing task', () => {
    expect(
      formatProblems(warnings(`${STORE}\n- {id: r, tool: mock, await: [s], inputs: {x: "{{session.k}}"}}`)),
    ).to.deep.equal([]);
  });

  it('warns of a race in parallel_over', () => {
    const tasks = `- {id: s, tool: store, inputs: {key: k, value: [1]}}\n- {id: r, tool: mock, parallel_over: "{{session.k}}", inputs: {x: "{{item}}"}}`;
    expect(formatProblems(warnings(tasks))).to.deep.equal([
      'session_race at /pipeline/tasks/1/parallel_over',
    ]);
  });

  it('suggests no await that would make a cycle: a task after the reader cannot race with it', () => {
    const update = '- {id: s, tool: store, inputs: {key: k, value: "{{r.output.inputs.x}}"}}';
    expect(formatProblems(warnings(`${READ}\n${update}`))).to.deep.equal([
      'session_never_stored at /pipeline/tasks/0/inputs/x',
    ]);
    expect(formatProblems(warnings(`${READ}\n${update}`, '  reads: [k]\n'))).to.deep.equal([]);
  });

  it('accepts the value of an earlier wave, unless the same wave stores another', () => {
    const first = '- {id: one, tool: store, inputs: {key: k, value: 1}}';
    const reader = '- {id: r, tool: mock, await: [one], inputs: {x: "{{session.k}}"}}';
    const later = '- {id: two, tool: store, await: [r], inputs: {key: k, value: 2}}';
    expect(formatProblems(warnings(`${first}\n${reader}\n${later}`))).to.deep.equal([]);
    const same = '- {id: two, tool: store, await: [one], inputs: {key: k, value: 2}}';
    expect(formatProblems(warnings(`${first}\n${reader}\n${same}`))).to.deep.equal([
      'session_race at /pipeline/tasks/1/inputs/x',
    ]);
  });

  it('warns of two tasks of one wave that store one key, unless both append', () => {
    const tasks = (append1: boolean, append2: boolean): string =>
      `- {id: a, tool: store, inputs: {key: k, value: 1, append: ${append1}}}\n- {id: b, tool: store, inputs: {key: k, value: 2, append: ${append2}}}`;
    expect(onlyProblem(warnings(tasks(false, true)))).to.deep.include({
      code: 'store_conflict',
      path: '/pipeline/tasks/1',
      message: 'tasks "a", "b" store session key "k" in the same wave: chance decides which value is kept',
    });
    expect(formatProblems(warnings(tasks(true, true)))).to.deep.equal([]);
  });

  it('accepts an append that is a template', () => {
    const task = (id: string): string =>
      `- {id: ${id}, tool: store, inputs: {key: k, value: 1, append: "{{pipeline.inputs.a}}"}}`;
    expect(formatProblems(warnings(`${task('a')}\n${task('b')}`, '  inputs: {a: true}\n'))).to.deep.equal([]);
  });

  it('considers every task that stores the key, not only the first', () => {
    const tasks = `${READ}\n- {id: s1, tool: store, inputs: {key: k, value: "{{r.output.inputs.x}}"}}\n- {id: o, tool: mock}\n- {id: s2, tool: store, await: [o], inputs: {key: k, value: 2, append: true}}`;
    expect(formatProblems(warnings(tasks, '  reads: [k]\n'))).to.include(
      'session_race at /pipeline/tasks/0/inputs/x',
    );
  });

  it('accepts stores of one key in different waves', () => {
    expect(
      formatProblems(warnings(`${STORE}\n- {id: t, tool: store, await: [s], inputs: {key: k, value: 2}}`)),
    ).to.deep.equal([]);
  });

  it('warns of items that overwrite each other', () => {
    const items =
      '- {id: f, tool: store, parallel_over: "{{pipeline.inputs.l}}", inputs: {key: k, value: "{{item}}"}}';
    expect(onlyProblem(warnings(items, '  inputs: {l: [1]}\n'))).to.deep.include({
      code: 'store_conflict',
      message: 'every item of task "f" stores session key "k": only the value of the last item is kept',
    });
  });
});
