import { expect } from 'chai';
import { systemClock } from '../../../../lib/common/clock.js';
import { errorMessage } from '../../../../lib/common/errors.js';
import type { ObjectStoreConnection } from '../../../../lib/tools/connections/connection.js';
import { ObjectStore } from '../../../../lib/tools/files/object-stores/object-store.js';
import { uploadObject } from '../../../../lib/tools/files/object-stores/upload.js';
import { TRANSFER_LIMITS } from '../../../../lib/tools/files/transfer-limits.js';
import { networkAccess } from '../../../../lib/tools/fetching/network.js';
import { S3Server } from './s3-server.js';
import { catchRejection, catchToolMessage } from '../../../support/rejection.js';
import { fetchCaller, loopbackNetwork } from '../../fetching/loopback-server.js';

const { partBytes } = TRANSFER_LIMITS;

const content = (...sizes: readonly number[]) => ({
  size: sizes.reduce((sum, size) => sum + size, 0),
  pieces: pieces(...sizes),
});

async function* pieces(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const [i, size] of sizes.entries()) yield Buffer.alloc(size, 97 + i);
}

describe('ObjectStore (D92)', () => {
  let server: S3Server;
  let controller: AbortController;

  beforeEach(async () => {
    server = await S3Server.start('bucket', 'other');
    controller = new AbortController();
  });

  afterEach(() => server.close());

  function open(changes: Partial<ObjectStoreConnection> = {}, network = loopbackNetwork()): ObjectStore {
    const { signal } = controller;
    const caller = fetchCaller({ clock: systemClock, signal });
    return new ObjectStore(server.connection(changes), {
      fetch: (url, options = {}) => network.fetch(url, options, caller),
      clock: systemClock,
      signal,
      tenant_id: 'tenant',
    });
  }

  const name = (key: string, bucket = 'bucket') => ({ bucket, key });
  const PLAIN = { contentType: 'text/plain' };

  for (const key of [
    'a b+c.txt',
    "d/(é)*!'.txt",
    'percent %2e%2e/%.txt',
    'back\\slash',
    'q?x=1&y=2#z',
    '~._-/日本',
  ]) {
    it(`writes, finds, reads and lists an object with the key ${key}, signed`, async () => {
      const store = open();
      const etag = await store.put(name(key), Buffer.from('content'), PLAIN);
      expect(await store.find(name(key))).to.deep.include({ size: 7, etag, contentType: 'text/plain' });
      expect((await store.readPart(name(key), 2, 3, etag)).toString()).to.equal('nte');
      // S3rver escapes these signs of XML twice.
      if (/[&']/.test(key)) return;
      const { objects } = await store.list('bucket', { prefix: key.slice(0, 1), byFolder: false });
      expect(objects.map((each) => [each.key, each.size])).to.deep.equal([[key, 7]]);
    });
  }

  it('lists folders, and pages', async () => {
    const store = open();
    for (const key of ['a/1', 'a/2', 'b']) await store.put(name(key), Buffer.from('x'), PLAIN);
    const page = await store.list('bucket', { prefix: '', byFolder: true });
    expect(page.folders).to.deep.equal(['a/']);
    expect(page.objects.map(({ key }) => key)).to.deep.equal(['b']);
    expect(page.next).to.equal(undefined);
  });

  it('says in words why a store refuses, and shows no key', async () => {
    const wrong = open({ secretAccessKey: 'another secret' });
    expect(await catchToolMessage(wrong.put(name('a'), Buffer.from('x'), PLAIN))).to.equal(
      'the object store refused PUT s3://bucket/a: 403 SignatureDoesNotMatch: the secret_access_key of the connection is wrong',
    );
    const unknown = open({ accessKeyId: 'unknown' });
    expect(await catchToolMessage(unknown.list('bucket', { prefix: '', byFolder: false }))).to.contain(
      'the store does not know the access_key_id',
    );
    expect(await catchToolMessage(open().list('nothing', { prefix: '', byFolder: false }))).to.contain(
      'there is no such bucket',
    );
    expect(await open().find(name('nothing'))).to.equal(undefined);
  });

  it('refuses to reach a private address unless the network allows it (D51)', async () => {
    expect(await catchToolMessage(open({}, networkAccess()).find(name('a')))).to.contain(
      'a private or reserved address, which tools may not reach',
    );
  });

  it('follows no redirect, and tries again what is refused for now', async () => {
    server.intercept = (_, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
      return true;
    };
    expect(await catchToolMessage(open().find(name('a')))).to.contain('the bucket is at another address');
    expect(server.requests).to.have.length(1);
    let refusals = 0;
    server.intercept = (_, response) => {
      if (refusals++ > 0) return false;
      response.writeHead(503).end();
      return true;
    };
    expect(await open().put(name('a'), Buffer.from('x'), PLAIN)).to.match(/^"/);
  });

  it('refuses an object that has changed since it was found', async () => {
    const store = open();
    const etag = await store.put(name('a'), Buffer.from('before'), PLAIN);
    await store.put(name('a'), Buffer.from('after!'), PLAIN);
    expect(errorMessage(await catchRejection(store.readPart(name('a'), 0, 6, etag)))).to.equal(
      's3://bucket/a was changed while it was read',
    );
  });

  it('copies within the store', async () => {
    const store = open();
    await store.put(name('a b'), Buffer.from('x'), PLAIN);
    await store.copy(name('a b'), name('c', 'other'), false);
    expect(await store.find(name('c', 'other'))).to.include({ size: 1 });
  });

  describe('uploadObject', () => {
    it('writes what fits into a part in one request, nothing too', async () => {
      expect(await uploadObject(open(), name('small'), content(3, 4), PLAIN)).to.include({ size: 7 });
      expect(await uploadObject(open(), name('none'), content(), PLAIN)).to.include({ size: 0 });
      expect(server.requests).to.deep.equal(['PUT /bucket/small', 'PUT /bucket/none']);
    });

    it('writes more in parts of one size, whatever the sizes of the pieces', async () => {
      const store = open();
      const written = await uploadObject(store, name('big'), content(3, partBytes + 1, partBytes, 5), PLAIN);
      expect(written.size).to.equal(2 * partBytes + 9);
      const found = await store.find(name('big'));
      expect(found).to.include({ size: 2 * partBytes + 9 });
      expect((await store.readPart(name('big'), 2 * partBytes, 9, found?.etag ?? '')).toString()).to.equal(
        'ccccddddd',
      );
      expect(server.requests.filter((line) => line.includes('partNumber'))).to.have.length(3);
      expect(server.aborted).to.have.length(0);
    });

    it('aborts the upload when the pieces fail, and when the attempt ends, although it is over', async () => {
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield* pieces(partBytes, partBytes);
        throw new Error('the source is gone');
      }
      const failure = await catchRejection(
        uploadObject(open(), name('big'), { size: 3 * partBytes, pieces: failing() }, PLAIN),
      );
      expect(errorMessage(failure)).to.equal('the source is gone');
      expect(server.aborted).to.have.length(1);
      async function* ending(): AsyncGenerator<Uint8Array> {
        yield* pieces(partBytes, partBytes);
        controller.abort();
        yield Buffer.alloc(partBytes);
      }
      await uploadObject(open(), name('big'), { size: 3 * partBytes, pieces: ending() }, PLAIN).then(
        () => expect.fail('it was written'),
        () => undefined,
      );
      expect(server.aborted).to.have.length(2);
      controller = new AbortController();
      expect(await open().find(name('big'))).to.equal(undefined);
    });
  });
});
