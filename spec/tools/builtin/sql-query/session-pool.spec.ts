import { expect } from 'chai';
import type { SqlSession, SqlTarget } from '../../../../lib/tools/builtin/sql-query/database.js';
import { SQL_LIMITS } from '../../../../lib/tools/builtin/sql-query/limits.js';
import { SessionPool } from '../../../../lib/tools/builtin/sql-query/session-pool.js';
import { deferred, settle } from '../../../support/deferred.js';
import { catchRejection } from '../../../support/rejection.js';
import { type TestContextOptions, toolContext } from '../../../support/tool-context.js';

/** A database whose connections are counted. */
class CountedTarget implements SqlTarget {
  opened = 0;
  closed = 0;
  cancelled = 0;
  readonly isLocal: boolean;
  readonly key: string;

  constructor(isLocal = false, key = 'database') {
    this.isLocal = isLocal;
    this.key = key;
  }

  async connect(): Promise<SqlSession> {
    this.opened++;
    let isUsable = true;
    return {
      get isUsable() {
        return isUsable;
      },
      open: () => Promise.reject(new Error('there are no statements here')),
      describe: (error) => error,
      control: async () => undefined,
      cancel: async () => {
        isUsable = false;
        this.cancelled++;
      },
      reset: async () => undefined,
      keepAlive: () => undefined,
      close: () => void this.closed++,
    };
  }
}

describe('The connections to databases (D92)', () => {
  const use = (
    pool: SessionPool,
    target: SqlTarget,
    options: TestContextOptions = {},
    work: () => Promise<unknown> = async () => undefined,
  ) => {
    const context = toolContext(options);
    return { context, done: pool.use(target, true, context, work) };
  };

  it('are kept for the next task of the same tenant, for some time', async () => {
    const pool = new SessionPool();
    const target = new CountedTarget();
    const { context, done } = use(pool, target);
    await done;
    const second = use(pool, target);
    await second.done;
    await use(pool, target, { tenant_id: 'other' }).done;
    expect([target.opened, target.closed]).to.deep.equal([2, 0]);
    context.clock.advance(SQL_LIMITS.idleMs);
    second.context.clock.advance(SQL_LIMITS.idleMs);
    expect(target.closed).to.equal(1);
    await pool.close();
    expect(target.closed).to.equal(2);
  });

  it('are closed when they were cancelled, or their work has failed', async () => {
    const pool = new SessionPool();
    const target = new CountedTarget();
    const { context, done } = use(pool, target, {}, () => deferred<void>().promise);
    await settle();
    context.abort();
    expect(String(await catchRejection(done))).to.include('the query was stopped');
    expect([target.cancelled, target.closed]).to.deep.equal([1, 1]);
    const failed = use(pool, target, {}, () => Promise.reject(new Error('no such table')));
    expect(String(await catchRejection(failed.done))).to.include('no such table');
    expect([target.opened, target.closed]).to.deep.equal([2, 2]);
  });

  for (const [isLocal, most, kept] of [
    [false, SQL_LIMITS.atOnce, SQL_LIMITS.idleSessions],
    [true, SQL_LIMITS.processesAtOnce, SQL_LIMITS.idleProcesses],
  ] as const)
    it(`are ${most} at once${isLocal ? ' with processes' : ''}, and further ones of other tenants`, async () => {
      const pool = new SessionPool();
      const target = new CountedTarget(isLocal);
      const gate = deferred<void>();
      const tasks = Array.from({ length: most + 1 }, () => use(pool, target, {}, () => gate.promise));
      const other = use(pool, target, { tenant_id: 'other' }, () => gate.promise);
      await settle();
      expect(target.opened).to.equal(most + 1);
      gate.resolve();
      await Promise.all([...tasks, other].map(({ done }) => done));
      expect(target.opened - target.closed).to.be.at.most(kept);
      await pool.close();
      expect(target.closed).to.equal(target.opened);
    });

  it('are not opened any more, and what is at work is cancelled, once they are closed', async () => {
    const pool = new SessionPool();
    const target = new CountedTarget();
    const gate = deferred<void>();
    const { done } = use(pool, target, {}, () => gate.promise);
    await settle();
    await pool.close();
    expect(target.cancelled).to.equal(1);
    gate.resolve();
    await done;
    expect(target.closed).to.equal(1);
    expect(String(await catchRejection(use(pool, target).done))).to.include('the server is shutting down');
  });
});
