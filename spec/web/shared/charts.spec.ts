import { expect } from 'chai';
import { RunSession } from '../../../web/inspect/session/run-session.js';
import { Server } from '../../../web/shared/server/server.js';
import { ManualScheduler } from './manual-scheduler.js';
import { Streams } from './streams.js';
import { eventually } from '../waiting.js';

const CHARTS = '/inspect/statecharts.json';

describe('The statecharts of the inspector', () => {
  it('are read again when the connection broke while they came', async () => {
    const frames = new ManualScheduler();
    const streams = new Streams();
    let isBroken = true;
    streams.answer = (path) => (path === CHARTS ? [{ id: 'run' }] : { run_id: 'r1', status: 'running' });
    const fetchBroken: typeof fetch = async (path, init) => {
      const response = await streams.fetch(path, init);
      return isBroken && path === CHARTS ? new Response(brokenOff()) : response;
    };
    const server = new Server({ getItem: () => null, setItem: () => {} }, fetchBroken);
    const session = new RunSession(server, 'r1', frames, '');
    session.start();
    await eventually(() => frames.waits.some(({ milliseconds }) => milliseconds === 1000));
    isBroken = false;
    frames.waits.find(({ milliseconds }) => milliseconds === 1000)?.end();
    await eventually(() => session.charts.value.length === 1);
    expect(session.problem.value).to.equal('');
    session.close();
  });
});

/** A body whose connection breaks after its first bytes. */
function brokenOff(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('[{'));
      controller.error(new TypeError('network error'));
    },
  });
}
