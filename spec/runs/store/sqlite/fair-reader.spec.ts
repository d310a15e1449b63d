import { expect } from 'chai';
import { FairReader } from '../../../../lib/runs/store/sqlite/thread-client.js';
import type { StoreRequest } from '../../../../lib/runs/store/sqlite/thread/store-thread.js';
import { deferred, settle } from '../../../support/deferred.js';
import { catchRejection } from '../../../support/rejection.js';

/** A thread that answers a request with its id of a run when the spec lets it. */
class FakeThread {
  readonly opened = Promise.resolve();
  readonly asked: { readonly runId: string; readonly answer: ReturnType<typeof deferred<string>> }[] = [];
  hasEnded = false;

  ask(request: StoreRequest): Promise<unknown> {
    const runId = request.kind === 'head' ? request.runId : request.kind;
    const answer = deferred<string>();
    this.asked.push({ runId, answer });
    return answer.promise;
  }

  async close(): Promise<void> {
    this.hasEnded = true;
  }
}

describe('The thread that reads settled runs (D74)', () => {
  const head = (runId: string) => ({ kind: 'head', runId }) as const;

  it('is shared by tenants in turn: one with many requests delays another by one of them', async () => {
    const thread = new FakeThread();
    const reader = new FairReader(() => thread);
    const reads = ['a1', 'a2', 'a3', 'b1'].map((id) => reader.read(head(id), id.charAt(0)));
    for (let count = 1; count <= 4; count++) {
      await settle();
      expect(thread.asked).to.have.length(count);
      thread.asked[count - 1]?.answer.resolve('answered');
    }
    await Promise.all(reads);
    expect(thread.asked.map(({ runId }) => runId)).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
  });

  it('is followed by another one when it has ended: only the request at hand fails', async () => {
    const threads: FakeThread[] = [];
    const reader = new FairReader(() => {
      const thread = new FakeThread();
      threads.push(thread);
      return thread;
    });
    const failed = catchRejection(reader.read(head('first'), 'a'));
    const next = reader.read(head('second'), 'a');
    await settle();
    const [first] = threads;
    if (first !== undefined) first.hasEnded = true;
    first?.asked[0]?.answer.reject(new Error('its thread has ended'));
    expect(await failed).to.have.property('message', 'its thread has ended');
    await settle();
    expect(threads).to.have.length(2);
    threads[1]?.asked[0]?.answer.resolve('found');
    expect(await next).to.equal('found');
  });
});
