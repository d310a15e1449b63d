import { expect } from 'chai';
import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ArtifactStore } from '../../../../lib/execution/invocation/files/artifact-store.js';
import { encodePieces, StagedFiles } from '../../../../lib/execution/invocation/files/staged-files.js';
import { MemoryBudget } from '../../../../lib/execution/memory-budget.js';
import type { WrittenArtifact } from '../../../../lib/tools/files/artifacts.js';
import { settle, settleUntil } from '../../../support/deferred.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { itTimed, measureCpuMs } from '../../../support/measuring/cpu-time.js';
import { catchRejection } from '../../../support/rejection.js';
import { cases } from '../../../support/measuring/cases.js';

describe('The files of an attempt (D24, D63)', () => {
  const temporary = new TemporaryFolder();
  let budget = new MemoryBudget(2 ** 30);
  let store = new ArtifactStore('', false);
  let folder = store.open('', budget);
  let stores = 0;

  beforeEach(() => {
    budget = new MemoryBudget(2 ** 30);
    store = new ArtifactStore(join(temporary.path, `store-${++stores}`), false);
    folder = store.open('run', budget);
  });
  afterEach(() => store.close());
  after(() => temporary.remove());

  const begin = (outer?: StagedFiles): StagedFiles =>
    new StagedFiles(folder, { item: undefined, number: 1 }, { task_id: 't' }, outer);

  const write = (files: StagedFiles, name: string, text = 'x'): Promise<WrittenArtifact> =>
    files.write({ name, bytes: text, media_type: 'text/plain' });

  it('count once they are written, and never below zero, however often an attempt fails', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const failed = begin();
      failed.claimBytes();
      failed.discard();
    }
    await settle();
    expect(folder.count).to.equal(0);
    const succeeded = begin();
    await succeeded.publish([{ path: succeeded.claimBytes(), bytes: Buffer.from('1') }]);
    expect([folder.count, store.hasFiles('run'), folder.bytes]).to.deep.equal([1, true, 1]);
  });

  it('with long texts are written in later slices when the time of this one is used up', async () => {
    const deferred: (() => void)[] = [];
    const busy = { exhausted: () => true, defer: (next: () => void) => deferred.push(next) };
    const files = new StagedFiles(folder, { item: undefined, number: 1 }, { task_id: 't' }, undefined, busy);
    const written = ['a.txt', 'b.txt'].map((name) => write(files, name, 'x'.repeat(100_000)));
    await write(files, 'short.txt');
    await settle();
    expect([deferred.length, folder.bytes]).to.deep.equal([2, 1]);
    for (const next of deferred) next();
    const sizes = (await Promise.all(written)).map(({ name, size }) => [name, size]);
    expect(sizes).to.deep.equal([
      ['a.txt', 100_000],
      ['b.txt', 100_000],
    ]);
    files.discard();
  });

  it('of a retry stay when those of the failed attempt and its nested runs are removed late', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `${index}.txt`);
    const outer = begin();
    const inner = begin(outer);
    for (const name of names) await write(inner, name, 'old');
    await inner.publish([]);
    outer.discard();
    const retry = begin();
    const { name, path } = await write(retry, '199.txt', 'new');
    expect(name).to.equal('199.txt');
    await retry.publish([]);
    await settleUntil(() => readdirSync(dirname(path)).length <= 1);
    expect(existsSync(path) && readFileSync(path, 'utf8')).to.equal('new');
    expect([folder.count, folder.bytes, budget.usedBytes]).to.deep.equal([1, 3, 3]);
  });

  it('keep their name for the retry also when the attempt ends while they are published', async () => {
    const first = begin();
    await write(first, 'r.txt', 'old');
    const publishing = first.publish([]);
    first.discard();
    const retry = begin();
    const { name, path } = await write(retry, 'r.txt', 'new');
    await Promise.all([publishing, retry.publish([])]);
    expect([name, readFileSync(path, 'utf8')]).to.deep.equal(['r.txt', 'new']);
    expect(folder.artifacts.map(({ size }) => size)).to.deep.equal([3]);
  });

  it('whose writing fails when the attempt is over leave their name to the next one alone', async () => {
    const { names } = folder;
    const failed = begin();
    writeFileSync(join(temporary.path, `store-${stores}`), 'no folder');
    const writing = catchRejection(write(failed, 'r.txt'));
    failed.discard();
    const owner = { item: undefined, number: 1 };
    expect(names.claim('r.txt', owner)).to.equal('r.txt');
    expect(await writing).to.be.instanceOf(Error);
    expect(names.claim('r.txt', owner)).to.equal('r-2.txt');
  });

  it('for bytes keep their name for the retry when the output is copied after the attempt is over', async () => {
    const failed = begin();
    failed.discard();
    failed.claimBytes();
    expect(begin().claimBytes()).to.match(/t-1\.bin$/);
  });

  itTimed('take time in proportion to their number', async () => {
    const files = begin();
    const cpuMs = await measureCpuMs(async () => {
      const paths = Array.from({ length: 60_000 }, () => files.claimBytes());
      // The paths are of no file, since the run may not have so many.
      await files.publish(paths.map((path) => ({ path: `${path}?`, bytes: Buffer.of() })));
    });
    expect(cpuMs).to.be.below(2000);
  });
});

describe('encodePieces', () => {
  it('encodes a text as UTF-8, also where a piece would split a character', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.nat(600_000), (parts, length) => {
        const text = `${'x'.repeat(length)}${parts.join('\u{1f600}')}${'\u{1f600}'.repeat(200_000)}\ud83d`;
        const pieces = Array.from(encodePieces(text), (piece) => Buffer.from(piece));
        expect(Buffer.concat(pieces).equals(Buffer.from(text))).to.equal(true);
      }),
      cases(20),
    );
  });

  it('uses the memory of one piece for all of them', () => {
    const memory = Array.from(encodePieces('x'.repeat(2 ** 20)), ({ buffer }) => buffer);
    expect([memory.length, new Set(memory).size]).to.deep.equal([4, 1]);
  });
});
