import { expect } from 'chai';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { KeptReruns } from '../suites/kept-reruns.js';

const FIXTURES = join(ROOT, 'spec', 'runs', 'store', 'fixtures');
const PROGRAM = join(ROOT, 'dist', 'store-thread.cjs');

/** A file of each version of the tables, with a run that has failed and a rerun of it that has failed as well. */
describe('Files of runs that earlier versions have written (D68)', () => {
  before(() => requireBuild());

  for (const name of readdirSync(FIXTURES)) {
    it(`${name} is brought to the version of today, and its runs go on`, async () => {
      const folder = new TemporaryFolder();
      const file = folder.at('runs.db');
      copyFileSync(join(FIXTURES, name), file);
      const runs = await KeptReruns.open({
        open: () => SqliteStore.open(file, PROGRAM),
        folder,
        files: 'files',
      });
      try {
        const { runs: listed } = await runs.registry.queries.listInTurns({ limit: 10 }, 'default');
        expect(listed.map(({ status }) => status)).to.deep.equal(['failed', 'failed']);
        const end = await runs.rerun(listed[0]?.run_id ?? '');
        expect(runs.calls).to.deep.equal(['b']);
        expect(runs.registry.record(end).result).to.deep.include({ outputs: { a: 'A', b: 'AB' } });
      } finally {
        await runs.registry.close(0);
        folder.remove();
      }
    });
  }
});
