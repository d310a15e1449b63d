import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { systemClock } from '../../../lib/common/clock.js';
import { ForkServer } from '../../../lib/common/workers/fork-server.js';
import { directLauncher, type Launcher } from '../../../lib/common/workers/launcher.js';
import {
  ProcessPool,
  type ProcessPoolOptions,
  type WorkOptions,
} from '../../../lib/common/workers/process-pool.js';
import { WorkerError, type WorkerFailure } from '../../../lib/common/workers/protocol.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';
import { dataLimitKiB } from '../../../lib/common/workers/launcher.js';
import { findSession, listWorkers, waitForExit } from './processes.js';

const ODD_PROGRAM = join(ROOT, 'spec/common/workers/odd-process.cjs');
const MUTE_PROGRAM = join(ROOT, 'spec/common/workers/mute-process.cjs');

interface OddRequest {
  readonly does: 'nothing' | 'exit' | 'fault' | 'environment' | 'pid' | 'oversized' | 'throw';
}

type OddPool = ProcessPool<OddRequest, number>;

interface Busy {
  /** Comes never, unless something ends the process. */
  readonly response: Promise<number>;
}

async function expectFailure(
  promise: Promise<unknown>,
  failure: WorkerFailure,
  message: string,
): Promise<void> {
  const error = await catchRejection(promise);
  expect(error).to.be.instanceOf(WorkerError).and.include({ failure, message });
}

const FORK_SERVER_PROGRAM = join(ROOT, 'dist', 'fork-server-process.cjs');

/** The ways to start the processes of a pool. */
const LAUNCHERS: Readonly<Record<string, () => Launcher>> = {
  'that forks its processes itself': () => directLauncher,
  'of a server, whose processes a small process forks': () => new ForkServer(FORK_SERVER_PROGRAM),
};

for (const [kind, launch] of Object.entries(LAUNCHERS))
  describe(`A ProcessPool ${kind}`, () => {
    const pools: OddPool[] = [];
    let launcher: Launcher;

    before(() => {
      requireBuild();
      launcher = launch();
    });

    after(() => launcher.close());

    /** Lists the processes of the pools, the oldest first. */
    async function listProcesses(): Promise<number[]> {
      const [forkServer] = await listWorkers(process.pid, 'fork-server-process.cjs');
      const parent = launcher === directLauncher ? process.pid : forkServer;
      return listWorkers(parent, 'odd-process.cjs');
    }

    function open(options: Partial<ProcessPoolOptions> = {}): OddPool {
      const pool: OddPool = new ProcessPool({
        file: ODD_PROGRAM,
        memoryMiB: 256,
        clock: systemClock,
        atWork: { total: 1 },
        maxProcesses: 1,
        isolateTenants: true,
        launcher,
        ...options,
      });
      pools.push(pool);
      return pool;
    }

    function ask(
      pool: OddPool,
      tenantId: string,
      does: OddRequest['does'],
      options: Partial<WorkOptions> = {},
    ): Promise<number> {
      return pool.run(tenantId, () => ({ does }), { timeoutMs: 60_000, ...options });
    }

    /** Asks for nothing, which keeps a process at work, and waits until it is. */
    async function occupy(
      pool: OddPool,
      tenantId: string,
      options: Partial<WorkOptions> = {},
    ): Promise<Busy> {
      return new Promise((resolve) => {
        const onStart = (): void => resolve({ response });
        const response = ask(pool, tenantId, 'nothing', { ...options, onStart });
        response.catch(() => undefined);
      });
    }

    afterEach(async () => {
      await Promise.all(pools.splice(0).map((pool) => pool.close()));
    });

    describe('isolates tenants', () => {
      it('answers requests of one tenant in the same process', async () => {
        const pool = open();
        expect(await ask(pool, 'alice', 'pid')).to.equal(await ask(pool, 'alice', 'pid'));
      });

      it('answers requests of different tenants in different processes, and keeps those', async () => {
        const pool = open({ maxProcesses: 2 });
        const [alice, bob] = [await ask(pool, 'alice', 'pid'), await ask(pool, 'bob', 'pid')];
        expect(alice).not.to.equal(bob);
        expect(await ask(pool, 'alice', 'pid')).to.equal(alice);
        expect(await ask(pool, 'bob', 'pid')).to.equal(bob);
      });

      it('never gives a process that answered one tenant to another, in whatever order they ask', async () => {
        const pool = open({ atWork: { total: 2 }, maxProcesses: 2 });
        const owners = new Map<number, string>();
        const tenants = ['alice', 'bob', 'carol', 'alice', 'alice', 'bob', 'dave', 'carol', 'alice', 'bob'];
        await Promise.all(
          tenants.map(async (tenantId) => {
            const pid = await ask(pool, tenantId, 'pid');
            expect(owners.get(pid) ?? tenantId).to.equal(tenantId);
            owners.set(pid, tenantId);
          }),
        );
      });

      it('ends the process that was idle for longest when there are too many', async () => {
        const pool = open({ maxProcesses: 2 });
        const alice = await ask(pool, 'alice', 'pid');
        const bob = await ask(pool, 'bob', 'pid');
        await ask(pool, 'carol', 'pid');
        await waitForExit(alice);
        expect(await ask(pool, 'bob', 'pid')).to.equal(bob);
      });

      it('ends one of the tenant that has the most idle ones first', async () => {
        const pool = open({ atWork: { total: 2 }, maxProcesses: 3 });
        const alice = await ask(pool, 'alice', 'pid');
        const bobs = await Promise.all([ask(pool, 'bob', 'pid'), ask(pool, 'bob', 'pid')]);
        expect(new Set([alice, ...bobs])).to.have.property('size', 3);
        await ask(pool, 'carol', 'pid');
        expect(await ask(pool, 'alice', 'pid')).to.equal(alice);
      });

      it('has a process ready for a new tenant', async () => {
        const pool = open();
        const alice = await ask(pool, 'alice', 'pid');
        const [spare] = (await listProcesses()).filter((pid) => pid !== alice);
        expect(await ask(pool, 'bob', 'pid')).to.equal(spare);
      });

      it('unless any process may answer anybody', async () => {
        const pool = open({ isolateTenants: false });
        const pid = await ask(pool, 'alice', 'pid');
        expect(await ask(pool, 'bob', 'pid')).to.equal(pid);
        expect(await listProcesses()).to.deep.equal([pid]);
      });
    });

    describe('shares its processes between tenants (D25)', () => {
      it('lets a lone tenant use all of them', async () => {
        const pool = open({ atWork: { total: 2, guaranteed: 1 }, maxProcesses: 2 });
        await Promise.all([occupy(pool, 'alice'), occupy(pool, 'alice')]);
      });

      it('answers a tenant within its guaranteed share although another tenant uses all', async () => {
        const pool = open({ atWork: { total: 1, guaranteed: 1 } });
        await occupy(pool, 'alice');
        expect(await ask(pool, 'bob', 'pid')).to.be.a('number');
      });

      it('answers a tenant after the turn of another one, however many requests that one has', async () => {
        const clock = new ManualClock();
        const pool = open({ clock });
        const order: string[] = [];
        const asked = ['alice', 'alice', 'alice', 'alice', 'alice', 'bob'].map((tenantId) =>
          ask(pool, tenantId, 'pid', {
            onStart: () => {
              order.push(tenantId);
              clock.advance(60);
            },
          }),
        );
        await Promise.all(asked);
        expect(order).to.deep.equal(['alice', 'alice', 'bob', 'alice', 'alice', 'alice']);
      });
    });

    describe('ends what is aborted', () => {
      it('drops a request that waits, at once and without making it', async () => {
        const pool = open();
        await occupy(pool, 'alice');
        const controller = new AbortController();
        let isMade = false;
        const waiting = pool.run(
          'alice',
          () => {
            isMade = true;
            return { does: 'pid' };
          },
          { timeoutMs: 1000, signal: controller.signal },
        );
        controller.abort();
        await expectFailure(waiting, 'aborted', 'it was aborted');
        expect(isMade).to.equal(false);
      });

      it('kills the process of a request at work, and starts the next request', async () => {
        const pool = open();
        const pid = await ask(pool, 'alice', 'pid');
        const controller = new AbortController();
        const { response } = await occupy(pool, 'alice', { signal: controller.signal });
        const next = ask(pool, 'alice', 'pid');
        controller.abort();
        await expectFailure(response, 'aborted', 'it was aborted');
        expect(await next).not.to.equal(pid);
        await waitForExit(pid);
      });

      it('rejects a request that was aborted before', async () => {
        const aborted = ask(open(), 'alice', 'pid', { signal: AbortSignal.abort() });
        await expectFailure(aborted, 'aborted', 'it was aborted');
      });

      it('and no request that has been answered before its signal aborts', async () => {
        const pool = open();
        const controller = new AbortController();
        const pid = await ask(pool, 'alice', 'pid', { signal: controller.signal });
        controller.abort();
        expect(await ask(pool, 'alice', 'pid')).to.equal(pid);
      });
    });

    describe('limits the time of a request', () => {
      it('from the start of the work: waiting does not count', async () => {
        const clock = new ManualClock();
        const pool = open({ clock });
        const { response } = await occupy(pool, 'alice', { timeoutMs: 1000 });
        const waiting = ask(pool, 'alice', 'pid', { timeoutMs: 1000 });
        clock.advance(999);
        await nextTick();
        clock.advance(1);
        await expectFailure(response, 'timed_out', 'it ran for more than 1 s');
        expect(await waiting).to.be.a('number');
      });

      it('and kills its process then', async () => {
        const clock = new ManualClock();
        const pool = open({ clock });
        const pid = await ask(pool, 'alice', 'pid');
        const { response } = await occupy(pool, 'alice', { timeoutMs: 1000 });
        clock.advance(1000);
        await catchRejection(response);
        await waitForExit(pid);
      });

      it('and does not count the start of its process, which has 10 s of its own', async () => {
        const clock = new ManualClock();
        const pool = open({ clock, file: MUTE_PROGRAM });
        const never = ask(pool, 'alice', 'pid', { timeoutMs: 1 });
        clock.advance(9999);
        await nextTick();
        clock.advance(1);
        await expectFailure(never, 'timed_out', 'it ran for more than 10 s');
      });
    });

    describe('rejects', () => {
      it('with what the creation of the request throws, and keeps the process', async () => {
        const pool = open();
        const pid = await ask(pool, 'alice', 'pid');
        const bad = pool.run(
          'alice',
          () => {
            throw new RangeError('too deep');
          },
          { timeoutMs: 1000 },
        );
        expect(await catchRejection(bad)).to.be.instanceOf(RangeError);
        expect(await ask(pool, 'alice', 'pid')).to.equal(pid);
      });

      it('with what the program throws, and keeps the process', async () => {
        const pool = open();
        const pid = await ask(pool, 'alice', 'pid');
        await expectFailure(ask(pool, 'alice', 'throw'), 'threw', 'a bug');
        expect(await ask(pool, 'alice', 'pid')).to.equal(pid);
      });

      it('when the process exits, and starts another one', async () => {
        const pool = open();
        await expectFailure(ask(pool, 'alice', 'exit'), 'crashed', 'its process ended (status 3)');
        expect(await ask(pool, 'alice', 'pid')).to.be.a('number');
      });

      it('when the process lacks memory so much that V8 cannot even say so', async function () {
        if (process.platform === 'win32') this.skip();
        const message = 'it needed more than 256 MiB of memory';
        await expectFailure(ask(open(), 'alice', 'fault'), 'out_of_memory', message);
      });

      it('when somebody else kills the process', async function () {
        if (process.platform === 'win32') this.skip();
        const pool = open();
        const pid = await ask(pool, 'alice', 'pid');
        const { response } = await occupy(pool, 'alice');
        process.kill(pid, 'SIGKILL');
        const message = 'something ended its process (SIGKILL), perhaps the system for lack of memory';
        await expectFailure(response, 'crashed', message);
      });

      it('when the process cannot start', async () => {
        const pool = open({ file: join(ROOT, 'no', 'such', 'folder', 'file.cjs') });
        for (const _ of [1, 2]) {
          expect(await catchRejection(ask(pool, 'alice', 'pid')))
            .to.be.instanceOf(WorkerError)
            .with.property('message')
            .that.includes('its process');
        }
      });

      it('what waits and what is at work when the pool is closed, and whatever comes later', async () => {
        const pool = open();
        const { response } = await occupy(pool, 'alice');
        const waiting = ask(pool, 'bob', 'pid');
        const failures = [response, waiting].map((promise) =>
          expectFailure(promise, 'closed', 'the server is shutting down'),
        );
        await pool.close();
        await Promise.all(failures);
        await expectFailure(ask(pool, 'bob', 'pid'), 'closed', 'the server is shutting down');
      });
    });

    describe('replaces a process', () => {
      it('that died while idle', async () => {
        const pool = open();
        const first = await ask(pool, 'alice', 'pid');
        process.kill(first, 'SIGKILL');
        await waitForExit(first);
        expect(await ask(pool, 'alice', 'pid'))
          .to.be.a('number')
          .and.not.to.equal(first);
      });

      it('that retains too much memory', async () => {
        const pool = open();
        const first = await ask(pool, 'alice', 'oversized');
        expect(await ask(pool, 'alice', 'pid')).not.to.equal(first);
        await waitForExit(first);
      });
    });

    it('starts processes without the environment variables and flags of the server', async () => {
      process.env['SPEC_SECRET'] = 'swordfish';
      try {
        const environment = await ask(open(), 'alice', 'environment');
        expect(JSON.stringify(environment)).not.to.include('swordfish');
        expect(environment).to.deep.include({ flags: ['--max-old-space-size=256'] });
      } finally {
        delete process.env['SPEC_SECRET'];
      }
    });

    it('starts processes that the system ends when their data take 128 MiB more than their memory, and what the engine reserves', async function () {
      if (process.platform !== 'linux') this.skip();
      const pid = await ask(open(), 'alice', 'pid');
      const limits = await readFile(`/proc/${pid}/limits`, 'utf8');
      const [, bytes] = /^Max data size +(\d+) /m.exec(limits) ?? [];
      // The process that starts the others measures for itself what the engine has reserved.
      expect(Number(bytes)).to.be.closeTo(dataLimitKiB(256) * 1024, 64 * 2 ** 20);
      expect(dataLimitKiB(256)).to.be.at.least((256 + 128) * 1024);
    });

    it('starts processes that leave the processor to the server while processors are short', async () => {
      const pid = await ask(open(), 'alice', 'pid');
      expect(getPriority(pid)).to.be.greaterThan(getPriority());
    });

    it('starts processes with the priority of the pool', async () => {
      expect(getPriority(await ask(open({ priority: 10 }), 'alice', 'pid'))).to.equal(10);
    });

    it('starts processes in the session of the server, where their priority counts', async () => {
      const pid = await ask(open(), 'alice', 'pid');
      expect(await findSession(pid)).to.equal(await findSession(process.pid));
    });

    it('ends all processes when it is closed', async () => {
      const pool = open({ maxProcesses: 2 });
      await ask(pool, 'alice', 'pid');
      await ask(pool, 'bob', 'pid');
      await pool.close();
      expect(await listProcesses()).to.deep.equal([]);
    });
  });
