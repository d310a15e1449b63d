import { expect } from 'chai';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type ArtifactFolder,
  ArtifactStore,
} from '../../../../lib/execution/invocation/files/artifact-store.js';
import { StagedFiles } from '../../../../lib/execution/invocation/files/staged-files.js';
import { MemoryBudget } from '../../../../lib/execution/memory-budget.js';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

/**
 * Does work while a function of `node:fs/promises` fails as on a full disk: it does a part of what it should, and then
 * rejects with the code.
 */
async function withFailing<T>(
  name: 'rename' | 'writeFile',
  code: string,
  work: () => Promise<T>,
): Promise<T> {
  const original = fs[name];
  const fail = async (...given: unknown[]): Promise<never> => {
    if (name === 'writeFile')
      await (original as typeof fs.writeFile)(given[0] as string, 'half', given[2] as object);
    throw Object.assign(new Error(`${code}: it failed, ${name}`), { code });
  };
  Object.assign(fs, { [name]: fail });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  }
}

describe('Files of runs on a disk that is full, or that others change (D24, D63)', () => {
  const temporary = new TemporaryFolder();
  let budget: MemoryBudget;
  let path: string;
  let store: ArtifactStore;
  let folder: ArtifactFolder;
  let elsewhere: string;
  let stores = 0;

  beforeEach(() => {
    budget = new MemoryBudget(2 ** 20);
    path = join(temporary.path, `store-${++stores}`);
    elsewhere = join(temporary.path, `elsewhere-${stores}`);
    store = new ArtifactStore(path, false);
    folder = store.open('run', budget);
    mkdirSync(join(elsewhere, 'run'), { recursive: true });
    for (const place of [elsewhere, join(elsewhere, 'run')]) writeFileSync(join(place, 'r.txt'), 'secret');
  });
  after(() => temporary.remove());

  const begin = (): StagedFiles =>
    new StagedFiles(folder, { item: undefined, number: 1 }, { task_id: 't' }, undefined);

  const write = (files: StagedFiles): Promise<{ readonly path: string }> =>
    files.write({ name: 'r.txt', bytes: 'mine', media_type: 'text/plain' });

  /** Writes and publishes `r.txt`. */
  async function publish(): Promise<string> {
    const files = begin();
    const written = await write(files);
    await files.publish([]);
    return written.path;
  }

  async function readBack(file: string): Promise<string> {
    const handle = await store.openFile(file);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  }

  function expectNothingTouched(): void {
    expect(readdirSync(elsewhere).toSorted()).to.deep.equal(['r.txt', 'run']);
    for (const place of [elsewhere, join(elsewhere, 'run')]) {
      expect(readdirSync(place)).to.include('r.txt');
      expect(readFileSync(join(place, 'r.txt'), 'utf8')).to.equal('secret');
    }
  }

  const FAILURES: { readonly of: string; readonly fail: (files: StagedFiles) => Promise<unknown> }[] = [
    { of: 'a file', fail: (files) => withFailing('writeFile', 'ENOSPC', () => write(files)) },
    {
      of: 'bytes',
      fail: (files) =>
        withFailing('writeFile', 'ENOSPC', () =>
          files.publish([{ path: files.claimBytes(), bytes: Buffer.from('mine') }]),
        ),
    },
    {
      of: 'a name',
      fail: async (files) => {
        await write(files);
        await withFailing('rename', 'ENOSPC', () => files.publish([]));
      },
    },
  ];

  for (const { of, fail } of FAILURES) {
    it(`say what to do when there is no room on the disk for ${of}, leave nothing, and may be retried`, async () => {
      const files = begin();
      const error = await catchRejection(fail(files));
      expect(error).to.have.property('retryable', true);
      expect((error as Error).message)
        .to.match(/^the file \S+ cannot be written: ENOSPC: /)
        .and.contain('free some of the disk, or have files written elsewhere');
      files.discard();
      const retried = await publish();
      expect(readdirSync(dirname(retried))).to.deep.equal(['r.txt']);
      expect([folder.count, folder.bytes, budget.usedBytes]).to.deep.equal([1, 4, 4]);
      await store.close();
    });
  }

  it('fail for good when the disk refuses them whatever the attempt', async () => {
    const error = await catchRejection(withFailing('writeFile', 'EACCES', () => write(begin())));
    expect(error).to.have.property('retryable', false);
    expect((error as Error).message).to.match(
      /^the file \S+ cannot be written: EACCES: it failed, writeFile$/,
    );
    await store.close();
  });

  it('are not written through a link in place of the folder of their run, or of the file', async () => {
    await publish();
    const runFolder = join(path, 'run');
    rmSync(runFolder, { recursive: true });
    symlinkSync(join(elsewhere, 'run'), runFolder);
    const error = await catchRejection(write(begin()));
    expect(error).to.have.property('retryable', false);
    expect((error as Error).message).to.equal(
      `${runFolder} is not a folder of this process: remove it, or set another SERVICE_ARTIFACTS`,
    );
    rmSync(runFolder);
    const files = begin();
    const { path: file } = await write(files);
    symlinkSync(join(elsewhere, 'r.txt'), file);
    await files.publish([]);
    expect(readFileSync(file, 'utf8')).to.equal('mine');
    symlinkSync(
      join(elsewhere, 'new.txt'),
      folder.nextStagedPath(file).replace(/\d+$/, (last) => `${Number(last) + 1}`),
    );
    expect(await catchRejection(write(begin()))).to.have.property('retryable', false);
    expectNothingTouched();
    await store.close();
    expectNothingTouched();
  });

  const REPLACEMENTS: Record<string, (file: string) => void> = {
    'the file': (file) => {
      rmSync(file);
      symlinkSync(join(elsewhere, 'r.txt'), file);
    },
    'the folder of the run': (file) => {
      rmSync(dirname(file), { recursive: true });
      symlinkSync(join(elsewhere, 'run'), dirname(file));
    },
    'the folder of the executor': () => {
      rmSync(path, { recursive: true });
      symlinkSync(elsewhere, path);
    },
    'the folder of the executor by a folder of others, with links in it': () => {
      rmSync(path, { recursive: true });
      mkdirSync(path, { mode: 0o755 });
      symlinkSync(join(elsewhere, 'run'), join(path, 'run'));
    },
  };

  for (const [replaced, replace] of Object.entries(REPLACEMENTS)) {
    it(`are neither read nor removed through a link in place of ${replaced}`, async () => {
      const file = await publish();
      expect(await readBack(file)).to.equal('mine');
      replace(file);
      expect(await catchRejection(readBack(file))).to.be.instanceOf(Error);
      await folder.removeFile(file);
      expectNothingTouched();
      await folder.close();
      expectNothingTouched();
      await store.close();
      expectNothingTouched();
      expect(existsSync(path)).to.equal(replaced.includes('executor'));
    });
  }

  it('of an attempt that fails are not removed from a folder that has replaced that of the run', async () => {
    const files = begin();
    await write(files);
    renameSync(join(path, 'run'), join(path, 'moved'));
    symlinkSync(join(elsewhere, 'run'), join(path, 'run'));
    for (const name of readdirSync(join(path, 'moved')))
      writeFileSync(join(elsewhere, 'run', name), 'of others');
    files.discard();
    await folder.close();
    expect(readdirSync(join(elsewhere, 'run'))).to.have.length(2);
    await store.close();
  });
});
