import { expect } from 'chai';
import { ToolError } from '../../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { runToEnd } from '../../../../lib/common/scheduling/steps.js';
import { IndexCache } from '../../../../lib/tools/builtin/select/index-cache.js';
import { nextTurn } from '../../../../lib/common/scheduling/turns.js';
import { shortenSlices } from '../../../support/slices.js';
import { catchRejection } from '../../../support/rejection.js';
import { PauseCounter, toolContext } from '../../../support/tool-context.js';

function toDocument(...texts: string[]): JsonObject {
  const pages: Json[] = texts.map((text, i) => ({ number: i + 1, text, sheet_name: null, metadata: {} }));
  return { source: 's', format: 'text', pages };
}

/** The index of the long document is made in many steps, with pauses. */
const LENGTH = 1_000_000;
const LONG = toDocument('word '.repeat(LENGTH / 5));

describe('IndexCache', () => {
  it('makes the index of a document once in a run, also for those that ask at the same time', async () => {
    const cache = new IndexCache();
    const context = toolContext();
    const document = toDocument('a', 'b');
    const [first, second] = await Promise.all([
      cache.get(document, 'page', context),
      cache.get(document, 'page', context),
    ]);
    expect(first).to.equal(second);
    expect(await cache.get(document, 'page', context)).to.equal(first);
    expect(await cache.get(document, 'chunk', context)).not.to.equal(first);
    expect(await cache.get(document, 'page', toolContext())).not.to.equal(first);
  });

  it('drops the index that was used longest ago when all together take more memory than the limit', async () => {
    const cache = new IndexCache(10_000);
    const context = toolContext();
    const [a, b, c] = [
      toDocument('a'.repeat(1000)),
      toDocument('b'.repeat(1000)),
      toDocument('c'.repeat(1000)),
    ];
    const first = await cache.get(a, 'page', context);
    const second = await cache.get(b, 'page', context);
    expect(await cache.get(a, 'page', context)).to.equal(first);
    await cache.get(c, 'page', context);
    expect(cache.bytes).to.be.within(8000, 10_000);
    expect(await cache.get(a, 'page', context)).to.equal(first);
    expect(await cache.get(b, 'page', context)).not.to.equal(second);
  });

  it('pauses the time limit of those that wait until their index begins to be made (rule 13)', async () => {
    shortenSlices();
    const cache = new IndexCache();
    const ask = (document: JsonObject): { pauses: PauseCounter; found: Promise<unknown> } => {
      const pauses = new PauseCounter();
      const { pauseTimeout } = pauses;
      return { pauses, found: cache.get(document, 'page', { ...toolContext(), pauseTimeout }) };
    };
    const [first, second] = [ask(LONG), ask(LONG)];
    await nextTurn();
    expect(first.pauses).to.include({ open: 0 });
    expect(second.pauses).to.include({ begun: 1, open: 1 });
    await Promise.all([first.found, second.found]);
    expect(second.pauses).to.include({ begun: 1, open: 0 });
  });

  it('forgets an index that could not be made, so that the next query makes it again', async () => {
    const cache = new IndexCache();
    const context = toolContext();
    let isBroken = true;
    const page = {
      number: 1,
      text: 'b',
      get metadata(): JsonObject {
        if (isBroken) throw new Error('lost');
        return {};
      },
    };
    const document: JsonObject = { source: 's', pages: [page] };
    expect(await catchRejection(cache.get(document, 'page', context))).to.have.property('message', 'lost');
    isBroken = false;
    const index = await cache.get(document, 'page', context);
    expect(runToEnd(index.search('b', 1))).to.have.length(1);
  });

  it('counts what it makes as memory of the run of the attempt that asked first, and fails when there is none', async () => {
    const cache = new IndexCache();
    let heldBytes = 0;
    const holdMemory = (bytes: number): void => {
      heldBytes += bytes;
      if (heldBytes > 3 * LENGTH) throw new ToolError('no memory left');
    };
    await cache.get(LONG, 'page', toolContext({ holdMemory }));
    expect(heldBytes).to.be.above(2 * LENGTH);
    const error = await catchRejection(cache.get(LONG, 'page', toolContext({ holdMemory })));
    expect(error).to.have.property('message', 'no memory left');
  });

  it('stops when the attempt that asked first ends, and makes the index for the next one that waits', async () => {
    shortenSlices();
    const cache = new IndexCache();
    const first = toolContext();
    const [stopped, second, third] = [
      catchRejection(cache.get(LONG, 'page', first)),
      cache.get(LONG, 'page', toolContext({ memory: first.memory })),
      cache.get(LONG, 'page', toolContext({ memory: first.memory })),
    ];
    await nextTurn();
    first.abort();
    expect(await stopped).to.be.instanceOf(ToolError);
    expect(await second).to.equal(await third);
  });

  it('does not keep an index that its run has forgotten while it was made, and forgets no newer one for it', async () => {
    const cache = new IndexCache(3 * LENGTH);
    const context = toolContext();
    const forgotten = cache.get(LONG, 'page', context);
    for (const indexes of context.memory.values()) (indexes as Map<unknown, unknown>).clear();
    const newer = cache.get(LONG, 'page', context);
    await forgotten;
    expect(cache.bytes).to.equal(0);
    expect(await cache.get(LONG, 'page', context)).to.equal(await newer);
    expect(await cache.get(LONG, 'page', context)).to.equal(await newer);
  });
});
