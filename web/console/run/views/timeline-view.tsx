import { useMemo, useState } from 'preact/hooks';
import { formatQuantity, formatInteger, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { moveByKey, rowId, VirtualList } from '../../../shared/views/virtual-list.js';
import { useNow } from '../../shell/use-now.js';
import { barsOf, listTimeTicks, type TimeScale } from '../model/timeline-bars.js';
import { shownStatus } from '../model/shown-status.js';
import type { TaskState } from '../model/task-states.js';
import type { FollowedRun } from '../followed-run.js';

const ROW_HEIGHT = 26;

/** When each task ran: a bar for each attempt or round, pale while it waits for the next one, red when it failed. */
export function TimelineView({ session }: { readonly session: FollowedRun }) {
  const record = session.record.value;
  const now = useNow(record?.finished_at == null);
  const version = session.version.value;
  const [onlyFailed, setOnlyFailed] = useState(false);
  const tasks = useMemo(
    () =>
      [...session.tasks.all()].filter(
        ({ status, error }) => !onlyFailed || shownStatus(status, error) === 'failed',
      ),
    [session, version, onlyFailed],
  );
  const selection = session.view.value.selection;
  const [active, setActive] = useState(-1);
  const start = Date.parse(record?.started_at ?? record?.created_at ?? '') || now;
  const end = record?.finished_at == null ? now : Date.parse(record.finished_at);
  const scale = { start, length: Math.max(1, end - start) };
  const isSelected = (task: TaskState): boolean =>
    selection?.taskId === task.taskId && selection.subPipeline === task.subPipeline;
  const show = (task: TaskState | undefined): void => {
    if (task !== undefined)
      session.show({ selection: { taskId: task.taskId, subPipeline: task.subPipeline } });
  };
  return (
    <div class="timeline">
      <div class="timeline-head">
        <label class="check">
          <input type="checkbox" checked={onlyFailed} onChange={() => setOnlyFailed(!onlyFailed)} /> Only
          failed
        </label>
        <span class="src">{formatQuantity(tasks.length, 'task')}</span>
        <div class="ticks" aria-hidden="true">
          {listTimeTicks(scale).map((at) => (
            <span key={at} style={{ left: `${(100 * at) / scale.length}%` }}>
              {formatTook(at)}
            </span>
          ))}
        </div>
      </div>
      {tasks.length === 0 ? (
        <p class="empty">{onlyFailed ? 'No task has failed.' : 'There are no tasks.'}</p>
      ) : (
        <VirtualList
          count={tasks.length}
          rowHeight={ROW_HEIGHT}
          active={active}
          follow={active}
          role="listbox"
          label="Tasks, in the order of the waves"
          name="bar"
          renderRow={(index) => {
            const task = tasks[index];
            if (task === undefined) return null;
            const status = shownStatus(task.status, task.error, task.skipReason);
            return (
              <div
                key={task.key}
                id={rowId('bar', index)}
                role="option"
                aria-selected={isSelected(task)}
                class={`row bar-row${isSelected(task) ? ' selected' : ''}${index === active ? ' active' : ''}`}
                onClick={() => {
                  setActive(index);
                  show(task);
                }}
              >
                <span class="bar-name">
                  <span class={`dot ${toneOf(status)}`} aria-hidden="true" />
                  <bdi>{task.key}</bdi>
                  <span class="hidden-text">, {status}, </span>
                </span>
                <Bars task={task} scale={scale} now={now} />
              </div>
            );
          }}
          onKey={(key) => {
            if (key === 'Enter' || key === ' ') {
              show(tasks[active]);
              return true;
            }
            const next = moveByKey(key, active, tasks.length);
            if (next !== undefined) setActive(next);
            return next !== undefined;
          }}
        />
      )}
    </div>
  );
}

interface BarsProps {
  readonly task: TaskState;
  readonly scale: TimeScale;
  readonly now: number;
}

function Bars({ task, scale, now }: BarsProps) {
  const bars = barsOf(task, now);
  const last = bars.at(-1);
  const percent = (time: number): number => (100 * (time - scale.start)) / scale.length;
  return (
    <span class="bars">
      {bars.map(({ kind, start, end }) => (
        <span
          key={`${kind}${start}`}
          class={`bar ${kind}`}
          style={{
            left: `${percent(start)}%`,
            width: `${percent(end) - percent(start)}%`,
          }}
        />
      ))}
      {last !== undefined && (
        <span class="bar-label" style={{ left: `${percent(last.end)}%` }}>
          {labelOf(task, now)}
        </span>
      )}
    </span>
  );
}

function labelOf(
  { startedAt, finishedAt, isReused, isCached, items, attempts, rounds }: TaskState,
  now: number,
): string {
  if (isReused) return 'reused';
  if (isCached) return 'cached';
  const took = startedAt === null ? '' : formatTook((finishedAt ?? now) - startedAt);
  if (items !== null)
    return `${took} · ${formatInteger(items.succeeded + items.failed)}/${formatInteger(items.total)}`;
  if (rounds !== null && rounds > 1) return `${took} · ${rounds} rounds`;
  return attempts.length > 1 ? `${took} · ${attempts.length} attempts` : took;
}
