import { useEffect, useState } from 'preact/hooks';
import type { ItemCounts, ItemPage, ItemRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatInteger, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { messageOf } from '../../../shared/server/server.js';
import { useJson } from '../../../shared/server/use-json.js';
import { type TaskSelection, valuesPath } from '../model/addresses.js';
import type { FollowedRun } from '../run-session.js';

const STATUSES = ['failed', 'running', 'pending', 'skipped', 'succeeded'] as const;

/** Items that one request reads. */
const PER_PAGE = 100;

const REFRESH_MS = 2000;

interface ItemListProps {
  readonly session: FollowedRun;
  readonly selection: TaskSelection;
  readonly counts: ItemCounts;
}

/** The items of a fan-out, page by page; at first those that have failed, if there are any. */
export function ItemList({ session, selection, counts }: ItemListProps) {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const status = chosen ?? (counts.failed > 0 ? 'failed' : '');
  const query = { values: 'false', limit: String(PER_PAGE), ...(status !== '' && { status }) };
  const { subPipeline, taskId } = selection;
  const task: TaskSelection = { taskId, ...(subPipeline !== undefined && { subPipeline }) };
  const pathOf = (more: Record<string, string>): string => {
    const [path, search] = valuesPath(task, { ...query, ...more }).split('?');
    return session.path(`${path}/items?${search}`);
  };
  const isAtWork = counts.running > 0 || counts.pending > 0;
  const { value: page, problem } = useJson<ItemPage>(session.server, pathOf({}), {
    refreshMs: isAtWork ? REFRESH_MS : 0,
    keep: true,
  });
  const more = useMore(session, pathOf, status);
  const items = [...(page?.items ?? []), ...more.items];
  const cursor = more.cursor === undefined ? (page?.next_cursor ?? null) : more.cursor;
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
              {name} {formatInteger(counts[name])}
            </button>
          ))}
        </span>
      </h3>
      {(problem || more.problem) !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem || more.problem}</bdi>
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
        <button type="button" class="link" disabled={more.isBusy} onClick={() => more.read(cursor)}>
          Show more items
        </button>
      )}
    </section>
  );
}

function ItemRow({ item, onShow }: { readonly item: ItemRecord; readonly onShow: () => void }) {
  const { status, started_at, finished_at, attempts, value, error, reused, cached } = item;
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
      {error && <bdi class="failed">{error.message.slice(0, 300)}</bdi>}
    </button>
  );
}

/** The pages after the first one. */
function useMore(session: FollowedRun, pathOf: (more: Record<string, string>) => string, status: string) {
  const [items, setItems] = useState<readonly ItemRecord[]>([]);
  /** Undefined until a further page was read. */
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    setItems([]);
    setCursor(undefined);
    setProblem('');
  }, [status]);
  const read = (from: string): void => {
    setBusy(true);
    session.server
      .getJson<ItemPage>(pathOf({ cursor: from }))
      .then((page) => {
        setItems((known) => [...known, ...page.items]);
        setCursor(page.next_cursor);
      })
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => setBusy(false));
  };
  return { items, cursor, problem, isBusy, read };
}
