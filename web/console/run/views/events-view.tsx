import { useMemo, useState } from 'preact/hooks';
import type { LiveEvent } from '../../../../lib/execution/events/event.js';
import { formatInteger, formatOffset } from '../../../shared/model/format.js';
import { moveByKey, rowId, VirtualList } from '../../../shared/views/virtual-list.js';
import { describeEvent, type EventFilter, filterEvents, nameOfEvent } from '../model/event-list.js';
import type { FollowedRun } from '../followed-run.js';

const ROW_HEIGHT = 22;

/** The events of the run, in order; the list follows new ones until it is paused. */
export function EventsView({ session }: { readonly session: FollowedRun }) {
  const version = session.version.value;
  const [filter, setFilter] = useState<EventFilter>({ text: '', kind: '' });
  /** The events as they were when the reader paused the list. */
  const [paused, setPaused] = useState<readonly LiveEvent[] | undefined>(undefined);
  /** The `seq` of the event that the keys act on: its place changes with the filter and with what is dropped. */
  const [activeSeq, setActiveSeq] = useState<number | undefined>(undefined);
  const [isAtEnd, setAtEnd] = useState(true);
  const all = paused ?? session.events.events;
  const events = useMemo(() => filterEvents(all, filter), [all, version, filter]);
  const active = events.findIndex(({ seq }) => seq === activeSeq);
  const isLive = paused === undefined;
  const follows = isLive && isAtEnd && active < 0;
  return (
    <div class="events">
      <div class="events-tools">
        <input
          type="search"
          aria-label="Search the events"
          placeholder="Search the events"
          value={filter.text}
          onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <select
          aria-label="Kind of event"
          value={filter.kind}
          onChange={(event) => setFilter({ ...filter, kind: event.currentTarget.value })}
        >
          <option value="">all kinds</option>
          {[...session.events.kinds].map(([kind, count]) => (
            <option key={kind} value={kind}>
              {kind} ({formatInteger(count)})
            </option>
          ))}
        </select>
        <button
          type="button"
          aria-pressed={!isLive}
          onClick={() => {
            setPaused(isLive ? [...session.events.events] : undefined);
            setActiveSeq(undefined);
            setAtEnd(true);
          }}
        >
          {isLive ? 'Pause' : 'Follow again'}
        </button>
        <span class="src">
          {formatInteger(events.length)} events
          {session.events.dropped > 0 &&
            `; ${formatInteger(session.events.dropped)} older ones are not kept by the page`}
        </span>
      </div>
      {events.length === 0 ? (
        <p class="empty">No event matches.</p>
      ) : (
        <VirtualList
          count={events.length}
          rowHeight={ROW_HEIGHT}
          active={active}
          shown={follows ? events.length - 1 : active}
          follow={follows ? events.at(-1)?.seq : activeSeq}
          onScroll={setAtEnd}
          role="listbox"
          label="Events"
          name="event"
          renderRow={(index) => {
            const event = events[index];
            if (event === undefined) return null;
            return (
              <div
                key={event.seq}
                id={rowId('event', index)}
                role="option"
                aria-selected={index === active}
                class={`row event-row${index === active ? ' active' : ''}`}
                onClick={() => {
                  setActiveSeq(event.seq);
                  showTask(session, event);
                }}
              >
                <span class="time">{formatOffset(Date.parse(event.time) - session.events.start)}</span>
                <span class={`kind ${toneOfEvent(event)}`}>{event.kind}</span>
                <bdi class="name">{nameOfEvent(event)}</bdi>
                <bdi class={`what ${toneOfEvent(event)}`}>
                  {describeEvent(event).slice(0, MOST_CHARACTERS)}
                </bdi>
              </div>
            );
          }}
          onKey={(key) => {
            const event = events[active];
            if (key === 'Enter' && event !== undefined) {
              showTask(session, event);
              return true;
            }
            const next = moveByKey(key, active, events.length);
            if (next !== undefined) setActiveSeq(events[next]?.seq);
            return next !== undefined;
          }}
        />
      )}
    </div>
  );
}

const MOST_CHARACTERS = 400;

function showTask(session: FollowedRun, event: LiveEvent): void {
  if (!('task_id' in event) || event.within !== undefined) return;
  const { task_id: taskId, sub_pipeline: subPipeline } = event;
  const item = 'item' in event ? event.item : undefined;
  session.show({
    selection: {
      taskId,
      ...(subPipeline !== undefined && { subPipeline }),
      ...(item !== undefined && { item }),
    },
  });
}

function toneOfEvent(event: LiveEvent): string {
  if (event.kind === 'fail' || event.kind === 'retry' || (event.kind === 'item' && event.phase === 'fail'))
    return 'failed';
  return 'error' in event && event.error !== undefined ? 'failed' : '';
}
