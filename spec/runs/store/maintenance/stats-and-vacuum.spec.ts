import { expect } from 'chai';
import { cpSync, existsSync, statSync } from 'node:fs';
import { errorMessage } from '../../../../lib/common/errors.js';
import { checkStore } from '../../../../lib/runs/store/maintenance/check-store.js';
import { readStoreStats, readWholeStoreStats } from '../../../../lib/runs/store/maintenance/store-stats.js';
import { vacuumStore } from '../../../../lib/runs/store/maintenance/vacuum-store.js';
import { TABLES_VERSION } from '../../../../lib/runs/store/sqlite/thread/schema.js';
import { requireBuild } from '../../../project/files.js';
import { catchRejection } from '../../../support/rejection.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { execute, OLD_FILE, openStore, writeStore } from './kept-store.js';

describe('The facts of a store from outside (D74)', () => {
  const folder = useTemporaryFolder();
  let file: string;

  before(() => requireBuild());

  beforeEach(() => {
    file = folder.at('runs.db');
  });

  it('are its size, its runs by status and tenant, and its first and last run', async () => {
    await writeStore(file, 7);
    folder.write('runs.db.files/run 1/a.txt', 'ABC');
    const stats = await readWholeStoreStats(file);
    expect(stats).to.deep.include({
      bytes: statSync(file).size,
      version: TABLES_VERSION,
      known_version: TABLES_VERSION,
      is_open: false,
      runs: 8,
      by_status: { at_work: 1, succeeded: 4, failed: 3, cancelled: 0 },
      tenants: [
        { tenant_id: 'default', succeeded: 3, failed: 2, cancelled: 0 },
        { tenant_id: 'acme', succeeded: 1, failed: 1, cancelled: 0 },
      ],
      oldest: { run_id: 'run 1', created_at: '1970-01-01T00:00:00.001Z' },
      newest: { run_id: 'run 8', created_at: '1970-01-01T00:00:00.008Z' },
      files: 1,
      files_bytes: 3,
    });
    expect(stats?.free_share).to.be.within(0, 1);
  });

  it('say whether a server has it open, and what it has not yet written into the file', async () => {
    const store = await openStore(file);
    expect(await readStoreStats(file)).to.include({ is_open: true, runs: 0, oldest: null, newest: null });
    expect((await readStoreStats(file))?.wal_bytes).to.be.greaterThan(0);
    await store.close();
    expect(await readStoreStats(file)).to.include({ is_open: false });
  });

  it('of an earlier version are those that it has; the file stays as it is', async () => {
    cpSync(OLD_FILE, file);
    const stats = await readStoreStats(file);
    expect(stats).to.deep.include({
      version: 1,
      known_version: TABLES_VERSION,
      runs: 2,
      by_status: null,
      tenants: null,
    });
    expect(stats?.oldest?.run_id).to.not.equal(stats?.newest?.run_id);
    expect(await readStoreStats(file)).to.include({ version: 1 });
    expect(existsSync(`${file}-shm`)).to.equal(false);
  });

  it('are none of a file that is missing, which is not created', async () => {
    expect(await readStoreStats(file)).to.equal(undefined);
    expect(existsSync(file)).to.equal(false);
  });

  it('keep no server from starting that begins at the same moment', async () => {
    await writeStore(file, 1);
    const opened = openStore(file);
    for (let look = 0; look < 20; look++) await readStoreStats(file);
    await (await opened).close();
  });
});

describe('The vacuum of a store (D74)', () => {
  const folder = useTemporaryFolder();
  let file: string;

  before(() => requireBuild());

  beforeEach(() => {
    file = folder.at('runs.db');
  });

  const refusal = async (): Promise<string> => errorMessage(await catchRejection(vacuumStore(file)));

  it('gives free space back, and keeps all runs', async () => {
    await writeStore(file, 50, 20_000);
    execute(file, 'CREATE TABLE rest AS SELECT randomblob(1000000)');
    execute(file, 'DROP TABLE rest');
    const { bytes_before: before, bytes } = await vacuumStore(file);
    expect(before - bytes).to.be.greaterThan(900_000);
    expect(statSync(file).size).to.equal(bytes);
    expect(await checkStore(file, false)).to.include({ ok: true, runs: 51 });
    await (await openStore(file)).close();
  });

  it('is refused while a server has the file open, and of what is no store', async () => {
    expect(await refusal()).to.contain('there is no store');
    const store = await openStore(file);
    expect(await refusal()).to.contain('open: stop it first');
    await store.close();
    folder.write('runs.db', 'no database, but a text that is long enough to be looked at'.repeat(20));
    expect(await refusal()).to.contain('it is not a database');
  });
});
