import { expect } from 'chai';
import type { Log } from '../../../lib/http/logging/log.js';
import { PrunedRunReport } from '../../../lib/http/logging/pruned-run-report.js';
import type { PrunedRun, PruneReason } from '../../../lib/runs/store/run-archive.js';
import { Metrics } from '../../../lib/telemetry/metrics.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('What a server says of settled runs that it has deleted (D74)', () => {
  const prunedRun = (reason: PruneReason): PrunedRun => ({
    id: 'r',
    number: 1,
    createdAt: 1,
    tenantId: 'default',
    hasSettled: true,
    idempotency: undefined,
    priority: 0,
    status: 'succeeded',
    reason,
  });

  it('names the limit of each, in a metric at once and in a line of the log for each minute', async () => {
    const lines: string[] = [];
    const ignore = (): void => undefined;
    const log: Log = { debug: ignore, warn: ignore, error: ignore, info: (_, line) => lines.push(line) };
    const metrics = new Metrics();
    const clock = new ManualClock();
    const report = new PrunedRunReport(log, metrics, clock);
    report.add([prunedRun('keep'), prunedRun('keep')]);
    expect(lines).to.deep.equal(['2 settled runs deleted: more than "keep" of the definition allows']);
    report.add([prunedRun('keep'), prunedRun('age')]);
    report.add([prunedRun('age'), prunedRun('number'), prunedRun('bytes')]);
    expect(lines.splice(0)).to.have.length(1);
    clock.advance(60_000);
    expect(lines.splice(0)).to.deep.equal([
      '1 settled run deleted: more than "keep" of the definition allows',
      '2 settled runs deleted: more than SERVICE_RUN_TTL allows',
      '1 settled run deleted: more than SERVICE_RUN_KEEP allows',
      '1 settled run deleted: more than SERVICE_STORE_BYTES allows',
    ]);
    report.close();
    expect(lines).to.deep.equal([]);
    expect(await metrics.read()).to.match(/^wavetrain_runs_pruned_total\{reason="keep"\} 3$/m);
  });
});
