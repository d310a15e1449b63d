import { expect } from 'chai';
import { join } from 'node:path';
import { MAX_ARTIFACTS } from '../../../../lib/common/limits.js';
import {
  type ArtifactFolder,
  ArtifactStore,
} from '../../../../lib/execution/invocation/files/artifact-store.js';
import { MemoryBudget } from '../../../../lib/execution/memory-budget.js';
import { itTimed, measureCpuMsSync } from '../../../support/measuring/cpu-time.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

describe('The files of a rerun (D35, D63)', () => {
  const temporary = new TemporaryFolder();
  const budget = new MemoryBudget(2 ** 30);
  let store: ArtifactStore;
  let source: ArtifactFolder;
  let rerun: ArtifactFolder;

  beforeEach(() => {
    store = new ArtifactStore(join(temporary.path, 'store'), false);
    source = store.open('source', budget);
  });
  afterEach(() => store.close());
  after(() => temporary.remove());

  /** Lists empty files of a fan-out in the source, one for each item, and begins a rerun of it. */
  function beginRerun(items: number): void {
    for (let item = 0; item < items; item++) {
      source.reserve(0);
      const artifact = { name: `${item}.txt`, task_id: 't', item, media_type: 'text/plain', size: 0 };
      source.addToList([{ artifact, path: `/${item}.txt` }]);
    }
    store.reuse('source', 'rerun', budget);
    rerun = store.open('rerun', budget);
  }

  it('count when they are listed: those that are written anew do not count twice', () => {
    beginRerun(MAX_ARTIFACTS);
    expect([rerun.count, rerun.hasFiles]).to.deep.equal([0, true]);
    for (let file = 1; file < MAX_ARTIFACTS; file++) rerun.reserve(0);
    for (let times = 0; times < 2; times++) rerun.listReused({ task_id: 't', item: 0 }, undefined);
    expect(rerun.count).to.equal(MAX_ARTIFACTS);
    expect(() => rerun.reserve(0))
      .to.throw(`the run has ${MAX_ARTIFACTS} files, and more are not allowed: write fewer files`)
      .with.property('retryable', false);
  });

  it('are those of a task, or of one of its items, which may have another place', () => {
    beginRerun(3);
    rerun.listReused({ task_id: 'u' }, undefined);
    rerun.listReused({ task_id: 't', sub_pipeline: 's' }, undefined);
    expect(rerun.artifacts).to.deep.equal([]);
    rerun.listReused({ task_id: 't', item: 2 }, 0);
    expect(rerun.artifacts.map(({ name, item }) => [name, item])).to.deep.equal([['2.txt', 0]]);
    rerun.listReused({ task_id: 't' }, undefined);
    expect(rerun.artifacts).to.deep.equal(source.artifacts);
  });

  itTimed('are found in time that is proportional to their number', () => {
    beginRerun(MAX_ARTIFACTS);
    const cpuMs = measureCpuMsSync(() => {
      for (let item = 0; item < MAX_ARTIFACTS; item++) rerun.listReused({ task_id: 't', item }, item);
    });
    expect(rerun.artifacts).to.have.length(MAX_ARTIFACTS);
    expect(cpuMs).to.be.below(500);
  });
});
