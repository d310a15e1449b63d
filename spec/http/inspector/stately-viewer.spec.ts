import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import { INSPECTOR_LIMITS } from '../../../lib/http/inspector/socket-limits.js';
import { StatelyViewer } from '../../../lib/http/inspector/stately-viewer.js';
import { ControlledRuns } from '../../runs/controlled-runs.js';

const TWO_WAVES =
  '{id: held, goal: be held, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}';

/** The part of a WebSocket that a viewer uses; the spec says how much its page has not read. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readonly CLOSED = 3;
  readyState = 1;
  bufferedAmount = 0;
  sent = 0;
  end: string | undefined;
  isTerminated = false;

  send(): void {
    this.sent++;
  }

  ping(_data?: unknown, _mask?: unknown, sent?: () => void): void {
    sent?.();
  }

  close(code: number, reason: string): void {
    this.end ??= `${code} ${reason}`;
    this.readyState = 2;
  }

  terminate(): void {
    this.isTerminated = true;
  }

  /** The page has answered. */
  finish(): void {
    this.readyState = 3;
    this.emit('close');
  }
}

/** Starts a run and watches it. */
async function watch(runs: ControlledRuns) {
  const runId = await runs.submit();
  const socket = new FakeSocket();
  const services = { clock: runs.clock, queries: runs.registry.queries };
  const received = { renew: () => {} };
  const watched = new StatelyViewer(socket as unknown as WebSocket, services, received).watch(runId);
  await runs.waitUntilIdle();
  return { runId, socket, watched };
}

describe('A page that the Stately inspector informs', () => {
  it('is closed with 1013 when it reads more slowly than the run goes, and is sent nothing more', async () => {
    const runs = new ControlledRuns({}, TWO_WAVES);
    const { runId, socket, watched } = await watch(runs);
    expect(socket.sent, 'actors that exist').to.equal(3);
    socket.bufferedAmount = INSPECTOR_LIMITS.bufferBytes - 10;
    runs.findCall(runId).resolve(1);
    await runs.waitUntilIdle();
    expect(socket.end).to.equal('1013 the page does not read as fast as the run goes');
    expect(socket.sent).to.equal(3);
    socket.bufferedAmount = 0;
    await runs.complete(runId);
    expect(socket.sent, 'after it was closed').to.equal(3);
    socket.finish();
    await watched;
    runs.clock.advance(2 * INSPECTOR_LIMITS.heartbeatMs);
    expect(socket.listenerCount('close')).to.equal(0);
  });

  it('may read what it was sent once the run has settled, for as long as it goes on reading', async () => {
    const runs = new ControlledRuns();
    const { runId, socket, watched } = await watch(runs);
    socket.bufferedAmount = 1000;
    await runs.complete(runId);
    expect(socket.end).to.equal('1000 the run has settled');
    socket.bufferedAmount = 500;
    runs.clock.advance(INSPECTOR_LIMITS.closeMs);
    expect(socket.isTerminated).to.equal(false);
    runs.clock.advance(INSPECTOR_LIMITS.closeMs);
    expect(socket.isTerminated, 'when it has stopped').to.equal(true);
    socket.finish();
    await watched;
    expect(runs.clock.pending).to.equal(0);
  });
});
