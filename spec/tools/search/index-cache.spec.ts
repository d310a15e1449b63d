import { expect } from 'chai';
import type { Json, JsonObject } from '../../../lib/common/json.js';
import { IndexCache } from '../../../lib/tools/search/index-cache.js';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { PauseCounter, toolContext } from '../../support/tool-context.js';

function toDocument(...texts: string[]): JsonObject {
  const pages: Json[] = texts.map((text, i) => ({ number: i + 1, text, sheet_name: null, metadata: {} }));
  return { source: 's', format: 'text', pages };
}

/** Its index is made in many steps, with pauses. */
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

  it('drops the index that was used longest ago when the texts of all are over the limit', async () => {
    const cache = new IndexCache(3000);
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
    expect(cache.length).to.be.at.most(3000);
    expect(await cache.get(a, 'page', context)).to.equal(first);
    expect(await cache.get(b, 'page', context)).not.to.equal(second);
  });

  it('pauses the time limit of those that wait until their index begins to be made (rule 13)', async () => {
    const cache = new IndexCache();
    const ask = (document: JsonObject): { pauses: PauseCounter; found: Promise<unknown> } => {
      const pauses = new PauseCounter();
      const { pauseTimeout } = pauses;
      return { pauses, found: cache.get(document, 'page', { ...toolContext(), pauseTimeout }) };
    };
    const [first, second] = [ask(LONG), ask(LONG)];
    await settle(1);
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
    expect((await cache.get(document, 'page', context)).search('b', 1)).to.have.length(1);
  });

  it('does not keep an index that its run has forgotten while it was made, and forgets no newer one for it', async () => {
    const cache = new IndexCache(1.5 * LENGTH);
    const context = toolContext();
    const forgotten = cache.get(LONG, 'page', context);
    for (const indexes of context.memory.values()) (indexes as Map<unknown, unknown>).clear();
    const newer = cache.get(LONG, 'page', context);
    await forgotten;
    expect(cache.length).to.equal(0);
    expect(await cache.get(LONG, 'page', context)).to.equal(await newer);
    expect(await cache.get(LONG, 'page', context)).to.equal(await newer);
  });
});
