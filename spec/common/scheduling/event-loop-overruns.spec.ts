import { expect } from 'chai';
import { EventLoopOverruns, measureSteps } from '../../../lib/common/scheduling/event-loop-overruns.js';
import { runToEnd, type AskingSteps } from '../../../lib/common/scheduling/steps.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('EventLoopOverruns (D35)', () => {
  function create(): { overruns: EventLoopOverruns; clock: ManualClock } {
    const clock = new ManualClock();
    return { overruns: new EventLoopOverruns(clock), clock };
  }

  it('counts a stretch that takes longer than 8 ms, and no shorter one', () => {
    const { overruns, clock } = create();
    for (const ms of [1, 8, 9, 30]) overruns.measure('values', () => clock.advance(ms));
    expect(overruns.count('values')).to.equal(2);
    expect(overruns.count('requests')).to.equal(0);
  });

  it('returns the longest stretch since the last call', () => {
    const { overruns, clock } = create();
    for (const ms of [20, 40, 30]) overruns.measure('cache', () => clock.advance(ms));
    expect([overruns.takeLongestMs('cache'), overruns.takeLongestMs('cache')]).to.deep.equal([40, 0]);
    overruns.measure('cache', () => clock.advance(10));
    expect(overruns.takeLongestMs('cache')).to.equal(10);
  });

  it('counts a stretch within another one once, for the inner place', () => {
    const { overruns, clock } = create();
    overruns.measure('tasks', () => {
      clock.advance(5);
      overruns.measure('values', () => clock.advance(50));
      clock.advance(3);
    });
    expect(overruns.count('values')).to.equal(1);
    expect(overruns.count('tasks')).to.equal(0);
  });

  it('counts a stretch that throws', () => {
    const { overruns, clock } = create();
    const fail = (): void => {
      clock.advance(9);
      throw new Error('no');
    };
    expect(() => overruns.measure('metrics', fail)).to.throw('no');
    expect(overruns.count('metrics')).to.equal(1);
  });

  it('measures steps one by one, without the pauses between them, and passes questions and answers through', () => {
    const { overruns, clock } = create();
    function* work(): AskingSteps<string, string, number> {
      clock.advance(5);
      yield;
      clock.advance(20);
      const answer = yield 'how many?';
      clock.advance(5);
      return `${answer} of them`;
    }
    const answered = (question: string): number => {
      clock.advance(1000);
      return question.length;
    };
    expect(runToEnd(measureSteps(work(), 'definitions', overruns), answered)).to.equal('9 of them');
    expect(overruns.count('definitions')).to.equal(1);
    expect(overruns.takeLongestMs('definitions')).to.equal(20);
  });
});
