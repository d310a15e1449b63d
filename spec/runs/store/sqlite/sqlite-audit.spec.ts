import { expect } from 'chai';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEntry } from '../../../../lib/audit/audit-entry.js';
import { AuditTrail } from '../../../../lib/audit/audit-trail.js';
import { SqliteStore } from '../../../../lib/runs/store/sqlite/sqlite-store.js';
import { describeAuditStore } from '../../../audit/audit-store-suite.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { catchRejection } from '../../../support/rejection.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { storedRun } from '../suites/store-suite.js';

const PROGRAM = join(ROOT, 'dist', 'store-thread.cjs');
const LIMITS = { keep: 1000, ttlMs: 86_400_000 };

describe('the audit in a SQLite file (D95)', () => {
  let folder: TemporaryFolder;

  before(() => requireBuild());

  beforeEach(() => {
    folder = new TemporaryFolder();
  });

  afterEach(() => folder.remove());

  describeAuditStore(async (limits) => {
    const runs = await SqliteStore.open(folder.at('runs.db'), PROGRAM);
    return { store: await runs.openAudit(limits), close: () => runs.close() };
  });

  const cancel = {
    who: { kind: 'key', name: 'ci' },
    action: 'cancel',
    object: { kind: 'run', id: 'a' },
    tenantId: 'default',
    result: 'ok',
  } as const;

  const openTrail = async (runs: SqliteStore, clock: ManualClock): Promise<AuditTrail> =>
    new AuditTrail({ store: await runs.openAudit(LIMITS), limits: LIMITS, clock });

  const list = async (trail: AuditTrail): Promise<readonly AuditEntry[]> =>
    (await trail.page({ limit: 500 }, 'default')).entries;

  it('has its entries after a crash as soon as they are kept, and goes on with later ids', async () => {
    const clock = new ManualClock();
    const runs = await SqliteStore.open(folder.at('runs.db'), PROGRAM);
    const trail = await openTrail(runs, clock);
    trail.record(cancel);
    await trail.kept();
    await copyFile(folder.at('runs.db'), folder.at('copy.db'));
    await copyFile(folder.at('runs.db-wal'), folder.at('copy.db-wal'));
    const copy = await SqliteStore.open(folder.at('copy.db'), PROGRAM);
    const restarted = await openTrail(copy, clock);
    restarted.record(cancel);
    await restarted.kept();
    const ids = (await list(restarted)).map(({ id }) => Number(id));
    expect(ids).to.have.length(2);
    expect(ids[0]).to.be.above(Number(ids[1]));
    await runs.close();
    await copy.close();
  });

  it('deletes entries that are older than they may be', async () => {
    const clock = new ManualClock();
    const runs = await SqliteStore.open(folder.at('runs.db'), PROGRAM);
    const store = await runs.openAudit(LIMITS);
    const trail = new AuditTrail({ store, limits: LIMITS, clock });
    trail.record(cancel);
    clock.advance(LIMITS.ttlMs + 1);
    trail.record({ ...cancel, action: 'delete' });
    await trail.kept();
    const everything = await store.page({}, { first: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 }, '');
    expect(everything.entries.map(({ action }) => action)).to.deep.equal(['delete']);
    await runs.close();
  });

  it('keeps an entry in the commit of the run that is accepted in the same turn', async () => {
    const runs = await SqliteStore.open(folder.at('runs.db'), PROGRAM);
    const trail = await openTrail(runs, new ManualClock());
    const run = storedRun(1, 'a');
    runs.add(run);
    trail.record({ ...cancel, action: 'submit' });
    await runs.log(run.id, 'default').committed();
    expect((await list(trail)).map(({ action }) => action)).to.deep.equal(['submit']);
    await runs.close();
  });

  it('rejects with `not_ready` when the file can be written no more', async () => {
    const runs = await SqliteStore.open(folder.at('runs.db'), PROGRAM);
    const trail = await openTrail(runs, new ManualClock());
    const failed = new Promise<Error>((resolve) => runs.onFailure(resolve));
    runs.add(storedRun(1, 'a'));
    runs.add(storedRun(1, 'another one'));
    trail.record(cancel);
    const rejection = catchRejection(trail.kept());
    await failed;
    expect(await rejection).to.include({ code: 'not_ready' });
    await runs.close();
  });
});
