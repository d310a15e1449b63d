import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../../../../lib/common/json/json.js';
import { runToEnd, type Steps } from '../../../../lib/common/scheduling/steps.js';
import { DiskCache } from '../../../../lib/execution/invocation/cache/disk-cache.js';
import { MemoryCache } from '../../../../lib/execution/invocation/cache/memory-cache.js';
import type { CachedOutput, CacheKey } from '../../../../lib/execution/invocation/cache/cached-output.js';
import { computeCacheKey, OutputCache } from '../../../../lib/execution/invocation/cache/output-cache.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { countYields } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { takeWarnings } from '../../../support/warnings.js';

const toOutput = (output: Json, sizeBytes = 100): CachedOutput => ({ output, writes: [], sizeBytes });
const key = (hash: string, tenantId = 'default') => ({ tenantId, hash });
const runSteps = async <T>(steps: Steps<T>): Promise<T> => runToEnd(steps);

describe('The key of an output in the cache (D65)', () => {
  const tool = defineTool({ name: 'a', description: 'd', inputs: {}, openInputs: true, run: () => 1 });
  const keyOf = (inputs: Record<string, Json>, of = tool, tenantId = 'default'): string =>
    runToEnd(computeCacheKey(tenantId, of, inputs)).hash;

  it('is the same for equal inputs, whatever the order of their names', () => {
    expect(keyOf({ x: 1, y: [{ z: 'é' }] })).to.equal(keyOf({ y: [{ z: 'é' }], x: 1 }));
  });

  it('differs by tenant, tool, version and input', () => {
    const keys = [
      keyOf({ x: 1 }),
      keyOf({ x: '1' }),
      keyOf({ y: 1 }),
      keyOf({ x: 1, y: null }),
      keyOf({ x: 1 }, tool, 'acme'),
      keyOf({ x: 1 }, { ...tool, name: 'b' }),
      keyOf({ x: 1 }, { ...tool, version: '2' }),
      keyOf({ x: 1 }, { ...tool, run: () => 2 }),
      keyOf({ '"x": 1, "y"': 1 }),
      keyOf({}),
    ];
    expect(new Set(keys)).to.have.property('size', keys.length);
  });
});

describe('The key of an output in the cache, of many inputs', () => {
  it('is computed in steps of some hundred inputs, in the order in which they are written', () => {
    const tool = defineTool({ name: 'a', description: 'd', inputs: {}, openInputs: true, run: () => 1 });
    const inputs = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index]));
    const backwards = Object.fromEntries(Object.entries(inputs).toReversed());
    let count = 0;
    const found = runToEnd(countYields(computeCacheKey('default', tool, inputs), () => count++));
    expect(count).to.be.within(20, 100);
    expect(found).to.deep.equal(runToEnd(computeCacheKey('default', tool, { ...inputs })));
    expect(found).not.to.deep.equal(runToEnd(computeCacheKey('default', tool, backwards)));
  });
});

describe('MemoryCache (D65)', () => {
  it('returns an output until it has expired', () => {
    const cache = new MemoryCache();
    cache.set(key('a'), toOutput('A'), 1000);
    expect(cache.get(key('a'), 999)?.output).to.equal('A');
    expect(cache.get(key('a', 'acme'), 999)).to.equal(undefined);
    expect(cache.get(key('a'), 1000)).to.equal(undefined);
    expect(cache.usedBytes).to.equal(0);
  });

  it('drops what was not used for longest, of the tenant that has most', () => {
    const cache = new MemoryCache(10_000);
    const set = (hash: string, tenantId: string) =>
      cache.set(key(hash, tenantId), toOutput(hash, 1488), Infinity);
    for (const hash of ['a', 'b', 'c', 'd']) set(hash, 'busy');
    set('x', 'calm');
    expect(cache.get(key('a', 'busy'), 0)).to.not.equal(undefined);
    set('y', 'calm');
    const kept = ['a', 'b', 'c', 'd'].filter((hash) => cache.get(key(hash, 'busy'), 0) !== undefined);
    expect(kept).to.deep.equal(['a', 'c', 'd']);
    expect(cache.get(key('x', 'calm'), 0)?.output).to.equal('x');
    expect(cache.usedBytes).to.equal(10_000);
  });

  it('keeps no output that is larger than a fourth of the limit', () => {
    const cache = new MemoryCache(10_000);
    cache.set(key('a'), toOutput('A', 2000), Infinity);
    expect(cache.usedBytes).to.equal(0);
  });
});

describe('OutputCache with a folder (D65)', () => {
  let folder: string;
  let clock: ManualClock;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cache-'));
    clock = new ManualClock();
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A cache as another process has it: it shares the folder only. */
  const open = (maxBytes?: number): OutputCache =>
    new OutputCache(clock, new DiskCache(join(folder, 'c'), clock, runSteps, maxBytes), new MemoryCache());
  const keep = async (of: CacheKey, cached: CachedOutput, ttlMs: number, cache = open()): Promise<void> => {
    cache.set(of, cached, ttlMs);
    await cache.written();
  };
  const files = async (): Promise<string[]> =>
    (await readdir(join(folder, 'c'), { recursive: true })).filter((name) => /\.json/.test(name));

  it('gives another process what one has kept, frozen, until it has expired', async () => {
    const output = { rows: [1, { a: 'ü' }], none: null };
    const writes = [{ key: 'k', value: [1], append: true, sizeBytes: 8 }];
    await keep(key('a'), { output, writes, sizeBytes: 50 }, 5000);
    const found = await open().get(key('a'));
    expect(found).to.deep.equal({ output, writes, sizeBytes: 50 });
    expect(Object.isFrozen((found?.output as { rows: Json[] }).rows[1])).to.equal(true);
    clock.advance(5000);
    expect(await open().get(key('a'))).to.equal(undefined);
    expect(await files()).to.deep.equal([]);
  });

  it('names files so that nobody can find an input by its hash', async () => {
    await keep(key('0123'), toOutput(1), Infinity);
    expect((await files()).join()).to.not.contain('0123');
  });

  it('takes a file that is cut, empty or of somebody else for a missing one, and replaces it', async () => {
    await keep(key('a'), toOutput('A'), Infinity);
    const [name = ''] = await files();
    const path = join(folder, 'c', name);
    const whole = await readFile(path, 'utf8');
    for (const text of ['', whole.slice(0, -3), '[]', '{"output": 1}', 'null', '\u0000']) {
      await writeFile(path, text);
      expect(await open().get(key('a'))).to.equal(undefined);
      await keep(key('a'), toOutput('B'), Infinity);
      expect((await open().get(key('a')))?.output).to.equal('B');
    }
  });

  it('leaves complete files only when many processes keep the same outputs at once', async () => {
    const caches = Array.from({ length: 8 }, () => open());
    await Promise.all(
      caches.flatMap((cache, index) =>
        ['a', 'b'].map((hash) => keep(key(hash), toOutput(`${hash}${index}`), Infinity, cache)),
      ),
    );
    expect(await files()).to.have.length(2);
    expect((await open().get(key('b')))?.output).to.match(/^b\d$/);
  });

  it('removes what was not used for longest when the files are too many', async () => {
    const text = 'x'.repeat(1000);
    const disk = new DiskCache(join(folder, 'c'), clock, runSteps, 5000);
    for (let index = 0; index < 200; index++) {
      clock.advance(1000);
      await disk.write(key(`k${index}`), toOutput(text), Infinity);
    }
    await disk.swept();
    clock.advance(1000);
    await disk.write(key('last'), toOutput(text), Infinity);
    await disk.swept();
    expect((await files()).length).to.be.below(10);
    expect(await disk.read(key('last'))).to.not.equal(undefined);
  });

  it('misses, and warns once, when the folder cannot be used', async () => {
    await writeFile(join(folder, 'c'), 'a file');
    const cache = open();
    await keep(key('a'), toOutput('A'), Infinity, cache);
    expect(await cache.get(key('b'))).to.equal(undefined);
    const [warning, ...others] = await takeWarnings();
    expect(warning).to.match(/^outputs of the cache cannot be written: E[A-Z]+/);
    expect(others).to.deep.equal([]);
    expect((await cache.get(key('a')))?.output).to.equal('A');
  });
});
