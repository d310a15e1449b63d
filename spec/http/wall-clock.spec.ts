import { expect } from 'chai';
import type { LiveEvent } from '../../lib/execution/events/event.js';
import type { RunRecord } from '../../lib/runs/record.js';
import { ControlledServer } from './support/controlled-server.js';

const DAY_MS = 86_400_000;
const STEPS = [
  ['2 seconds back', -2000],
  ['a day forward', DAY_MS],
] as const;

/** Returns the values of all samples of a metric. */
function readSamples(exposition: string, name: string): number[] {
  return exposition
    .split('\n')
    .filter((line) => line.startsWith(name))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
}

/** The record's times and those of its events, in the order in which they must be. */
function timesOf({ created_at, started_at, finished_at, events }: RunRecord): string[] {
  const eventTimes = (events ?? []).map(({ time }) => time);
  return [created_at, started_at ?? '', ...eventTimes, finished_at ?? ''];
}

describe('A server whose wall clock is set while it runs (D27)', () => {
  const held = new ControlledServer();
  const startMs = held.clock.now();

  before(() => held.open({ env: { SERVICE_RUN_TTL: '86400' } }));
  afterEach(() => held.clear());
  after(() => held.close());

  /** Runs two waves, and sets the wall clock within the first one. */
  async function runThroughStep(runId: string, stepMs: number): Promise<void> {
    held.clock.advance(300);
    held.clock.stepWall(stepMs);
    held.clock.advance(200);
    await held.complete(runId);
    held.clock.advance(500);
    await held.complete(runId);
  }

  for (const [title, stepMs] of STEPS) {
    it(`measures a run while the clock steps ${title}, in its record, its events and its result`, async () => {
      const createdMs = held.clock.now();
      const runId = await held.submit(undefined, { collect_events: true });
      await runThroughStep(runId, stepMs);
      const record = await held.poll(runId);
      expect(record.status).to.equal('succeeded');
      const times = timesOf(record);
      expect(times).to.deep.equal(times.toSorted());
      expect(times.at(-1)).to.equal(new Date(createdMs + 1000).toISOString());
      const durations = record.events?.flatMap(({ duration_ms }) => duration_ms ?? []);
      expect(durations).to.deep.equal([500, 500]);
      const path = `/pipelines/runs/${runId}/events`;
      const { status, body } = await held.server.request<{ events: LiveEvent[] }>('GET', path, undefined, {
        accept: 'application/json',
      });
      expect(status).to.equal(200);
      const eventTimes = body.events.map(({ time }) => time);
      expect(eventTimes).to.deep.equal(eventTimes.toSorted());
    });

    it(`answers a synchronous run and counts its request while the clock steps ${title}`, async () => {
      const tasks = [{ id: 'a', tool: 'controlled' }];
      const answer = held.request('POST', '/pipelines/run', {
        pipeline: { id: 'p', goal: 'g', tasks },
        collect_events: true,
      });
      while (held.controlled.calls.length === 0) await held.waitUntilIdle();
      held.clock.advance(100);
      held.clock.stepWall(stepMs);
      held.controlled.last.resolve('done');
      const { status, body } = await answer;
      expect(status, JSON.stringify(body)).to.equal(200);
      const metrics = await held.request<string>('GET', '/metrics');
      for (const name of [
        'wavetrain_task_duration_seconds_sum',
        'wavetrain_http_request_duration_seconds_sum',
      ])
        for (const seconds of readSamples(metrics.body, name)) expect(seconds).to.be.within(0, 10);
      const durations = held.server.log.flatMap(({ facts }) => facts['duration_ms'] ?? []);
      for (const durationMs of durations) expect(durationMs).to.be.within(0, 10_000);
    });
  }

  it('keeps settled runs for as long as SERVICE_RUN_TTL says, whichever way the clock steps (D26)', async () => {
    const runId = await held.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
    await held.complete(runId);
    held.clock.stepWall(10 * DAY_MS);
    expect((await held.poll(runId)).status).to.equal('succeeded');
    held.clock.stepWall(-20 * DAY_MS);
    held.clock.advance(DAY_MS - 1);
    expect((await held.poll(runId)).status).to.equal('succeeded');
    held.clock.advance(1);
    const { status } = await held.request('GET', `/pipelines/runs/${runId}`);
    expect(status).to.equal(404);
    expect(held.clock.now()).to.be.lessThan(startMs);
  });
});
