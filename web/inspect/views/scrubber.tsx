import { useMemo } from 'preact/hooks';
import type { TimelineEntry } from '../model/timeline.js';
import { toneOf } from '../model/tones.js';
import type { RunSession } from '../session/run-session.js';
import { formatOffset } from './format.js';

/** A slider through the sequence: chart, tree and snapshot show the run as it was after the event. */
export function Scrubber({ session }: { readonly session: RunSession }) {
  const version = session.version.value;
  const cursor = session.cursor.value;
  const { entries, firstSeq, lastSeq } = session.timeline;
  const entry = session.shownEntry;
  const seq = entry?.seq ?? lastSeq;
  const step = (by: number): void => {
    const next = entries[session.timeline.countUpTo(seq) - 1 + by];
    if (next) session.goTo({ seq: next.seq });
  };
  const stepOfActor = (by: 1 | -1): void => {
    const next = findOfActor(session, seq, by);
    if (next) session.goTo({ seq: next.seq });
  };
  const isEmpty = entries.length === 0;
  return (
    <section class="scrubber" aria-label="Time">
      <span class="buttons">
        <button
          type="button"
          disabled={isEmpty}
          title="Previous event of the actor"
          aria-label="Previous event of the actor"
          onClick={() => stepOfActor(-1)}
        >
          ⏮
        </button>
        <button
          type="button"
          disabled={isEmpty}
          title="Previous event"
          aria-label="Previous event"
          onClick={() => step(-1)}
        >
          ◀
        </button>
        <button
          type="button"
          disabled={isEmpty}
          title="Next event"
          aria-label="Next event"
          onClick={() => step(1)}
        >
          ▶
        </button>
        <button
          type="button"
          disabled={isEmpty}
          title="Next event of the actor"
          aria-label="Next event of the actor"
          onClick={() => stepOfActor(1)}
        >
          ⏭
        </button>
      </span>
      <span class="track">
        <Ticks session={session} version={Math.floor(version / 8)} />
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={entry ? `event ${seq}, ${entry.event} of ${entry.actor}` : 'no event'}
          min={firstSeq}
          max={Math.max(lastSeq, firstSeq)}
          value={seq}
          disabled={isEmpty}
          onInput={(event) => session.goTo({ seq: Number(event.currentTarget.value) })}
        />
      </span>
      <span class="moment">
        {entry
          ? `#${seq} of ${lastSeq} · ${formatOffset(entry.time - (entries[0]?.time ?? entry.time))}`
          : '–'}
      </span>
      <button
        type="button"
        class={`live${cursor === null ? ' on' : ''}`}
        aria-pressed={cursor === null}
        onClick={() => session.goTo({ seq: null })}
      >
        {session.feed.value.kind === 'ended' ? 'End' : 'Live'}
      </button>
    </section>
  );
}

const BUCKETS = 300;

/** Where the selected actor has events, and where something failed. */
function Ticks({ session, version }: { readonly session: RunSession; readonly version: number }) {
  const actor = session.shownActor;
  const { own, failed } = useMemo(() => findTicks(session, actor), [session, actor, version]);
  return (
    <svg class="ticks" viewBox={`0 0 ${BUCKETS} 8`} preserveAspectRatio="none" aria-hidden="true">
      <path class="own" d={[...own].map((at) => `M${at},0h1v8h-1z`).join('')} />
      <path class="failed" d={[...failed].map((at) => `M${at},0h1v8h-1z`).join('')} />
    </svg>
  );
}

function findTicks(session: RunSession, actor: string) {
  const { entries, firstSeq, lastSeq } = session.timeline;
  const own = new Set<number>();
  const failed = new Set<number>();
  const width = Math.max(1, lastSeq - firstSeq);
  for (const entry of entries) {
    const isOwn = entry.actor === actor;
    const isFailed = entry.from !== entry.state && toneOf(entry.state) === 'failed';
    if (!isOwn && !isFailed) continue;
    const at = Math.floor(((entry.seq - firstSeq) / width) * (BUCKETS - 1));
    if (isOwn) own.add(at);
    if (isFailed) failed.add(at);
  }
  return { own, failed };
}

function findOfActor(session: RunSession, seq: number, by: 1 | -1): TimelineEntry | undefined {
  const { entries } = session.timeline;
  const actor = session.shownActor;
  for (let at = session.timeline.countUpTo(seq) - 1 + by; at >= 0 && at < entries.length; at += by) {
    if (entries[at]?.actor === actor) return entries[at];
  }
  return undefined;
}
