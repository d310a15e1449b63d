import { expect } from 'chai';
import { readOptions } from '../../../lib/execution/prepare/options.js';

describe('readOptions (ExecutionOptions, Limits)', () => {
  it('applies the defaults of the specification', () => {
    expect(readOptions()).to.deep.equal({
      timeoutMs: undefined,
      backoff: { baseMs: 500, maxMs: 4000, jitter: 0 },
      fanOutConcurrency: Number.POSITIVE_INFINITY,
      usesCache: true,
    });
  });

  it('converts seconds to milliseconds', () => {
    const options = {
      per_task_timeout: 1.5,
      retry_base_delay: 0,
      max_retry_delay: 60,
      backoff_jitter: 1,
      fan_out_concurrency: 8,
      cache: false,
    };
    expect(readOptions(options)).to.deep.equal({
      timeoutMs: 1500,
      backoff: { baseMs: 0, maxMs: 60_000, jitter: 1 },
      fanOutConcurrency: 8,
      usesCache: false,
    });
  });

  it('reads texts as durations (D82)', () => {
    const options = { per_task_timeout: '1m30s', retry_base_delay: '0s', max_retry_delay: '250ms' };
    expect(readOptions(options)).to.deep.include({
      timeoutMs: 90_000,
      backoff: { baseMs: 0, maxMs: 250, jitter: 0 },
    });
    expect(() => readOptions({ per_task_timeout: '5x' })).to.throw(
      'per_task_timeout: "5x" is no duration: write seconds, or 30s, 5m, 1h30m, 2d',
    );
  });

  it('shows little of a wrong value or of an unknown name that is long', () => {
    const shared = Array.from({ length: 1000 }, () => 'x'.repeat(100_000));
    const options = { cache: shared, retry_base_delay: 'y'.repeat(100_000), ['z'.repeat(100_000)]: 1 };
    expect(() => readOptions(options as object)).to.throw(
      `cache must be true or false; it is a list; retry_base_delay`,
    );
    let message = '';
    try {
      readOptions(options as object);
    } catch (error) {
      message = String(error);
    }
    expect(message.length).to.be.within(100, 800);
  });

  it('accepts null where the specification does', () => {
    expect(readOptions({ per_task_timeout: null, fan_out_concurrency: null }).timeoutMs).to.equal(undefined);
  });

  const refused: [string, unknown][] = [
    ['per_task_timeout', 0],
    ['cache', 'no'],
    ['cache', null],
    ['per_task_timeout', -1],
    ['per_task_timeout', '5'],
    ['per_task_timeout', '0s'],
    ['retry_base_delay', '5 s'],
    ['backoff_jitter', '1s'],
    ['fan_out_concurrency', '1s'],
    ['per_task_timeout', Number.POSITIVE_INFINITY],
    ['retry_base_delay', -0.1],
    ['retry_base_delay', null],
    ['max_retry_delay', Number.NaN],
    ['backoff_jitter', 1.01],
    ['backoff_jitter', -0.01],
    ['fan_out_concurrency', 0],
    ['fan_out_concurrency', 1.5],
    ['cancel_event', null],
    ['toString', 1],
  ];
  for (const [name, value] of refused) {
    it(`rejects ${name} ${String(value)}`, () => {
      const call = (): unknown => readOptions({ [name]: value });
      expect(call).to.throw().with.property('code', 'invalid_options');
      expect(call).to.throw(name);
    });
  }

  it('reports all problems at once', () => {
    expect(() => readOptions({ backoff_jitter: 2, fan_out_concurrency: 0 })).to.throw(
      /backoff_jitter .*; fan_out_concurrency/,
    );
  });
});
