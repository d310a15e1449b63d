import { expect } from 'chai';
import { onlyProblem, checkTaskList } from '../../support/definitions/check-pipeline.js';

const LIST = '- {id: l, tool: transform, inputs: {input: null, expression: "[1]"}}';
const FAN_OUT = 'tool: mock, parallel_over: "{{l.output}}", inputs: {x: "{{item}}"}';

function check(fields: string) {
  return checkTaskList(`${LIST}\n- {id: t, ${fields}}`);
}

describe('Fields of a task that depend on each other (D9, D66, D67)', () => {
  for (const [field, needed] of [
    ['retry_delay: 2', 'retry'],
    ['max_retry_delay: 2', 'retry'],
    ['fan_out_concurrency: 2', 'parallel_over'],
    ['on_item_error: collect', 'parallel_over'],
    ['on_item_error: fail', 'parallel_over'],
  ] as const) {
    it(`cause a warning for ${field} without ${needed}`, () => {
      const result = check(`tool: mock, ${field}`);
      const [name] = field.split(':');
      expect(result.ok).to.equal(true);
      expect(onlyProblem(result)).to.deep.include({
        code: 'no_effect',
        severity: 'warning',
        message: `"${name}" has no effect without "${needed}"`,
        path: `/pipeline/tasks/1/${name}`,
      });
    });
  }

  it('cause a warning when the first delay is longer than the longest', () => {
    const result = check('tool: mock, retry: 2, retry_delay: 5, max_retry_delay: 3');
    expect(onlyProblem(result)).to.deep.include({
      code: 'no_effect',
      severity: 'warning',
      message: '"retry_delay" is longer than "max_retry_delay": every retry waits 3 s',
      path: '/pipeline/tasks/1/retry_delay',
    });
  });

  it('cause a warning for more retries than may ask a language model', () => {
    const inputs = 'inputs: {prompt: x, model: mock/echo}';
    expect(check(`tool: llm_job, retry: 99, ${inputs}`).problems).to.deep.equal([]);
    expect(check('tool: mock, retry: 1000').problems).to.deep.equal([]);
    expect(onlyProblem(check(`tool: llm_job, retry: 100, ${inputs}`))).to.deep.include({
      code: 'no_effect',
      severity: 'warning',
      message: '"retry" has no effect beyond 99 for a task that asks a language model',
      path: '/pipeline/tasks/1/retry',
      hint: 'write retry: 99, or less',
    });
  });

  it('of texts are compared as durations are, and named as they were written (D82)', () => {
    expect(onlyProblem(check('tool: mock, retry: 2, retry_delay: 90, max_retry_delay: 1m'))).to.deep.include({
      code: 'no_effect',
      message: '"retry_delay" is longer than "max_retry_delay": every retry waits 1m',
      hint: 'write max_retry_delay: 90, or more',
    });
  });

  it('cause no warning when all have an effect, when retries are switched off, or when there is nothing behind them (D53)', () => {
    for (const fields of [
      `${FAN_OUT}, retry: 2, retry_delay: 0.5, max_retry_delay: 3, fan_out_concurrency: 2, on_item_error: collect`,
      'tool: mock, retry: 0, retry_delay: 2',
      'tool: mock, retry: 2, retry_delay: 1m, max_retry_delay: 60, timeout: 1h30m, cache: {ttl: 2d}',
      'tool: mock, retry: 2, retry_delay: 2, max_retry_delay: 2',
      'tool: mock, retry_delay: null, max_retry_delay: null, fan_out_concurrency: null, on_item_error: null',
    ]) {
      const { ok, problems } = check(fields);
      expect({ ok, problems }, fields).to.deep.equal({ ok: true, problems: [] });
    }
  });

  for (const [field, message, hint] of [
    ['retry_delay: -1', '"retry_delay" must be >= 0', undefined],
    ['retry_delay: true', '"retry_delay" must be a duration, not true', undefined],
    [
      'max_retry_delay: 5 sec',
      '"5 sec" is no duration: write seconds, or 30s, 5m, 1h30m, 2d',
      'write max_retry_delay: 5',
    ],
    ['timeout: 5x', '"5x" is no duration: write seconds, or 30s, 5m, 1h30m, 2d', undefined],
    ['timeout: 0m', '"timeout" must be > 0', undefined],
    ['cache: {ttl: 0s}', '"ttl" must be > 0', undefined],
    ['fan_out_concurrency: 0', '"fan_out_concurrency" must be >= 1', undefined],
    [
      'fan_out_concurrency: "{{l.output}}"',
      '"fan_out_concurrency" must be a whole number, not text',
      'a template cannot stand here: write a number',
    ],
    ['on_item_error: colect', '"on_item_error" must be one of fail, collect', 'did you mean "collect"?'],
    ['on_item_error: 5', '"on_item_error" must be one of fail, collect', undefined],
  ] as const) {
    it(`are refused with the reason: ${field}`, () => {
      const result = check(`${FAN_OUT}, retry: 1, ${field}`);
      expect(result.ok).to.equal(false);
      const problem = onlyProblem(result);
      expect({ message: problem.message, hint: problem.hint }).to.deep.equal({ message, hint });
    });
  }
});
