import { expect } from 'chai';
import type { Fix, Problem } from '../../../lib/definition/problems/problem.js';
import { checkPipelineText } from '../../support/definitions/check-pipeline.js';

function applyFix(text: string, { edits }: Fix): string {
  const lines = text.split('\n');
  for (const { from, to, text: written } of edits.toReversed()) {
    expect(from.line).to.equal(to.line);
    const line = lines[from.line - 1] ?? '';
    lines[from.line - 1] = line.slice(0, from.column - 1) + written + line.slice(to.column - 1);
  }
  return lines.join('\n');
}

function problemOf(text: string): Problem {
  const [problem, ...others] = checkPipelineText(text).problems.filter(
    ({ severity }) => severity === 'error',
  );
  expect(others).to.deep.equal([]);
  if (problem === undefined) throw new Error('there is no error');
  return problem;
}

function withTask(field: string): string {
  return `id: p\ngoal: g\ntasks:\n  - id: a\n    tool: mock\n    on_error: continue\n  - id: b\n    tool: mock\n    ${field}\n`;
}

function withField(field: string): string {
  return `id: p\ngoal: g\nparams: {n: {default: 1}}\n${field}\ntasks:\n  - {id: a, tool: mock}\n`;
}

describe('The fix for a field of another product with its value (D8)', () => {
  const inTasks: [field: string, fixed: string][] = [
    ['if: "{{a.output}}"', 'when: "{{a.output}}"'],
    ['runIf: "{{a.output.isNew}}"', 'when: "{{a.output.isNew}}"'],
    ['preconditions: ["{{a.output.x}}", "{{a.output.y}}"]', 'when: ["{{a.output.x}}", "{{a.output.y}}"]'],
    [`if: "{{a.output.state}} == 'done'"`, 'when: {value: "{{a.output.state}}", const: done}'],
    [`if: "{{ a.output.state == 'done' }}"`, 'when: {value: "{{a.output.state}}", const: done}'],
    ['condition: "{{a.output.count}} > 3"', 'when: {value: "{{a.output.count}}", exclusiveMinimum: 3}'],
    ['condition: "{{a.output.count}} < 3"', 'when: {value: "{{a.output.count}}", exclusiveMaximum: 3}'],
    ['condition: "{{a.output.count}} >= 3"', 'when: {value: "{{a.output.count}}", minimum: 3}'],
    ['condition: "{{a.output.count}} <= 2.5"', 'when: {value: "{{a.output.count}}", maximum: 2.5}'],
    ['if: "${{ a.output.ok == true }}"', 'when: {value: "{{a.output.ok}}", const: true}'],
    [`if: "{{a.status}} != 'failed'"`, 'when: {value: "{{a.status}}", not: {const: failed}}'],
    ['continue-on-error: true', 'on_error: continue'],
    ['continueOnError: true', 'on_error: continue'],
    ['allow_failure: true', 'on_error: continue'],
    ['timeoutSec: 30', 'timeout: 30'],
    ['timeout_seconds: 30', 'timeout: 30'],
    ['activeDeadlineSeconds: 30', 'timeout: 30'],
    ['timeout-minutes: 5', 'timeout: "5m"'],
    ['startToCloseTimeout: 10s', 'timeout: 10s'],
  ];
  for (const [field, fixed] of inTasks) {
    it(`writes ${fixed} for ${field}`, () => {
      const text = withTask(field);
      const { fix } = problemOf(text);
      if (fix === undefined) throw new Error('there is no fix');
      const after = applyFix(text, fix);
      expect(after).to.equal(withTask(fixed));
      expect(checkPipelineText(after).ok).to.equal(true);
    });
  }

  const inPipelines: [field: string, fixed: string][] = [
    ['timeout-minutes: 5', 'timeout: "5m"'],
    ['activeDeadlineSeconds: 600', 'timeout: 600'],
    ['maxActiveRuns: 1', 'max_running: 1'],
    ['concurrency: 2', 'max_running: 2'],
    ['annotations: {team: billing}', 'labels: {team: billing}'],
    ['onExit: [{id: last, tool: mock}]', 'finally: [{id: last, tool: mock}]'],
  ];
  for (const [field, fixed] of inPipelines) {
    it(`writes ${fixed} for ${field} of a pipeline`, () => {
      const text = withField(field);
      const { fix } = problemOf(text);
      if (fix === undefined) throw new Error('there is no fix');
      expect(applyFix(text, fix)).to.equal(withField(fixed));
      expect(checkPipelineText(withField(fixed)).ok).to.equal(true);
    });
  }

  const choices: [field: string, hint: RegExp][] = [
    ['if: "{{a.output}} && {{b.output}}"', /^write when: /],
    [`if: "{{a.output.n}} > 'x'"`, /^write when: "\{\{TASK/],
    ['unless: "{{a.output}}"', /^write when: "\{\{TASK/],
    ['if: always()', /^tasks that run however the run has ended are under "finally", beside "tasks"$/],
    ['if: "${{ failure() }}"', /under "on_failure", beside "tasks"$/],
    ['if: cancelled()', /under "on_cancel"/],
    ['continueOn: {failure: true}', /^write on_error: continue, or for the items/],
    ['continue_on_error: true, parallel_over: "{{a.output}}"', /on_item_error: collect$/],
    ['timeout: 5, timeout_seconds: 3', /"timeout"/],
  ];
  for (const [field, hint] of choices) {
    it(`leaves ${field} to its author`, () => {
      const text = `{id: p, goal: g, tasks: [{id: a, tool: mock}, {id: b, tool: mock, ${field}}]}`;
      const problem = checkPipelineText(text).problems.find(({ code }) => code === 'unknown_field');
      expect(problem?.hint).to.match(hint);
      expect(problem?.fix).to.equal(undefined);
    });
  }

  it('says of a precondition of Dagu what it is here', () => {
    const { hint, fix } = problemOf(
      withTask('preconditions: [{condition: "{{a.output.state}}", expected: done}]'),
    );
    expect(hint).to.equal('write when: {value: "{{a.output.state}}", const: done}');
    expect(fix).to.equal(undefined);
  });

  it('says what the maps of Kestra and GitHub Actions for concurrent runs are here', () => {
    const hintOf = (value: string) => problemOf(withField(`concurrency: ${value}`)).hint;
    const here = ', in a file of the folder of a server';
    expect(hintOf('{limit: 2, behavior: QUEUE}')).to.equal(`write max_running: 2 with on_busy: queue${here}`);
    expect(hintOf('{limit: 2, behavior: CANCEL}')).to.equal(`write max_running: 2 with on_busy: skip${here}`);
    expect(hintOf('{group: x, cancel-in-progress: true}')).to.equal(
      `write max_running: 1 with on_busy: cancel_running, and with concurrency_key: "{{params.NAME}}" if each value is to count by itself${here}`,
    );
  });
});
