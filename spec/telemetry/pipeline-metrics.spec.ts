import { expect } from 'chai';
import type { RunStatus } from '../../machines/types.js';
import type { RunIdentity, SettledRun } from '../../lib/runs/run-entry.js';
import { Metrics } from '../../lib/telemetry/metrics.js';
import type { MeasuredFolder, MeasuredSchedule } from '../../lib/telemetry/pipeline-metrics.js';
import { ManualClock } from '../support/manual-clock.js';
import { FakeMonitor } from './fake-monitor.js';
import { readSamples, under } from './exposition.js';

const HOUR = 3_600_000;

describe('The metrics of runs by pipeline', () => {
  let clock: ManualClock;
  let metrics: Metrics;
  beforeEach(() => {
    clock = new ManualClock();
    metrics = new Metrics(new FakeMonitor(), clock);
  });
  afterEach(() => metrics.close());

  const identity = (id: string, more: Partial<RunIdentity> = {}): RunIdentity => ({
    run_id: 'r',
    tenant_id: 'default',
    pipeline_id: id,
    trigger: null,
    is_of_folder: false,
    ...more,
  });

  const emit = (status: RunStatus, run: RunIdentity): void =>
    metrics.onEvent({ seq: 1, time: '', run_id: 'r', kind: 'run', status }, run);

  const submit = (run: RunIdentity, times = 1): void => {
    for (let time = 0; time < times; time++) emit('queued', run);
  };

  const settle = (
    run: RunIdentity,
    status: RunStatus,
    finishedAt: number,
    startedAt: number | null = 0,
  ): void =>
    metrics.onSettled({
      tenantId: run.tenant_id,
      definitionId: run.pipeline_id,
      isOfFolder: run.is_of_folder,
      status,
      startedAt,
      finishedAt,
    } as SettledRun);

  /** A folder with these labels: an id, or a tenant and an id. */
  const folder = (labels: string[], schedules: MeasuredSchedule[] = []): MeasuredFolder => ({
    labelOf: (tenantId, id) => {
      const label = tenantId === 'default' ? id : `${tenantId}/${id}`;
      return labels.includes(label) ? label : undefined;
    },
    isLabel: (text) => labels.includes(text),
    list: () => labels.map((label) => ({ label, triggers: ['schedule' as const] })),
    schedules: () => schedules,
  });

  const queued = async (): Promise<Record<string, number>> => {
    const found = under(await readSamples(metrics), 'wavetrain_runs_total{pipeline="');
    const shown = Object.entries(found).filter(([key, value]) => key.includes('"queued"') && value > 0);
    return Object.fromEntries(
      shown.map(([key, value]) => [key.replace(/",status="queued",trigger="/, ' '), value]),
    );
  };

  it('count runs by status and by what has started them', async () => {
    submit(identity('a'), 2);
    submit(identity('a', { trigger: 'webhook' }));
    emit('failed', identity('a'));
    expect(under(await readSamples(metrics), 'wavetrain_runs_total{pipeline="a",')).to.deep.equal({
      ...Object.fromEntries(
        ['queued', 'running', 'succeeded', 'failed', 'cancelled'].flatMap((status) =>
          ['none', 'webhook'].map((trigger) => [`status="${status}",trigger="${trigger}"}`, 0]),
        ),
      ),
      'status="queued",trigger="none"}': 2,
      'status="failed",trigger="none"}': 1,
      'status="queued",trigger="webhook"}': 1,
    });
  });

  it('show the pipelines of the folder from 0 on, so that an alert sees their first failure', async () => {
    metrics.watchFolder(folder(['nightly', 'acme/nightly']));
    const samples = await readSamples(metrics);
    for (const label of ['nightly', 'acme/nightly'])
      for (const trigger of ['none', 'schedule'])
        expect(
          samples.get(`wavetrain_runs_total{pipeline="${label}",status="failed",trigger="${trigger}"}`),
        ).to.equal(0);
  });

  it('count runs as those of the folder only when they are of the folder', async () => {
    metrics.watchFolder(folder(['nightly', 'acme/nightly']));
    submit(identity('nightly', { is_of_folder: true }), 2);
    submit(identity('nightly', { tenant_id: 'acme', is_of_folder: true }), 3);
    submit(identity('nightly', { tenant_id: 'mallory' }), 4);
    expect(await queued()).to.deep.equal({
      'nightly none"}': 2,
      'acme/nightly none"}': 3,
      'other none"}': 4,
    });
  });

  it('name the hundred busiest of the others, and none of a flood of further ids', async () => {
    metrics.watchFolder(folder(['nightly']));
    for (let index = 0; index < 5000; index++) submit(identity(`flood${index}`, { tenant_id: 'mallory' }));
    submit(identity('mine'), 50);
    submit(identity('nightly', { is_of_folder: true }));
    const before = await queued();
    expect(Object.keys(before)).to.have.length(102);
    expect(before).to.include({ 'nightly none"}': 1, 'other none"}': 4950 });
    clock.advance(HOUR);
    await metrics.read();
    submit(identity('mine'));
    const after = await queued();
    expect(after).to.include({ 'mine none"}': 1, 'nightly none"}': 1 });
    expect(Object.keys(after)).to.have.length(102);
  });

  it('forget a pipeline that has left the folder, unless it is one of the busiest', async () => {
    metrics.watchFolder(folder(['nightly']));
    submit(identity('nightly', { is_of_folder: true }));
    expect(await queued()).to.deep.equal({ 'nightly none"}': 1 });
    metrics.watchFolder(folder([]));
    expect(await queued()).to.deep.equal({});
  });

  it('have a histogram of durations by status, without runs that have never begun', async () => {
    settle(identity('a'), 'succeeded', 1500);
    submit(identity('a'));
    settle(identity('a'), 'succeeded', 1500);
    settle(identity('a'), 'failed', 700_000);
    settle(identity('a'), 'cancelled', 5, null);
    const samples = under(await readSamples(metrics), 'wavetrain_run_duration_seconds_');
    expect(samples['count{pipeline="a",status="succeeded"}']).to.equal(1);
    expect(samples['count{pipeline="other",status="succeeded"}']).to.equal(1);
    expect(samples['sum{pipeline="a",status="failed"}']).to.equal(700);
    expect(samples['bucket{le="1",pipeline="a",status="succeeded"}']).to.equal(0);
    expect(samples['bucket{le="2.5",pipeline="a",status="succeeded"}']).to.equal(1);
    expect(samples['count{pipeline="a",status="cancelled"}']).to.equal(undefined);
  });

  it('count retries by pipeline', async () => {
    submit(identity('a'));
    metrics.onEvent(
      { seq: 2, time: '', run_id: 'r', kind: 'retry', task_id: 't', attempt: 1, delay_ms: 0, error: 'e' },
      identity('a'),
    );
    expect(under(await readSamples(metrics), 'wavetrain_run_retries_total')).to.deep.equal({
      '{pipeline="a"}': 1,
      '{pipeline="other"}': 0,
    });
  });

  it('say how late each schedule is, and when it has last succeeded', async () => {
    const schedules = [
      { label: 'nightly', lateMs: 90_000, succeededAt: 1_700_000_000_500 },
      { label: 'acme/weekly', lateMs: 0, succeededAt: null },
    ];
    metrics.watchFolder(folder(['nightly', 'acme/weekly'], schedules));
    expect(under(await readSamples(metrics), 'wavetrain_schedule_')).to.deep.equal({
      'lateness_seconds{pipeline="nightly"}': 90,
      'lateness_seconds{pipeline="acme/weekly"}': 0,
      'last_success_timestamp_seconds{pipeline="nightly"}': 1_700_000_000.5,
    });
  });
});
