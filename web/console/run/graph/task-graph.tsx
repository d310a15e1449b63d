import { formatInteger, formatTook } from '../../../shared/model/format.js';
import { type Tone, toneOf } from '../../../shared/model/tones.js';
import { useNow } from '../../shell/use-now.js';
import { formatSelection } from '../model/addresses.js';
import { shownStatus } from '../model/shown-status.js';
import { roundOf, type RunPart, type TaskState, waitsForRetry } from '../model/task-states.js';
import type { FollowedRun } from '../followed-run.js';
import { GraphCard, type PlacedCard } from './graph-card.js';
import { WaveCanvas } from './wave-canvas.js';

interface TaskGraphProps {
  readonly session: FollowedRun;
  readonly part: RunPart;
  /** True when the graph is all there is on the tab, and takes its height. */
  readonly isWhole?: boolean;
  /** Default true. */
  readonly hasZoomButtons?: boolean;
}

/** The tasks of a pipeline by waves; a click on one shows it beside the graph. */
export function TaskGraph({ session, part, isWhole = false, hasZoomButtons = true }: TaskGraphProps) {
  const { graph, subPipeline } = part;
  void session.version.value;
  const { selection } = session.view.value;
  const taskOf = (taskId: string): TaskState | undefined =>
    session.tasks.get(formatSelection({ taskId, subPipeline }));
  return (
    <WaveCanvas
      graph={graph}
      name={`task-${subPipeline ?? ''}`}
      label="Tasks by wave"
      selected={selection?.subPipeline === subPipeline ? selection?.taskId : undefined}
      isWhole={isWhole}
      hasZoomButtons={hasZoomButtons}
      zoom={session.zoom}
      toneOfCard={(id, now) => {
        const task = taskOf(id);
        return task && toneOfTask(task, now);
      }}
      onShow={(taskId) => session.show({ selection: { taskId, subPipeline } })}
      onClose={() => session.show({ selection: undefined })}
      renderCard={(card) => {
        const task = taskOf(card.placed.id);
        return task && <TaskCard key={card.id} task={task} card={card} />;
      }}
    />
  );
}

/** A task in the graph: how it stands, how long it took, and of a fan-out how many items are done. */
function TaskCard({ task, card }: { readonly task: TaskState; readonly card: PlacedCard }) {
  const { taskId, tool, items } = task;
  const status = shownStatus(task.status, task.error, task.skipReason);
  const now = useNow(status === 'running');
  return (
    <GraphCard
      card={card}
      name={taskId}
      tone={toneOfTask(task, now)}
      status={waitsForRetry(task, now) ? 'waiting' : status}
      title={task.error ?? task.skipReason ?? `${taskId}: ${tool}`}
      isFanOut={task.isFanOut}
    >
      <span class="line">
        <bdi class="tool">{tool}</bdi>
        <span class="card-state">{formatState(task, now)}</span>
      </span>
      {items !== null && items.total > 0 && (
        <span class="items-bar" aria-hidden="true">
          <span class="done" style={{ width: `${(100 * items.succeeded) / items.total}%` }} />
          {status !== 'aborted' && (
            <span class="failed" style={{ width: `${(100 * items.failed) / items.total}%` }} />
          )}
        </span>
      )}
    </GraphCard>
  );
}

function toneOfTask(task: TaskState, now: number): Tone {
  return toneOf(waitsForRetry(task, now) ? 'paused' : shownStatus(task.status, task.error, task.skipReason));
}

function formatState(task: TaskState, now: number): string {
  const { items, isReused, isCached, startedAt, finishedAt, attempts, retryAt } = task;
  const status = shownStatus(task.status, task.error, task.skipReason);
  const round = roundOf(task, now);
  const parts: string[] = [];
  if (items !== null) {
    // The items that were aborted count as failed ones.
    const failed = status === 'aborted' ? 0 : items.failed;
    parts.push(`${formatInteger(items.succeeded + failed + items.skipped)}/${formatInteger(items.total)}`);
    if (failed > 0) parts.push(`${formatInteger(failed)} failed`);
    if (items.skipped > 0) parts.push(`${formatInteger(items.skipped)} skipped`);
  }
  if (isReused) parts.push('reused');
  else if (isCached) parts.push('cached');
  else if (retryAt !== null && retryAt > now)
    parts.push(`${round === undefined ? 'retry' : 'next'} in ${formatTook(retryAt - now)}`);
  else if (startedAt !== null && status !== 'skipped')
    parts.push(formatTook((finishedAt ?? now) - startedAt));
  if (round !== undefined) parts.push(`round ${formatInteger(round)}`);
  else if (attempts.length > 1 && items === null) parts.push(`attempt ${attempts.length}`);
  if (status === 'not run' || status === 'aborted' || status === 'skipped') parts.push(status);
  return parts.join(' · ');
}
