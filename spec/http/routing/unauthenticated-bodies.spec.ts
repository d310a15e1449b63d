import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { WavetrainError } from '../../../lib/common/errors.js';
import { UNPROVED_LIMITS } from '../../../lib/common/limits.js';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import {
  UnauthenticatedBodies,
  UnauthenticatedBody,
} from '../../../lib/http/routing/unauthenticated-bodies.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';

const MIB = 2 ** 20;
const KIB = 1024;
const WRONG = new WavetrainError('pipeline_not_found', 'wrong');

describe('The memory of bodies whose callers are not known yet (D71)', () => {
  let clock: ManualClock;
  let memory: MemoryPool;
  let bodies: UnauthenticatedBodies;
  let failed: number[];
  beforeEach(() => {
    clock = new ManualClock();
    memory = new MemoryPool({ total: 16 * MIB });
    bodies = new UnauthenticatedBodies(memory, clock);
    failed = [];
  });
  afterEach(() => expect(clock.pending).to.equal(0));

  interface Arrival {
    readonly body: UnauthenticatedBody;
    readonly request: PassThrough;
    readonly received: Promise<string>;
  }

  function begin(isRight = true): Arrival {
    const request = new PassThrough();
    const proof = {
      check: () => {
        if (!isRight) throw WRONG;
        return 'acme';
      },
      fail: (bytes: number) => void failed.push(bytes),
    };
    const body = new UnauthenticatedBody(bodies, proof);
    const received = body.receive(request as unknown as IncomingMessage, () => readText(request));
    // Most specs look at only some of the returned values, and not at a rejection.
    received.catch(() => undefined);
    return { body, request, received };
  }

  async function send({ request }: Arrival, bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= 64 * KIB) request.write('x'.repeat(Math.min(left, 64 * KIB)));
    await settle();
  }

  it('is that of the tenant from when the body has proved which one it is', async () => {
    const arrival = begin();
    await send(arrival, 65 * KIB);
    expect([memory.usedBy(''), memory.usedBy('acme')]).to.deep.equal([3 * 64 * KIB, 0]);
    arrival.request.end();
    expect(await arrival.received).to.have.length(65 * KIB);
    expect([memory.usedBy(''), memory.usedBy('acme')]).to.deep.equal([0, 2 * 64 * KIB]);
    expect(arrival.body.tenantId).to.equal('acme');
    arrival.body.release();
    expect(memory.usedBytes).to.equal(0);
    expect(failed).to.deep.equal([]);
  });

  it('is never more than an eighth of all, because the oldest bodies are refused', async () => {
    const arrivals = Array.from({ length: 50 }, () => begin());
    const used: number[] = [];
    for (const arrival of arrivals) {
      await send(arrival, 101 * KIB);
      used.push(memory.usedBytes);
    }
    expect(Math.max(...used)).to.equal(6 * 300 * KIB);
    for (const { received } of arrivals.slice(0, 44)) {
      expect(await catchRejection(received)).to.include({ code: 'memory_full' });
    }
    for (const { request } of arrivals) request.end();
    await Promise.all(arrivals.slice(44).map(({ received }) => received));
    for (const { body } of arrivals) body.release();
    expect(memory.usedBytes).to.equal(0);
  });

  it('is not taken from others by bodies that take none', async () => {
    const idle = Array.from({ length: 20 }, () => begin());
    for (const arrival of idle) await send(arrival, KIB);
    const large = begin();
    await send(large, 600 * KIB);
    const next = begin();
    await send(next, 600 * KIB);
    expect(await catchRejection(large.received)).to.include({ code: 'memory_full' });
    for (const { request } of [...idle, next]) request.end();
    await Promise.all([...idle, next].map(({ received }) => received));
    for (const { body } of [...idle, next]) body.release();
    expect(memory.usedBytes).to.equal(0);
  });

  it('is refused when others have used up all memory of the server', async () => {
    memory.reserve('acme', 16 * MIB, 'body');
    const arrival = begin();
    await send(arrival, 64 * KIB);
    expect(await catchRejection(arrival.received)).to.include({ code: 'memory_full' });
    expect(memory.usedBytes).to.equal(16 * MIB);
  });

  it('counts as a failure of as many bytes as have arrived, when the body is wrong, late, left or pushed out', async () => {
    const wrong = begin(false);
    await send(wrong, 2000);
    wrong.request.end();
    expect(await catchRejection(wrong.received)).to.equal(WRONG);

    const left = begin();
    await send(left, 1000);
    left.request.destroy(new Error('left'));
    await catchRejection(left.received);

    const late = begin();
    await send(late, 3000);
    clock.advance(UNPROVED_LIMITS.receiveMs);
    expect(await catchRejection(late.received)).to.include({ code: 'request_timeout' });

    const pushedOut = begin();
    await send(pushedOut, 600 * KIB);
    const next = begin();
    await send(next, 600 * KIB);
    await catchRejection(pushedOut.received);
    next.request.end();
    await next.received;

    expect(failed).to.deep.equal([2000, 1000, 3000, 600 * KIB]);
    for (const { body } of [wrong, left, late, pushedOut, next]) body.release();
    expect(memory.usedBytes).to.equal(0);
  });
});
