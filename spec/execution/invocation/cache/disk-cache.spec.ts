import { expect } from 'chai';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runToEnd, type Steps } from '../../../../lib/common/scheduling/steps.js';
import { DiskCache } from '../../../../lib/execution/invocation/cache/disk-cache.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { catchRejection } from '../../../support/rejection.js';
import { asUnprivilegedUser } from '../../../support/unprivileged-user.js';
import { takeWarnings } from '../../../support/warnings.js';

const runSteps = async <T>(steps: Steps<T>): Promise<T> => runToEnd(steps);
const OUTPUT = { output: 'A', writes: [], sizeBytes: 100 };
const KEY = { tenantId: 'default', hash: 'a' };
const MONTHS_MS = 90 * 24 * 3600 * 1000;

describe('The folder of a cache (D65)', () => {
  let folder: string;
  let clock: ManualClock;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cache-'));
    clock = new ManualClock();
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (maxBytes?: number): DiskCache => new DiskCache(folder, clock, runSteps, maxBytes);

  it('is written and read in steps however long an output is, so that others go on in between', async () => {
    let count = 0;
    const countSteps = async <T>(steps: Steps<T>): Promise<T> => {
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) count++;
      count++;
      return step.value;
    };
    const cache = new DiskCache(folder, clock, countSteps);
    const long = { output: 'ü€'.repeat(2 ** 19), writes: [], sizeBytes: 2 ** 21 };
    await cache.write(KEY, long, Number.POSITIVE_INFINITY);
    expect(count).to.be.at.least(16);
    count = 0;
    expect(await cache.read(KEY)).to.deep.equal(long);
    expect(count).to.be.at.least(10);
  });

  /** Writes a file that nobody has used for months. */
  const putOld = async (path: string): Promise<string> => {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'x'.repeat(100));
    const usedAt = new Date(clock.now() - MONTHS_MS);
    await utimes(file, usedAt, usedAt);
    return path;
  };
  const exists = async (path: string): Promise<boolean> =>
    (await stat(join(folder, path)).catch(() => undefined)) !== undefined;
  const keepFrom = async (paths: readonly string[]): Promise<string[]> => {
    const found = await Promise.all(paths.map(exists));
    return paths.filter((_, index) => found[index]);
  };
  const name = (digits: string): string => digits.padEnd(64, '0');

  describe('when it is tidied', () => {
    it('loses what the cache has written, and no file of anybody else, however old and large', async () => {
      const foreign = [
        'notes.json',
        `${name('ab')}.json`,
        'photos/2019.jpg',
        `photos/${name('ab')}.json`,
        'ab/thesis.docx',
        'ab/0123.json',
        `ab/${name('cd')}.json`,
        `ab/${name('ab')}.json.bak`,
        `AB/${name('ab')}.json`,
        `ab/deep/${name('ab')}.json`,
      ];
      const own = [`ab/${name('ab')}.json`, `cd/${name('cd')}.json.0123456789ab.tmp`];
      for (const path of [...foreign, ...own]) await putOld(path);
      const cache = open(1);
      await cache.write(KEY, OUTPUT, Number.POSITIVE_INFINITY);
      await cache.swept();
      expect(await keepFrom(foreign)).to.deep.equal(foreign);
      expect(await keepFrom(own)).to.deep.equal([]);
    });

    it('follows no link out of it', async () => {
      const elsewhere = `ab/${name('ab')}.json`;
      await putOld(join('elsewhere', elsewhere));
      await putOld('elsewhere/file');
      await mkdir(join(folder, 'cd'));
      await symlink(join(folder, 'elsewhere/ab'), join(folder, 'ab'));
      await symlink(join(folder, 'elsewhere/file'), join(folder, 'cd', `${name('cd')}.json`));
      const cache = open(1);
      await cache.write(KEY, OUTPUT, Number.POSITIVE_INFINITY);
      await cache.swept();
      const kept = [`elsewhere/${elsewhere}`, 'elsewhere/file', `cd/${name('cd')}.json`];
      expect(await keepFrom(kept)).to.deep.equal(kept);
    });

    it('goes on after files that cannot be removed, and warns once', async () => {
      const others = [`00/${name('00')}.json`, `ff/${name('ff')}.json`];
      const stuck = [`ab/${name('ab')}.json`, `ab/${name('abc')}.json`];
      for (const path of [...others, ...stuck]) await putOld(path);
      // With this key, the new file is not in the folder whose files cannot be removed.
      await writeFile(join(folder, 'key'), Buffer.alloc(32));
      for (const path of ['', '00', 'ff']) await chmod(join(folder, path), 0o777);
      await chmod(join(folder, 'key'), 0o644);
      await chmod(join(folder, 'ab'), 0o555);
      try {
        await asUnprivilegedUser(async () => {
          const cache = open(1);
          await cache.write(KEY, OUTPUT, Number.POSITIVE_INFINITY);
          await cache.swept();
        });
      } finally {
        await chmod(join(folder, 'ab'), 0o755);
      }
      expect(await keepFrom([...others, ...stuck])).to.deep.equal(stuck);
      const [warning, ...more] = await takeWarnings();
      expect(warning).to.match(/^files of the cache cannot be removed: EACCES: .*; remove them yourself, or/);
      expect(more).to.deep.equal([]);
    });
  });

  describe('has a key for the names of its files', () => {
    it('that only its user can read, of 32 bytes, and no other file', async () => {
      await open().write(KEY, OUTPUT, Number.POSITIVE_INFINITY);
      const { size, mode } = await stat(join(folder, 'key'));
      expect([size, mode & 0o777]).to.deep.equal([32, 0o600]);
      expect((await readdir(folder)).filter((entry) => entry.startsWith('key'))).to.deep.equal(['key']);
    });

    it('that is never an empty one, as a process that was stopped has left it, nor kept after a failure', async () => {
      await writeFile(join(folder, 'key'), '');
      const cache = open();
      const error = await catchRejection(cache.write(KEY, OUTPUT, Number.POSITIVE_INFINITY));
      expect(error).to.have.property(
        'message',
        `${join(folder, 'key')} has 0 bytes, and the key of a cache has 32: remove it, and the next output makes another`,
      );
      expect(await readdir(folder)).to.deep.equal(['key']);
      await rm(join(folder, 'key'));
      await cache.write(KEY, OUTPUT, Number.POSITIVE_INFINITY);
      expect(await cache.read(KEY)).to.deep.equal(OUTPUT);
    });

    it('that the first of several processes has made', async () => {
      const caches = Array.from({ length: 8 }, () => open());
      await Promise.all(caches.map((cache) => cache.write(KEY, OUTPUT, Number.POSITIVE_INFINITY)));
      const made = await readFile(join(folder, 'key'));
      const found = await Promise.all([...caches, open()].map((cache) => cache.read(KEY)));
      expect(found).to.deep.equal(Array.from({ length: 9 }, () => OUTPUT));
      expect(await readFile(join(folder, 'key'))).to.deep.equal(made);
    });
  });
});
