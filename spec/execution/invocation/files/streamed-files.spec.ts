import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MemoryPool } from '../../../../lib/common/memory/memory-pool.js';
import { ArtifactStore } from '../../../../lib/execution/invocation/files/artifact-store.js';
import { StagedFiles } from '../../../../lib/execution/invocation/files/staged-files.js';
import { MemoryBudget } from '../../../../lib/execution/memory-budget.js';
import type { WrittenArtifact } from '../../../../lib/tools/files/artifacts.js';
import { deferred, settle, settleUntil } from '../../../support/deferred.js';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

const MIB = 2 ** 20;
const PIECE = Buffer.alloc(MIB, 'x');

async function* pieces(count: number, onReturn: () => void = () => undefined): AsyncGenerator<Uint8Array> {
  try {
    for (let made = 0; made < count; made++) yield PIECE;
  } finally {
    onReturn();
  }
}

describe('A file that is written piece by piece (D92)', () => {
  const temporary = new TemporaryFolder();
  let disk: MemoryPool;
  let budget: MemoryBudget;
  let store: ArtifactStore;
  let stores = 0;

  beforeEach(() => {
    disk = new MemoryPool({ total: 100 * MIB });
    budget = new MemoryBudget(10 * MIB, undefined, 'acme', disk);
    store = new ArtifactStore(join(temporary.path, `store-${++stores}`), false);
  });
  afterEach(() => store.close());
  after(() => temporary.remove());

  const begin = (): StagedFiles =>
    new StagedFiles(store.open('run', budget), { item: undefined, number: 1 }, { task_id: 't' }, undefined);

  const write = (files: StagedFiles, bytes: AsyncIterable<Uint8Array>): Promise<WrittenArtifact> =>
    files.write({ name: 'a.bin', bytes, media_type: 'text/plain' });

  it('takes disk and no memory when it is larger than other files may be, until the run is forgotten', async () => {
    const files = begin();
    const { path, size } = await write(files, pieces(70));
    await files.publish([]);
    expect([size, budget.usedBytes, disk.usedBytes]).to.deep.equal([70 * MIB, 0, 70 * MIB]);
    expect(readFileSync(path).length).to.equal(70 * MIB);
    budget.close();
    expect(disk.usedBytes).to.equal(0);
  });

  it('takes memory as other files do when it is as small', async () => {
    const files = begin();
    await write(files, pieces(3));
    expect([budget.usedBytes, disk.usedBytes]).to.deep.equal([3 * MIB, 0]);
    const error = await catchRejection(write(files, pieces(8)));
    expect(String(error)).to.include('the run takes more memory than the limit of 10 MiB');
    expect([budget.usedBytes, disk.usedBytes]).to.deep.equal([3 * MIB, 0]);
    files.discard();
  });

  it('ends when the disk of all runs is used up, and gives back what it took', async () => {
    let hasReturned = false;
    const files = begin();
    const endless = pieces(Number.POSITIVE_INFINITY, () => (hasReturned = true));
    const error = await catchRejection(write(files, endless));
    expect(String(error)).to.match(
      /large files of all runs together may take 100 MiB.*SERVICE_ARTIFACT_BYTES/,
    );
    expect(error).to.have.property('retryable', false);
    await settle();
    expect([hasReturned, disk.usedBytes, budget.usedBytes]).to.deep.equal([true, 0, 0]);
    expect((await write(files, pieces(1))).name).to.equal('a.bin');
  });

  it('is removed at once when the attempt ends, also when its next piece never comes', async () => {
    const files = begin();
    async function* stuck(): AsyncGenerator<Uint8Array> {
      yield PIECE;
      await deferred<void>().promise;
    }
    const written = catchRejection(write(files, stuck()));
    await settleUntil(() => disk.usedBytes === MIB);
    files.discard();
    expect(String(await written)).to.include('the file was not written: the attempt is over');
    await settleUntil(() => disk.usedBytes === 0);
    const folder = dirname(store.open('run', budget).pathOfBytes('a'));
    await settleUntil(() => !existsSync(folder) || readdirSync(folder).length === 0);
  });

  it('is refused when its pieces are no bytes, and when they cannot be made', async () => {
    const files = begin();
    async function* texts(): AsyncGenerator<Uint8Array> {
      yield JSON.parse('"text"');
    }
    expect(String(await catchRejection(write(files, texts())))).to.include('must be bytes, not a string');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield PIECE;
      throw new Error('the connection was lost');
    }
    expect(String(await catchRejection(write(files, broken())))).to.include('the connection was lost');
    expect([disk.usedBytes, budget.usedBytes]).to.deep.equal([0, 0]);
  });

  it('counts for a rerun that reuses it when the earlier run is forgotten', async () => {
    const files = begin();
    await write(files, pieces(70));
    await files.publish([]);
    const rerun = new MemoryBudget(10 * MIB, undefined, 'acme', disk);
    store.reuse('run', 'rerun', rerun);
    budget.close();
    store.forget('run');
    expect(disk.usedBytes).to.equal(70 * MIB);
    rerun.close();
    expect(disk.usedBytes).to.equal(0);
  });
});
