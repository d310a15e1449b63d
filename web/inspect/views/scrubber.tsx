import { useMemo } from 'preact/hooks';
import type { TimelineEntry } from '../model/timeline.js';
import { toneOf } from '../model/tones.js';
import type { RunSession } from '../session/run-session.js';
import { formatOffset } from '../model/format.js';

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
        <StepButton
          label="Previous event of the actor"
          icon={ICONS.backActor}
          isOff={isEmpty}
          onStep={() => stepOfActor(-1)}
        />
        <StepButton label="Previous event" icon={ICONS.back} isOff={isEmpty} onStep={() => step(-1)} />
        <StepButton label="Next event" icon={ICONS.next} isOff={isEmpty} onStep={() => step(1)} />
        <StepButton
          label="Next event of the actor"
          icon={ICONS.nextActor}
          isOff={isEmpty}
          onStep={() => stepOfActor(1)}
        />
      </span>
      <span class="track">
        <Ticks session={session} version={version} />
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

const ICONS = {
  backActor: 'M2 2h2v10h-2zM12 2v10l-7-5z',
  back: 'M10 2v10l-7-5z',
  next: 'M4 2v10l7-5z',
  nextActor: 'M10 2h2v10h-2zM2 2v10l7-5z',
};

interface StepButtonProps {
  readonly label: string;
  readonly icon: string;
  readonly isOff: boolean;
  readonly onStep: () => void;
}

function StepButton({ label, icon, isOff, onStep }: StepButtonProps) {
  return (
    <button type="button" disabled={isOff} title={label} aria-label={label} onClick={onStep}>
      <svg viewBox="0 0 14 14" width={12} height={12} aria-hidden="true">
        <path d={icon} />
      </svg>
    </button>
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
