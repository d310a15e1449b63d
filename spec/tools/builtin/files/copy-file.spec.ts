import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { systemClock } from '../../../../lib/common/clock.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { copyFile } from '../../../../lib/tools/builtin/files/copy-file.js';
import { fileAccess } from '../../../../lib/tools/files/file-access.js';
import { TRANSFER_LIMITS } from '../../../../lib/tools/files/transfer-limits.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { catchToolMessage } from '../../../support/rejection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import type { ToolContext } from '../../../../lib/tools/tool.js';
import { type TestContext, toolContext } from '../../../support/tool-context.js';
import { connectionsOf, S3Server } from '../../files/object-stores/s3-server.js';
import { fetchCaller, loopbackNetwork } from '../../fetching/loopback-server.js';

const { partBytes } = TRANSFER_LIMITS;

describe('copy_file (D92)', () => {
  const folder = useTemporaryFolder();
  let server: S3Server;
  let held: number[];
  let controller: AbortController;

  beforeEach(async () => {
    server = await S3Server.start('in-bucket', 'out-bucket');
    held = [];
    controller = new AbortController();
  });

  afterEach(() => server.close());

  function open(): ToolContext & Pick<TestContext, 'written'> {
    const network = loopbackNetwork();
    const caller = fetchCaller({ clock: systemClock, signal: controller.signal });
    return {
      ...toolContext({
        connections: connectionsOf({ files: server.connection({ buckets: ['in-bucket', 'out-bucket'] }) }),
        files: fileAccess([folder.path], undefined, { writable: { folders: [folder.at('outputs')] } }),
        fetch: (url, options = {}) => network.fetch(url, options, caller),
        holdMemory: (bytes) => void held.push(bytes),
      }),
      signal: controller.signal,
      clock: systemClock,
    };
  }

  async function copy(inputs: Record<string, Json>, context = open()): Promise<JsonObject> {
    const validated = validateInputs(copyFile, inputs);
    if (!validated.ok) throw new Error(validated.errors.join('; '));
    return (await copyFile.run(validated.inputs, context)) as JsonObject;
  }

  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

  it('copies between folders, a store and the files of the run, with the hash of what was copied', async () => {
    const content = Buffer.from('a,b\n1,2\n');
    folder.write('data.csv', content);
    const context = open();
    const up = await copy({ from: 'data.csv', to: 's3://in-bucket/x/data.csv' }, context);
    expect(up).to.include({
      status: 'written',
      path: 's3://in-bucket/x/data.csv',
      size: 8,
      sha256: sha256(content),
    });
    const down = await copy({ from: 's3://in-bucket/x/data.csv', to: 'copy.csv' }, context);
    expect(down).to.include({
      status: 'written',
      path: folder.at('outputs/copy.csv'),
      sha256: sha256(content),
    });
    await copy({ from: 's3://in-bucket/x/data.csv', to: { artifact: 'kept.csv' } }, context);
    expect(context.written[0]).to.deep.equal({ name: 'kept.csv', media_type: 'text/csv', bytes: content });
    await copy({ from: { artifact: 'kept.csv' }, to: 's3://out-bucket/again.csv' }, context);
    await copy({ from: { name: 'kept.csv', path: '/anywhere' }, to: 'again.csv' }, context);
    expect(readFileSync(folder.at('outputs/again.csv'))).to.deep.equal(content);
  });

  it('copies a large file in parts, with the memory of some parts, and is the same at the end', async () => {
    const content = Buffer.alloc(2 * partBytes + 5, 'wavetrain');
    folder.write('large.bin', content);
    await copy({ from: 'large.bin', to: 's3://in-bucket/large.bin' });
    const { sha256: hash } = await copy({ from: 's3://in-bucket/large.bin', to: 'large.bin' });
    expect(hash).to.equal(sha256(content));
    expect(readFileSync(folder.at('outputs/large.bin')).equals(content)).to.equal(true);
    expect(held).to.deep.equal([2 * partBytes, 2 * partBytes]);
  });

  it('lets the store copy what is in it', async () => {
    folder.write('a', 'x');
    await copy({ from: 'a', to: 's3://in-bucket/a' });
    const copied = await copy({ from: 's3://in-bucket/a', to: 's3://out-bucket/b' });
    expect(copied).to.include({ status: 'written', size: 1, sha256: null });
    expect(server.requests.filter((line) => line.startsWith('GET'))).to.deep.equal([]);
  });

  it('replaces, skips or refuses what is there', async () => {
    folder.write('a', 'x');
    for (const to of ['s3://in-bucket/b', 'b']) {
      await copy({ from: 'a', to });
      expect(await copy({ from: 'a', to })).to.include({ status: 'written' });
      expect(await copy({ from: 'a', to, if_exists: 'skip' })).to.include({
        status: 'skipped',
        sha256: null,
      });
      expect(await catchToolMessage(copy({ from: 'a', to, if_exists: 'error' }))).to.contain(
        '"if_exists" is "error"',
      );
    }
    const within = { from: 's3://in-bucket/b', to: 's3://in-bucket/b', if_exists: 'skip' };
    expect(await copy(within)).to.include({ status: 'skipped' });
  });

  it('ends the transfer, and aborts the upload, when the attempt ends', async () => {
    folder.write('large.bin', Buffer.alloc(3 * partBytes));
    server.intercept = (request) => {
      if (request.url?.includes('partNumber=2') === true) controller.abort();
      return false;
    };
    await copy({ from: 'large.bin', to: 's3://in-bucket/large.bin' }).then(
      () => expect.fail('it was copied'),
      () => undefined,
    );
    expect(server.aborted).to.have.length(1);
    expect(server.requests.some((line) => line.includes('partNumber=3'))).to.equal(false);
  });

  it('leaves no file of a download that fails, or whose object changes meanwhile', async () => {
    folder.write('large.bin', Buffer.alloc(partBytes + 1));
    await copy({ from: 'large.bin', to: 's3://in-bucket/large.bin' });
    server.intercept = (request, response) => {
      if (request.headers.range?.startsWith(`bytes=${partBytes}`) !== true) return false;
      response.writeHead(412).end();
      return true;
    };
    await copy({ from: 's3://in-bucket/large.bin', to: 'copy.bin' }).then(
      () => expect.fail('it was copied'),
      (error: unknown) => expect(String(error)).to.contain('was changed while it was read'),
    );
    expect(existsSync(folder.at('outputs/copy.bin'))).to.equal(false);
  });

  it('unpacks nothing: an object that says it is packed is copied as it is', async () => {
    server.intercept = (request, response) => {
      response.writeHead(request.method === 'GET' ? 206 : 200, {
        'content-encoding': 'gzip',
        'content-length': 3,
        etag: '"e"',
      });
      response.end(request.method === 'GET' ? 'abc' : undefined);
      return true;
    };
    await copy({ from: 's3://in-bucket/bomb.gz', to: 'bomb.gz' });
    expect(readFileSync(folder.at('outputs/bomb.gz'), 'utf8')).to.equal('abc');
  });

  it('refuses what is too large before it moves a byte, and a file that grows or is cut meanwhile', async () => {
    server.intercept = (_, response) => {
      response.writeHead(200, { 'content-length': 65 * 2 ** 30, etag: '"e"' }).end();
      return true;
    };
    expect(await catchToolMessage(copy({ from: 's3://in-bucket/huge', to: 'huge' }))).to.contain(
      'the file has 66,560 MiB, and at most 65,536 MiB are copied',
    );
    folder.write('growing', Buffer.alloc(600_000));
    const context = open();
    const grow = {
      ...context,
      holdMemory: () => writeFileSync(folder.at('growing'), Buffer.alloc(700_000)),
    };
    await copy({ from: 'growing', to: 'copy' }, grow).then(
      () => expect.fail('it was copied'),
      (error: unknown) => expect(String(error)).to.contain('the file grew while it was read'),
    );
  });

  for (const [inputs, problem] of [
    [{ from: '../a', to: 'b' }, 'may not climb'],
    [{ from: '/etc/passwd', to: 'b' }, 'outside the allowed folders'],
    [{ from: 'a\0', to: 'b' }, 'NUL'],
    [{ from: 's3://in-bucket/../out-bucket/a', to: 'b' }, 'may not have "." or ".."'],
    [{ from: 's3://in-bucket/a', to: 's3://in-bucket/x/../../other/y' }, 'may not have "." or ".."'],
    [{ from: 's3://in-bucket/a\0', to: 'b' }, 'NUL'],
    [{ from: 's3://IN/a', to: 'b' }, 'the name of a bucket has 3 to 63 small letters'],
    [{ from: 's3://in-bucket@evil.example/a', to: 'b' }, 'the name of a bucket'],
    [{ from: 's3://in-bucket/', to: 'b' }, 'it names no object'],
    [{ from: `s3://in-bucket/${'k'.repeat(1025)}`, to: 'b' }, 'more than 1024 bytes'],
    [
      { from: 's3://elsewhere/a', to: 'b' },
      'is for the buckets in-bucket, out-bucket, and not for "elsewhere"',
    ],
    [{ from: 's3://in-bucket/a', to: 'b', connection: 'other' }, 'there is no connection "other"'],
    [{ from: 's3://in-bucket/nothing', to: 'b' }, 'there is no such object'],
    [{ from: { artifact: 'nothing' }, to: 'b' }, 'the run has no file'],
    [{ from: { x: 1 }, to: 'b' }, 'write {artifact: NAME}'],
  ] as const) {
    it(`refuses ${JSON.stringify(inputs).slice(0, 70)}`, async () => {
      await copy(inputs).then(
        () => expect.fail('it was copied'),
        (error: unknown) => expect(String(error)).to.contain(problem),
      );
    });
  }
});
