import type { PlacedBox } from '../../../../lib/pipelines/drawing/wave-layout.js';
import { formatInteger, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { useNow } from '../../shell/use-now.js';
import { shownStatus } from '../model/shown-status.js';
import { type TaskState, waitsForRetry } from '../model/task-states.js';

/** How a task is linked with the one that the reader looks at. */
export type Nearness = 'before' | 'after';

interface TaskCardProps {
  readonly id: string;
  readonly task: TaskState;
  readonly placed: PlacedBox;
  /** What it depends on, in words. */
  readonly links: string;
  readonly isSelected: boolean;
  /** The one that the Tab key leads to. */
  readonly isActive: boolean;
  readonly near: Nearness | undefined;
  readonly onShow: () => void;
  readonly onHover: (isOn: boolean) => void;
  readonly onFocus: (isOn: boolean) => void;
}

/** A task in the graph: how it stands, how long it took, and of a fan-out how many items are done. */
export function TaskCard(props: TaskCardProps) {
  const { id, task, placed, links, isSelected, isActive, near, onShow, onHover, onFocus } = props;
  const { taskId, tool, items } = task;
  const status = shownStatus(task.status, task.error);
  const now = useNow(status === 'running');
  const isWaiting = waitsForRetry(task, now);
  const label = isWaiting ? 'waiting' : status;
  const tone = toneOf(isWaiting ? 'paused' : status);
  const classes = [
    'task-card',
    tone,
    task.isFanOut && 'fan-out',
    isSelected && 'selected',
    near && `near ${near}`,
  ];
  return (
    <button
      type="button"
      id={id}
      class={classes.filter(Boolean).join(' ')}
      style={{ left: `${placed.x}px`, top: `${placed.y}px` }}
      tabIndex={isActive ? 0 : -1}
      aria-pressed={isSelected}
      title={task.error ?? `${taskId}: ${tool}`}
      onClick={onShow}
      onMouseEnter={() => onHover(true)}
      onMouseLeave={() => onHover(false)}
      onFocus={() => onFocus(true)}
      onBlur={() => onFocus(false)}
    >
      <span class="name">
        <span class={`dot ${tone}`} aria-hidden="true" />
        <bdi>{taskId}</bdi>
      </span>
      <span class="line">
        <bdi class="tool">{tool}</bdi>
        <span class="card-state">{formatState(task, now)}</span>
      </span>
      <span class="hidden-text">
        , {label}, wave {placed.wave + 1}, {links}
      </span>
      {items !== null && items.total > 0 && (
        <span class="items-bar" aria-hidden="true">
          <span class="done" style={{ width: `${(100 * items.succeeded) / items.total}%` }} />
          <span class="failed" style={{ width: `${(100 * items.failed) / items.total}%` }} />
        </span>
      )}
    </button>
  );
}

function formatState(task: TaskState, now: number): string {
  const { items, isReused, isCached, startedAt, finishedAt, attempts, retryAt } = task;
  const status = shownStatus(task.status, task.error);
  const parts: string[] = [];
  if (items !== null) {
    // The items that were aborted count as failed ones.
    const failed = status === 'aborted' ? 0 : items.failed;
    parts.push(`${formatInteger(items.succeeded + failed)}/${formatInteger(items.total)}`);
    if (failed > 0) parts.push(`${formatInteger(failed)} failed`);
  }
  if (isReused) parts.push('reused');
  else if (isCached) parts.push('cached');
  else if (retryAt !== null && retryAt > now) parts.push(`retry in ${formatTook(retryAt - now)}`);
  else if (startedAt !== null) parts.push(formatTook((finishedAt ?? now) - startedAt));
  if (attempts.length > 1 && items === null) parts.push(`attempt ${attempts.length}`);
  if (status === 'skipped' || status === 'aborted') parts.push(status);
  return parts.join(' · ');
}
