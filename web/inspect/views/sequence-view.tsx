import { useMemo, useState } from 'preact/hooks';
import { FilteredSequence, NO_FILTER } from '../model/sequence-filter.js';
import type { TimelineEntry } from '../model/timeline.js';
import { toneOf } from '../../shared/model/tones.js';
import type { RunSession } from '../session/run-session.js';
import { formatInteger, formatOffset } from '../../shared/model/format.js';
import { moveByKey, rowId, VirtualList } from '../../shared/views/virtual-list.js';

const ROW_HEIGHT = 22;

/** The events between the actors in their order; selecting one shows the run as it was then. */
export function SequenceView({ session }: { readonly session: RunSession }) {
  const version = session.version.value;
  const filter = session.filter.value;
  const cursor = session.cursor.value;
  const [follows, setFollows] = useState(true);
  const sequence = useMemo(() => new FilteredSequence(), [session]);
  sequence.update(session.timeline, filter);
  const { entries, types } = sequence;
  const shown = session.shownEntry;
  const isLive = cursor === null;
  const active = shown ? sequence.indexUpTo(shown.seq) : -1;
  const start = session.timeline.entries[0]?.time ?? 0;

  const select = (entry: TimelineEntry | undefined): void => {
    if (!entry) return;
    session.goTo({ seq: entry.seq });
    session.reveal(entry.actor);
  };
  const onKey = (key: string): boolean => {
    const next = moveByKey(key, active, entries.length);
    if (next !== undefined) select(entries[next]);
    return next !== undefined;
  };
  return (
    <section class="panel sequence" aria-label="Sequence">
      <h2>
        Sequence{' '}
        <span class="count">
          {entries.length === session.timeline.entries.length
            ? formatInteger(entries.length)
            : `${formatInteger(entries.length)} of ${formatInteger(session.timeline.entries.length)}`}
        </span>
        <span class="tools">
          <input
            type="search"
            aria-label="Filter by actor"
            placeholder="actor, item"
            title="Part of the path of an actor, or the number of an item"
            value={filter.actor}
            onInput={(event) => (session.filter.value = { ...filter, actor: event.currentTarget.value })}
          />
          <select
            aria-label="Filter by type of event"
            value={filter.event}
            onChange={(event) => (session.filter.value = { ...filter, event: event.currentTarget.value })}
          >
            <option value="">all events</option>
            {[...types].sort(compareNames).map(([type, count]) => (
              <option key={type} value={type}>
                {type} ({count})
              </option>
            ))}
          </select>
          <button
            type="button"
            aria-pressed={filter.below !== ''}
            title="Only this actor and those below it"
            onClick={() =>
              (session.filter.value = { ...filter, below: filter.below === '' ? session.shownActor : '' })
            }
          >
            {filter.below === '' ? 'Selected' : `Only ${nameOf(filter.below)}`}
          </button>
          {/* Nothing comes any more that could be followed. */}
          {session.feed.value.kind !== 'ended' && (
            <button
              type="button"
              aria-pressed={follows}
              title="Scroll to each new event while the page is at Live"
              onClick={() => setFollows(!follows)}
            >
              Follow
            </button>
          )}
        </span>
      </h2>
      {entries.length === 0 ? (
        <p class="empty">
          {session.timeline.entries.length === 0 ? 'No event yet.' : 'No event passes the filter. '}
          {session.timeline.entries.length > 0 && (
            <button type="button" onClick={() => (session.filter.value = NO_FILTER)}>
              Show all
            </button>
          )}
        </p>
      ) : (
        <VirtualList
          count={entries.length}
          rowHeight={ROW_HEIGHT}
          active={isLive && !follows ? -1 : active}
          follow={isLive ? (follows ? version : 'still') : cursor}
          role="listbox"
          label="Sequence of events"
          name="entry"
          onKey={onKey}
          renderRow={(index) => {
            const entry = entries[index];
            return entry ? (
              <Row
                key={entry.seq}
                entry={entry}
                index={index}
                start={start}
                isShown={entry === shown}
                isOfActor={entry.actor === session.shownActor}
                onSelect={() => select(entry)}
              />
            ) : null;
          }}
        />
      )}
    </section>
  );
}

interface RowProps {
  readonly entry: TimelineEntry;
  readonly index: number;
  readonly start: number;
  readonly isShown: boolean;
  readonly isOfActor: boolean;
  readonly onSelect: () => void;
}

function Row({ entry, index, start, isShown, isOfActor, onSelect }: RowProps) {
  const { seq, time, actor, event, source, from, state } = entry;
  return (
    <div
      id={rowId('entry', index)}
      class={`row entry${isShown ? ' selected' : ''}${isOfActor ? ' own' : ''}`}
      role="option"
      aria-selected={isShown}
      onClick={onSelect}
    >
      <span class="seq">{seq}</span>
      <span class="time">{formatOffset(time - start)}</span>
      <span class="between" title={`${source ?? 'outside'} → ${actor}`}>
        <bdi class="source">{source === null ? 'outside' : shorten(source)}</bdi>
        <span class="to" aria-label="to">
          →
        </span>
        <bdi>{shorten(actor)}</bdi>
      </span>
      <bdi class={event.startsWith('@') ? 'event quiet' : 'event'}>{event}</bdi>
      <span class="change">
        {from !== null && from !== state && <span class="from">{from} → </span>}
        <span class={from === state ? 'same' : toneOf(state)}>{state}</span>
      </span>
    </div>
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The last two parts of a path say enough. */
function shorten(path: string): string {
  return path.split('/').slice(-2).join('/');
}

function compareNames([a]: [string, number], [b]: [string, number]): number {
  return a < b ? -1 : 1;
}
