import { expect } from 'chai';
import { Readable } from 'node:stream';
import { type BodyOptions, readBody } from '../../../lib/tools/fetching/response-body.js';
import { deferred } from '../../support/deferred.js';

describe('readBody', () => {
  const ignore = (): void => undefined;
  const parts = (count: number): Readable => Readable.from(Array(count).fill(Buffer.alloc(40_000, 'x')));
  const read = (count: number, pause: BodyOptions['pause']): Promise<Buffer> =>
    readBody(parts(count), undefined, { maxBytes: 10 ** 6, onArrived: ignore, onKept: ignore, pause });

  it('waits for its slice of the event loop before it joins the parts of a long body, not of a short one', async () => {
    const slice = deferred<void>();
    let pauses = 0;
    const pause = (): Promise<void> => {
      pauses++;
      return slice.promise;
    };
    expect((await read(1, pause)).length).to.equal(40_000);
    expect(pauses).to.equal(0);
    let isRead = false;
    const reading = read(2, pause).finally(() => (isRead = true));
    while (pauses === 0) await new Promise(setImmediate);
    expect(isRead).to.equal(false);
    slice.resolve(undefined);
    expect((await reading).length).to.equal(80_000);
  });
});
