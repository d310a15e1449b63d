import { expect } from 'chai';
import { SharedWork } from '../../../lib/common/scheduling/concurrency-limiter.js';
import { deferred, settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';

describe('Work that several callers wait for (SharedWork)', () => {
  function begin(): {
    work: SharedWork;
    signal: AbortSignal;
    done: ReturnType<typeof deferred<void>>;
    abandoned: number[];
  } {
    const done = deferred<void>();
    const abandoned: number[] = [];
    let signal = new AbortController().signal;
    const work = new SharedWork(
      (given) => {
        signal = given;
        return done.promise;
      },
      () => abandoned.push(1),
    );
    return { work, signal, done, abandoned };
  }

  it('goes on while somebody waits for it, and resolves for all of them', async () => {
    const { work, signal, done, abandoned } = begin();
    const [one, two] = [new AbortController(), new AbortController()];
    const waits = Promise.all([work.wait(one.signal), work.wait(two.signal), work.wait()]);
    one.abort();
    two.abort();
    expect(signal.aborted).to.equal(false);
    done.resolve();
    await waits;
    expect(abandoned).to.deep.equal([]);
  });

  it('is aborted once when the last caller has gone, also one who had gone before', async () => {
    for (const isEarly of [true, false]) {
      const { work, signal, done, abandoned } = begin();
      const [one, two] = [new AbortController(), new AbortController()];
      if (isEarly) two.abort();
      const waits = [work.wait(one.signal), work.wait(two.signal)].map(catchRejection);
      two.abort();
      expect(signal.aborted).to.equal(false);
      one.abort();
      expect(signal.aborted).to.equal(true);
      done.reject(new Error('it was aborted'));
      expect((await Promise.all(waits)).map(String)).to.deep.equal(Array(2).fill('Error: it was aborted'));
      expect(abandoned).to.have.length(1);
    }
  });

  it('warns of nothing when it fails and nobody waits', async () => {
    const { done } = begin();
    done.reject(new Error('no luck'));
    await settle();
  });
});
