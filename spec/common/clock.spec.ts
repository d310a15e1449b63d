import { expect } from 'chai';
import { type HostClock, completeClock, systemClock, Timeline, toIsoTime } from '../../lib/common/clock.js';
import { ManualClock } from '../support/manual-clock.js';

describe('systemClock', () => {
  it('has a monotonic time that never goes back', () => {
    const times = Array.from({ length: 1000 }, () => systemClock.monotonicNow());
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
  });
});

describe('completeClock', () => {
  it('returns a clock with a monotonic time as it is, and the system clock by default', () => {
    const clock = new ManualClock();
    expect(completeClock(clock)).to.equal(clock);
    expect(completeClock()).to.equal(systemClock);
  });

  it("derives the monotonic time of a host's clock without one, and never lets it go back", () => {
    let nowMs = 1000;
    const timers: number[] = [];
    const host: HostClock = {
      now: () => nowMs,
      setTimeout: (_run, delayMs) => timers.push(delayMs),
      clearTimeout: (timer) => void timers.splice(Number(timer) - 1, 1),
    };
    const clock = completeClock(host);
    const monotonicTimes = [1000, 1500, 200, 700, 1600].map((wallMs) => {
      nowMs = wallMs;
      return clock.monotonicNow();
    });
    expect(monotonicTimes).to.deep.equal([1000, 1500, 1500, 1500, 1600]);
    expect(clock.now()).to.equal(1600);
    const timer = clock.setTimeout(() => {}, 20);
    expect(timers).to.deep.equal([20]);
    clock.clearTimeout(timer);
    expect(timers).to.deep.equal([]);
  });
});

describe('Timeline (D27)', () => {
  it('follows the monotonic time from one reading of the wall clock, whichever way that steps', () => {
    const clock = new ManualClock(1000);
    const timeline = new Timeline(clock);
    const times = [0, -2000, 86_400_000].map((stepMs) => {
      clock.stepWall(stepMs);
      clock.advance(5);
      return timeline.now();
    });
    expect(times).to.deep.equal([1005, 1010, 1015]);
    expect(new Timeline(clock).now()).to.equal(clock.now());
  });

  it('has whole milliseconds, as the times of records do', () => {
    let monotonicMs = 0.7;
    const timeline = new Timeline({ ...systemClock, now: () => 1000, monotonicNow: () => monotonicMs });
    const times = [0.7, 1.6, 1.7, 3.2].map((ms) => {
      monotonicMs = ms;
      return timeline.now();
    });
    expect(times).to.deep.equal([1000, 1000, 1001, 1002]);
  });
});

describe('toIsoTime (D27)', () => {
  it('formats each time in UTC with milliseconds, repeated or not', () => {
    expect([0, 0, 1, 0].map(toIsoTime)).to.deep.equal([
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.000Z',
      '1970-01-01T00:00:00.001Z',
      '1970-01-01T00:00:00.000Z',
    ]);
  });
});
