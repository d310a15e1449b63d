import { findFrom, listTicks } from '../model/event-index.js';
import type { RunSession } from '../session/run-session.js';
import { formatOffset } from '../../shared/model/format.js';

/** A slider through the sequence: chart, tree and snapshot show the run as it was after the event. */
export function Scrubber({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const cursor = session.cursor.value;
  const { entries, firstSeq, lastSeq } = session.timeline;
  const entry = session.shownEntry;
  const seq = entry?.seq ?? lastSeq;
  const step = (by: number): void => {
    const next = entries[session.timeline.countUpTo(seq) - 1 + by];
    if (next) session.goTo({ seq: next.seq });
  };
  const stepOfActor = (by: 1 | -1): void => {
    const seqs = session.timeline.index.of(session.shownActor);
    const next = seqs[by > 0 ? findFrom(seqs, seq + 1) : findFrom(seqs, seq) - 1];
    if (next !== undefined) session.goTo({ seq: next });
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
        <Ticks session={session} />
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
        title="Show the run as it is now, and not an earlier moment"
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

/** Places for ticks along the slider. */
const PLACES = 300;

/** Where the selected actor has events, and where something failed. */
function Ticks({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const { index, firstSeq, lastSeq } = session.timeline;
  const draw = (seqs: readonly number[]): string =>
    listTicks(seqs, firstSeq, lastSeq, PLACES)
      .map((at) => `M${at},0h1v8h-1z`)
      .join('');
  return (
    <svg class="ticks" viewBox={`0 0 ${PLACES} 8`} preserveAspectRatio="none" aria-hidden="true">
      <path class="own" d={draw(index.of(session.shownActor))} />
      <path class="failed" d={draw(index.failed)} />
    </svg>
  );
}
