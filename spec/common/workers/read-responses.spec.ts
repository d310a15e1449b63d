import { expect } from 'chai';
import { join } from 'node:path';
import { systemClock } from '../../../lib/common/clock.js';
import { ProcessPool, type WorkOptions } from '../../../lib/common/workers/process-pool.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { deferred, settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { isAlive } from './processes.js';

describe('A ProcessPool whose responses are read before the next request begins', () => {
  let pool: ProcessPool<{ readonly does: 'pid' }, number>;

  before(() => requireBuild());

  beforeEach(() => {
    pool = new ProcessPool({
      file: join(ROOT, 'spec/common/workers/odd-process.cjs'),
      memoryMiB: 256,
      clock: systemClock,
      atWork: { total: 1 },
      maxProcesses: 1,
      isolateTenants: true,
    });
  });

  afterEach(() => pool.close());

  function ask<T>(read: (pid: number) => Promise<T>, options: Partial<WorkOptions> = {}): Promise<T> {
    return pool.runAndRead('alice', () => ({ does: 'pid' }), { timeoutMs: 60_000, ...options }, read);
  }

  it('lets no responses pile up: a request waits until the response before was read', async () => {
    const isReading = deferred<void>();
    const isRead = deferred<void>();
    const begun: string[] = [];
    const first = ask(async (pid) => {
      isReading.resolve();
      await isRead.promise;
      begun.push('read');
      return pid;
    });
    const second = ask(async (pid) => pid, { onStart: () => begun.push('begun') });
    await isReading.promise;
    await settle(20);
    isRead.resolve();
    expect(await first).to.equal(await second);
    expect(begun).to.deep.equal(['read', 'begun']);
  });

  it('rejects with what reading throws, and answers the next request in the same process', async () => {
    const pid = await ask(async (answered) => answered);
    const failed = ask(() => Promise.reject(new Error('unreadable')));
    expect(await catchRejection(failed)).to.have.property('message', 'unreadable');
    expect(await ask(async (answered) => answered)).to.equal(pid);
  });

  it('keeps the process of a request that is aborted while its response is read', async () => {
    const controller = new AbortController();
    const pid = await ask(
      async (answered) => {
        controller.abort();
        return answered;
      },
      { signal: controller.signal },
    );
    expect(await isAlive(pid)).to.equal(true);
    expect(await ask(async (answered) => answered)).to.equal(pid);
  });
});
