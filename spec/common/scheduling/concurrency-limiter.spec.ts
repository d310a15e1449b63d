import { expect } from 'chai';
import { setImmediate as nextTick } from 'node:timers/promises';
import { ToolError } from '../../../lib/common/errors.js';
import { ConcurrencyLimiter, type Release } from '../../../lib/common/scheduling/concurrency-limiter.js';
import { type Deferred, deferred, settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { toolContext } from '../../support/tool-context.js';

describe('ConcurrencyLimiter', () => {
  it('lets a number of attempts work at once, pauses the time limit of those that wait, and serves tenants in turn', async () => {
    const limiter = new ConcurrencyLimiter({ total: 1 });
    const log: string[] = [];
    const gates = new Map<string, Deferred<void>>();
    const enter = (tenantId: string, name: string): Promise<void> => {
      const pauseTimeout = () => {
        log.push(`${name} waits`);
        return () => void log.push(`${name} goes on`);
      };
      return limiter.run({ ...toolContext({ tenant_id: tenantId }), pauseTimeout }, () => {
        log.push(name);
        const gate = deferred<void>();
        gates.set(name, gate);
        return gate.promise;
      });
    };
    const all = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('b', 'b1')];
    for (const name of ['a1', 'a2', 'b1', 'a3']) {
      while (!gates.has(name)) await nextTick();
      gates.get(name)?.resolve(undefined);
    }
    await Promise.all(all);
    expect(log.filter((entry) => entry.length === 2)).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
    expect(log.filter((entry) => entry.startsWith('a2'))).to.deep.equal(['a2 waits', 'a2 goes on', 'a2']);
    expect(log).not.to.include('a1 waits');
  });

  it('drops an attempt that is aborted while it waits', async () => {
    const limiter = new ConcurrencyLimiter({ total: 1 });
    const gate = deferred<void>();
    const first = limiter.run(toolContext(), () => gate.promise);
    const context = toolContext();
    const second = catchRejection(limiter.run(context, () => Promise.resolve()));
    context.abort();
    expect(await second).to.be.instanceOf(ToolError);
    gate.resolve(undefined);
    await first;
    expect(await limiter.run(toolContext(), () => Promise.resolve('in'))).to.equal('in');
  });
});

describe('ConcurrencyLimiter.acquire (D25)', () => {
  let limiter: ConcurrencyLimiter;
  let begun: string[];
  let ends: Map<string, Release>;

  beforeEach(() => {
    limiter = new ConcurrencyLimiter({ total: 2, guaranteed: 1 });
    begun = [];
    ends = new Map();
  });

  /** Takes turns, each under the name of its tenant and a number. */
  async function take(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      void limiter.acquire({ tenant_id: name.split(' ')[0] ?? '' }).then((end) => {
        begun.push(name);
        ends.set(name, end);
      });
    }
    await settle();
  }

  async function end(name: string): Promise<void> {
    ends.get(name)?.();
    await settle();
  }

  it('lets a tenant have two turns at once, and its others wait in their order', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'alice 4');
    expect(begun).to.deep.equal(['alice 1', 'alice 2']);
    await end('alice 2');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'alice 3']);
    await end('alice 1');
    expect(begun.at(-1)).to.equal('alice 4');
  });

  it('lets another tenant have one while the first has used up all, but no more than four in all', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'bob 1', 'bob 2', 'carol 1', 'dave 1');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'bob 1', 'carol 1']);
    await end('alice 1');
    expect(begun.at(-1)).to.equal('dave 1');
  });

  it('serves the tenants that wait in turns', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'alice 4', 'bob 1', 'bob 2');
    for (const name of ['alice 1', 'alice 2', 'bob 1']) await end(name);
    expect(begun.slice(3)).to.deep.equal(['alice 3', 'bob 2']);
  });

  it('gives a tenant its guaranteed turn as soon as it has none, even if another takes the one that was left', async () => {
    await take('alice 1', 'alice 2', 'bob 1', 'bob 2', 'alice 3');
    await end('alice 1');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'bob 1']);
    await end('alice 2');
    expect(begun.slice(3)).to.deep.equal(['bob 2', 'alice 3']);
  });

  it('ends a turn once, however often that is said', async () => {
    await take('alice 1', 'alice 2', 'alice 3', 'alice 4');
    await end('alice 1');
    await end('alice 1');
    expect(begun).to.deep.equal(['alice 1', 'alice 2', 'alice 3']);
  });
});
