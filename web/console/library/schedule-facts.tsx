import { pathOfRun } from '../../../lib/common/wire/run-summary.js';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { NamedPipeline, ShownSchedule } from '../../../lib/library/named-pipeline.js';
import { formatAgo, formatTimeInZone, formatTimeThere } from '../../shared/model/format.js';
import { messageOf, type Server } from '../../shared/server/server.js';

interface ScheduleFactsProps {
  readonly schedule: ShownSchedule;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly pausing: ComponentChildren;
}

/** When a pipeline starts by itself, and what became of the last time. */
export function ScheduleFacts({ schedule, now, pausing }: ScheduleFactsProps) {
  return (
    <>
      <div>
        <dt>Schedule</dt>
        <dd>
          <code>{schedule.cron.join(', ')}</code> {schedule.timezone}
          {schedule.overlap !== 'skip' && `, overlap: ${schedule.overlap}`}
          {schedule.paused && ', paused'} {pausing}
        </dd>
      </div>
      {!schedule.paused && (
        <div>
          <dt>Next</dt>
          <dd>
            <NextRun schedule={schedule} />
          </dd>
        </div>
      )}
      {schedule.last !== null && (
        <div>
          <dt>Last due</dt>
          <dd>
            {formatAgo(schedule.last.due_at, now)}:{' '}
            {schedule.last.run_id === null ? (
              schedule.last.outcome
            ) : (
              <a href={pathOfRun(schedule.last.run_id)}>{schedule.last.outcome}</a>
            )}
            {schedule.last.reason !== undefined && <span class="src"> {schedule.last.reason}</span>}
            {schedule.last.missed !== undefined && schedule.last.missed > 1 && (
              <span class="src"> {schedule.last.missed} times</span>
            )}
          </dd>
        </div>
      )}
    </>
  );
}

function NextRun({ schedule: { next_runs, timezone } }: { readonly schedule: ShownSchedule }) {
  const [next] = next_runs;
  if (next === undefined) return 'never';
  const there = formatTimeThere(next, timezone);
  return (
    <>
      <time dateTime={next} title={next_runs.map(formatTimeInZone).join('\n')}>
        {formatTimeInZone(next)}
      </time>
      {there !== undefined && (
        <span class="src">
          , {there} in {timezone}
        </span>
      )}
    </>
  );
}

interface PauseButtonProps {
  readonly server: Server;
  readonly named: NamedPipeline;
  /** Called when the file says otherwise now. */
  readonly onChange: () => void;
}

/** Pauses or resumes a schedule, in its file (D72). */
export function PauseButton({ server, named: { id, tenant_id, schedule }, onChange }: PauseButtonProps) {
  const [problem, setProblem] = useState('');
  const [isSaving, setSaving] = useState(false);
  if (schedule === null) return null;
  const change = (): void => {
    setSaving(true);
    setProblem('');
    const path = `/pipelines/${encodeURIComponent(id)}/${schedule.paused ? 'resume' : 'pause'}`;
    server
      .post(path, tenant_id === 'default' ? {} : { tenant_id })
      .then(onChange)
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => setSaving(false));
  };
  return (
    <>
      <button type="button" disabled={isSaving} onClick={change}>
        {schedule.paused ? 'Resume' : 'Pause'}
      </button>
      {problem !== '' && (
        <span class="failed" role="alert">
          {' '}
          <bdi>{problem}</bdi>
        </span>
      )}
    </>
  );
}
