import { useEffect, useState } from 'preact/hooks';
import type { ItemCounts, ItemPage, ItemRecord, TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatInteger, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { messageOf } from '../../../shared/server/server.js';
import { useJson } from '../../../shared/server/use-json.js';
import type { TaskSelection } from '../model/addresses.js';
import { addItemPage, itemsPath, type ReadItems, startItems } from '../model/item-pages.js';
import { shownStatus } from '../model/shown-status.js';
import { WaitText } from '../../shell/wait-text.js';
import type { FollowedRun } from '../followed-run.js';

const STATUSES = ['failed', 'running', 'pending', 'skipped', 'succeeded'] as const;

const REFRESH_MS = 2000;

interface ItemListProps {
  readonly session: FollowedRun;
  readonly selection: TaskSelection;
  readonly counts: ItemCounts;
  /** The status of the task. */
  readonly taskStatus: TaskRecord['status'];
}

/** The items of a fan-out, page by page; at first those that have failed, if there are any. */
export function ItemList({ session, selection, counts, taskStatus }: ItemListProps) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const status = chosen ?? (counts.failed > 0 ? 'failed' : '');
  const { taskId, subPipeline } = selection;
  const task: TaskSelection = { taskId, subPipeline };
  const isAtWork = counts.running > 0 || counts.pending > 0;
  const { items, cursor, problem, isBusy, readMore } = useItems(session, task, status, isAtWork);
  return (
    <section class="items" aria-label="Items">
      <h3>
        Items
        <span class="statuses" role="group" aria-label="Status of the items">
          <button type="button" aria-pressed={status === ''} onClick={() => setChosen('')}>
            all {formatInteger(counts.total)}
          </button>
          {STATUSES.filter((name) => counts[name] > 0).map((name) => (
            <button key={name} type="button" aria-pressed={status === name} onClick={() => setChosen(name)}>
              {name === 'skipped' && taskStatus !== 'succeeded' ? 'not run' : name}{' '}
              {formatInteger(counts[name])}
            </button>
          ))}
        </span>
      </h3>
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      <ul>
        {items.map((item) => (
          <li key={item.item}>
            <ItemRow item={item} onShow={() => session.show({ selection: { ...task, item: item.item } })} />
          </li>
        ))}
      </ul>
      {cursor !== null && items.length > 0 && (
        <button type="button" class="link" disabled={isBusy} onClick={() => readMore(cursor)}>
          Show more items
        </button>
      )}
    </section>
  );
}

function ItemRow({ item, onShow }: { readonly item: ItemRecord; readonly onShow: () => void }) {
  const { started_at, finished_at, attempts, value, error, reused, cached } = item;
  const status = shownStatus(item.status, error?.message, item.skip_reason);
  const took =
    started_at === null || finished_at === null
      ? ''
      : formatTook(Date.parse(finished_at) - Date.parse(started_at));
  return (
    <button type="button" class="item-row" onClick={onShow}>
      <span class={`dot ${toneOf(status)}`} aria-hidden="true" />
      <span class="number">{item.item}</span>
      <bdi class="label">{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
      <span class="src">
        {[
          status,
          reused && 'reused',
          cached && 'cached',
          attempts.length > 1 && `${attempts.length} attempts`,
          took,
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
      {item.waiting_for !== undefined && (
        <span class="src">
          <WaitText wait={item.waiting_for} />
        </span>
      )}
      {item.skip_reason !== undefined && <bdi class="src">{item.skip_reason}</bdi>}
      {error && status === 'failed' && <bdi class="failed">{error.message.slice(0, 300)}</bdi>}
    </button>
  );
}

/** The first page, which is read again while items are at work, and those that the reader asks for. */
function useItems(session: FollowedRun, task: TaskSelection, status: string, isAtWork: boolean) {
  const [read, setRead] = useState<ReadItems>(startItems(status));
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const first = useJson<ItemPage>(session.server, session.path(itemsPath(task, status)), {
    refreshMs: isAtWork ? REFRESH_MS : 0,
    keep: true,
  });
  useEffect(() => {
    const page = first.value;
    if (page === undefined) return;
    // Items of another status stay until the first page of this one is there.
    setRead((known) => addItemPage(known.status === status ? known : startItems(status), page));
  }, [first.value]);
  useEffect(() => setProblem(''), [status]);
  const readMore = (cursor: string): void => {
    const after = read.items.at(-1)?.item;
    setBusy(true);
    session.server
      .getJson<ItemPage>(session.path(itemsPath(task, status, cursor)))
      .then((page) => setRead((known) => (known.status === status ? addItemPage(known, page, after) : known)))
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => setBusy(false));
  };
  const { items } = read;
  const cursor = read.status === status ? read.cursor : null;
  return { items, cursor, problem: first.problem || problem, isBusy, readMore };
}
