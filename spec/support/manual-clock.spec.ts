import { expect } from 'chai';
import { ManualClock } from './manual-clock.js';

describe('ManualClock', () => {
  it('does not advance by itself', () => {
    const clock = new ManualClock(1000);
    clock.setTimeout(() => {}, 0);
    expect([clock.now(), clock.pending]).to.deep.equal([1000, 1]);
    clock.advance(5);
    expect([clock.now(), clock.pending]).to.deep.equal([1005, 0]);
  });

  it('steps its wall clock either way without passing time', () => {
    const clock = new ManualClock(1000);
    clock.setTimeout(() => {}, 10);
    clock.advance(3);
    clock.stepWall(-500);
    expect([clock.now(), clock.monotonicNow(), clock.pending]).to.deep.equal([503, 3, 1]);
    clock.stepWall(10_000);
    clock.advance(4);
    expect([clock.now(), clock.monotonicNow(), clock.pending]).to.deep.equal([10_507, 7, 1]);
  });

  it('fires timers in the order of their times, then of their creation', () => {
    const clock = new ManualClock(0);
    const fired: string[] = [];
    for (const [name, delayMs] of [
      ['c', 20],
      ['a', 10],
      ['d', 20],
      ['b', 10],
      ['late', 31],
    ] as const) {
      clock.setTimeout(() => fired.push(`${name}@${clock.now()}`), delayMs);
    }
    clock.advance(30);
    expect(fired).to.deep.equal(['a@10', 'b@10', 'c@20', 'd@20']);
    expect(clock.pending).to.equal(1);
  });

  it('fires a timer that another timer sets within the same advance', () => {
    const clock = new ManualClock(0);
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.now());
      clock.setTimeout(again, 10);
    };
    clock.setTimeout(again, 10);
    clock.advance(35);
    expect(fired).to.deep.equal([10, 20, 30]);
  });

  it('never fires a cleared timer, and removes it once', () => {
    const clock = new ManualClock(0);
    const fired: string[] = [];
    const first = clock.setTimeout(() => fired.push('first'), 10);
    clock.setTimeout(() => fired.push('second'), 10);
    clock.clearTimeout(first);
    clock.clearTimeout(first);
    clock.clearTimeout(undefined);
    expect(clock.pending).to.equal(1);
    clock.advance(10);
    expect(fired).to.deep.equal(['second']);
  });
});
