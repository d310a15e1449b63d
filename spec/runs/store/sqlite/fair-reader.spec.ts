import { expect } from 'chai';
import { DocumentReader } from '../../../../lib/runs/store/sqlite/document-reader.js';
import { FairReader } from '../../../../lib/runs/store/sqlite/thread-client.js';
import type { StoreRequest } from '../../../../lib/runs/store/sqlite/thread/store-thread.js';
import { type Deferred, deferred, settle } from '../../../support/deferred.js';
import { catchRejection } from '../../../support/rejection.js';

/** A thread that answers a request with its id of a run when the spec lets it. */
class FakeThread {
  readonly opened = Promise.resolve();
  readonly asked: { readonly kind: string; readonly runId: string; readonly answer: Deferred<unknown> }[] =
    [];
  hasEnded = false;

  ask(request: StoreRequest): Promise<unknown> {
    const runId = 'runId' in request ? request.runId : request.kind;
    const answer = deferred<unknown>();
    this.asked.push({ kind: request.kind, runId, answer });
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

  it('reads the documents of runs for tenants in turn: another waits for few chunks, however many runs one opens', async () => {
    const thread = new FakeThread();
    const documents = new DocumentReader(new FairReader(() => thread));
    const reads = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((id) => documents.facts(id, { tenantId: 'a' }));
    const chunks: string[] = [];
    for (let at = 0; chunks.length < 7; at++) {
      await settle();
      const { kind, runId = '', answer } = thread.asked[at] ?? {};
      if (kind === 'chunk' && chunks.push(runId) === 1) {
        // The other tenant comes while a chunk of the first run is being read.
        reads.push(documents.facts('b1', { tenantId: 'b' }));
        await settle();
      }
      const chunk = { texts: ['{}\n[]\n'], next: undefined, definition: undefined, isStale: false };
      answer?.resolve(kind === 'head' ? { tenantId: runId.charAt(0) } : chunk);
    }
    expect(await Promise.all(reads)).to.deep.equal([[], [], [], [], [], [], []]);
    // The chunk at hand, and one of `a` before its turn.
    expect(chunks.indexOf('b1')).to.be.at.most(2);
  });

  it('ends the reading of a run at the first chunk for which there is no memory, before that is parsed', async () => {
    const thread = new FakeThread();
    const documents = new DocumentReader(new FairReader(() => thread));
    const taken: number[] = [];
    const read = catchRejection(
      documents.facts('a1', {
        take: (bytes) => {
          taken.push(bytes);
          if (taken.length === 2) throw new Error('no memory');
        },
      }),
    );
    const next = { part: 1, parts: 9, n: 0 };
    for (let at = 0; at < 3; at++) {
      await settle();
      const { kind, answer } = thread.asked[at] ?? {};
      const texts = [at === 1 ? '{}\n[]\n' : 'this is no JSON\n'];
      answer?.resolve(
        kind === 'head' ? { tenantId: 'a' } : { texts, next, definition: undefined, isStale: false },
      );
    }
    expect(await read).to.have.property('message', 'no memory');
    await settle();
    expect(taken).to.deep.equal([6, 16]);
    expect(thread.asked).to.have.length(3);
  });

  it('refuses no request of the server itself', async () => {
    const thread = new FakeThread();
    const reader = new FairReader(() => thread);
    const waiting = Array.from({ length: 1100 }, () => reader.read(head('x'), ''));
    for (let count = 0; count < waiting.length; count++) {
      await settle(1);
      thread.asked[count]?.answer.resolve('answered');
    }
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set(['answered']));
  });

  it('refuses no documents of a tenant that has too many other requests', async () => {
    const thread = new FakeThread();
    const reader = new FairReader(() => thread);
    const waiting = Array.from({ length: 1001 }, () => reader.read(head('a1'), 'a'));
    expect(await catchRejection(reader.read(head('a2'), 'a'))).to.have.property('code', 'queue_full');
    waiting.push(reader.read({ kind: 'chunk', runId: 'a3', cursor: undefined, only: undefined }, 'a'));
    for (let count = 1; count <= waiting.length; count++) {
      await settle(1);
      thread.asked[count - 1]?.answer.resolve('answered');
    }
    await Promise.all(waiting);
    expect(thread.asked.at(-1)?.runId).to.equal('a3');
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
