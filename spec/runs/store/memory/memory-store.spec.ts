import type { RunStore } from '../../../../lib/runs/store/run-store.js';
import { createDisk, type Disk, MemoryStore } from './memory-store.js';
import { archiveSuite } from '../suites/archive-suite.js';
import { statisticsSuite } from '../statistics/statistics-suite.js';
import { keepSuite } from '../suites/keep-suite.js';
import { type StorePlace, storeSuite } from '../suites/store-suite.js';

class MemoryPlace implements StorePlace {
  readonly #disk: Disk = createDisk();

  async open(): Promise<RunStore> {
    return new MemoryStore(this.#disk);
  }

  async openAfterCrash(): Promise<RunStore> {
    const { runs, documents, keys, ends, counted, removed } = this.#disk;
    return new MemoryStore({
      runs: new Map(runs),
      documents: new Map(documents),
      unfinished: new Map(),
      keys: new Map(keys),
      ends: new Map(ends),
      counted: [...counted],
      removed: new Map(removed),
    });
  }

  spoilCommit(store: RunStore): void {
    (store as MemoryStore).fault = new Error('the disk is full');
  }

  async remove(): Promise<void> {}
}

storeSuite('the memory store of the specs', () => new MemoryPlace());
archiveSuite('the memory store of the specs', () => new MemoryPlace());
statisticsSuite('the memory store of the specs', () => new MemoryPlace());

keepSuite('the memory store of the specs', () => new MemoryPlace());
