import { useEffect, useState } from 'preact/hooks';
import type { ItemCounts, ItemPage, ItemRecord } from '../../../lib/runs/tasks/task-record.js';
import { actorOfTask, type TaskAddress } from '../model/addresses.js';
import { formatInteger } from '../../shared/model/format.js';
import { ServerError } from '../../shared/server/server.js';
import { toneOf } from '../../shared/model/tones.js';
import type { RunSession } from '../session/run-session.js';

interface ItemLinksProps {
  readonly session: RunSession;
  readonly task: TaskAddress;
  readonly counts: ItemCounts;
}

const MOST_LINKS = 20;

/** The items of a fan-out, which have the inputs: the failed ones first, and any other by its number. */
export function ItemLinks({ session, task, counts }: ItemLinksProps) {
  const [failed, setFailed] = useState<readonly ItemRecord[]>([]);
  const { total } = counts;
  const path = failedPath(session, task);
  useEffect(() => {
    if (counts.failed === 0) return;
    const end = new AbortController();
    session.server
      .getJson<ItemPage>(path, {}, end.signal)
      .then(({ items }) => setFailed(items))
      .catch((error: unknown) => {
        // The counts are there all the same.
        if (!end.signal.aborted && !(error instanceof ServerError)) throw error;
      });
    return () => end.abort();
  }, [session, path, counts.failed]);

  const show = (item: number): void => {
    const { taskId, subPipeline } = task;
    session.reveal(
      actorOfTask({
        task_id: taskId,
        item,
        ...(subPipeline !== undefined && { sub_pipeline: subPipeline }),
      }),
    );
  };
  return (
    <>
      <h3>Items</h3>
      <p class="about">
        {formatInteger(total)}
        {counts.failed > 0 && `, ${formatInteger(counts.failed)} failed`}: each has inputs of its own.{' '}
        <label>
          Show item{' '}
          <input
            type="number"
            min={0}
            max={Math.max(0, total - 1)}
            onChange={({ currentTarget: { value, valueAsNumber } }) => {
              if (value !== '' && valueAsNumber >= 0 && valueAsNumber < total)
                show(Math.floor(valueAsNumber));
            }}
          />
        </label>
      </p>
      {failed.length > 0 && (
        <ul class="failed-items">
          {failed.map(({ item, error }) => (
            <li key={item}>
              <button type="button" class="link" onClick={() => show(item)}>
                item {item}
              </button>{' '}
              <span class={toneOf('failed')}>
                <bdi>{error?.message ?? 'failed'}</bdi>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function failedPath(session: RunSession, { taskId, subPipeline }: TaskAddress): string {
  const query = new URLSearchParams({
    status: 'failed',
    limit: String(MOST_LINKS),
    ...(subPipeline !== undefined && { sub_pipeline: subPipeline }),
  });
  return session.path(`/tasks/${encodeURIComponent(taskId)}/items?${query}`);
}
