import { expect } from 'chai';
import { readPointInTime } from '../../../lib/cli/input/times.js';
import { UsageError } from '../../../lib/cli/input/usage-errors.js';

const NOW = Date.parse('2026-03-10T12:34:56.789Z');

describe('A point in time on the command line (D40)', () => {
  const read = (text: string): number | undefined => readPointInTime('--since', text, NOW);

  it('is how long ago, in seconds, minutes, hours, days or weeks', () => {
    expect(read('30s')).to.equal(NOW - 30_000);
    expect(read('90m')).to.equal(NOW - 90 * 60_000);
    expect(read(' 2h ')).to.equal(NOW - 2 * 3_600_000);
    expect(read('3d')).to.equal(NOW - 3 * 86_400_000);
    expect(read('1w')).to.equal(NOW - 7 * 86_400_000);
  });

  it('is a time with its zone, or a date or time of this machine', () => {
    expect(read('2026-01-31T08:00:00Z')).to.equal(Date.UTC(2026, 0, 31, 8));
    expect(read('2026-01-31T08:00+02:00')).to.equal(Date.UTC(2026, 0, 31, 6));
    expect(read('2026-01-31')).to.equal(new Date(2026, 0, 31).getTime());
    expect(read('2026-01-31T08:30')).to.equal(new Date(2026, 0, 31, 8, 30).getTime());
  });

  it('is undefined without the flag', () => {
    expect(readPointInTime('--until', undefined, NOW)).to.equal(undefined);
  });

  it('is refused with examples when it is anything else', () => {
    for (const text of [
      '',
      'yesterday',
      '2 h',
      '-2h',
      '1.5h',
      '2y',
      '2026-02-30',
      '31.01.2026',
      '2026-01-31T25:00',
      '1',
    ]) {
      let thrown: unknown;
      try {
        read(text);
      } catch (error) {
        thrown = error;
      }
      expect(thrown, text).to.be.instanceOf(UsageError);
      expect(String(thrown), text).to.contain(
        `--since must be how long ago, or a date or time, not "${text}"`,
      );
    }
    expect(() => read('soon'))
      .to.throw(UsageError)
      .with.property(
        'hint',
        'for example --since 90m, --since 2h, --since 3d, --since 2026-01-31 or --since 2026-03-10T12:00:00Z',
      );
  });
});
