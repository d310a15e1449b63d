import { useMemo, useState } from 'preact/hooks';
import { formatOffset } from '../../shared/model/format.js';
import { JsonTree } from '../../shared/views/json-view.js';
import { panelOf, Tabs } from '../../shared/views/tabs.js';
import { taskOfActor } from '../model/addresses.js';
import { describeTransitions, lightChart } from '../model/chart-state.js';
import { readDetail, type TimelineEntry } from '../model/timeline.js';
import type { RunSession } from '../session/run-session.js';
import { TaskValues } from './task-values.js';

const TABS = ['snapshot', 'event', 'values'] as const;
type Tab = (typeof TABS)[number];

const TITLES: Readonly<Record<Tab, string>> = { snapshot: 'Snapshot', event: 'Event', values: 'Values' };

/** The selected actor at the moment shown: its snapshot, the event that it has received, and the values of its task. */
export function DetailView({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const offers = session.offers.value;
  const [tab, setTab] = useState<Tab>('snapshot');
  const path = session.shownActor;
  const entry = session.tree.get(path)?.entry;
  const task = taskOfActor(path);
  // A recording has the values of what has failed.
  const hasValues = offers.includes('values') || (offers.includes('failures') && entry?.state === 'failed');
  const tabs = TABS.filter((name) => name !== 'values' || (task !== undefined && hasValues));
  const isComing = entry === undefined && tabs.includes('values');
  // Of a task that has not begun, what will go into it is all there is.
  const current = isComing ? 'values' : tabs.includes(tab) ? tab : 'snapshot';
  return (
    <section class="panel detail" aria-label="Details">
      <Tabs
        name="detail"
        label="Details"
        tabs={tabs}
        current={current}
        titleOf={(name) => TITLES[name]}
        onSelect={setTab}
      >
        {entry && (
          <span class="at">
            #{entry.seq} {formatOffset(entry.time - (session.timeline.entries[0]?.time ?? entry.time))}
          </span>
        )}
      </Tabs>
      <div class="content" {...panelOf('detail', current)} tabIndex={0}>
        {current === 'values' && task ? (
          <TaskValues key={path} session={session} task={task} />
        ) : entry === undefined ? (
          <p class="empty">
            {path === '' ? 'Select an actor.' : 'This actor does not exist at this moment.'}
          </p>
        ) : current === 'snapshot' ? (
          <SnapshotTab key={path} entry={entry} />
        ) : (
          <EventTab entry={entry} session={session} />
        )}
      </div>
    </section>
  );
}

function SnapshotTab({ entry }: { readonly entry: TimelineEntry }) {
  const compared = useMemo(() => compareSnapshots(entry), [entry, entry.text]);
  if (!compared) return <p class="empty">{DROPPED}</p>;
  const { value, before } = compared;
  return (
    <>
      <p class="about">
        after <bdi class="event">{entry.event}</bdi>
        {before ? ', compared with the event before' : ', the first of this actor'}
      </p>
      <JsonTree value={value} before={before} label="Snapshot" />
    </>
  );
}

const DROPPED =
  'The page keeps the last 50,000 events, and this one is older: the recording may still have it.';

function compareSnapshots(entry: TimelineEntry) {
  const after = readDetail(entry);
  const earlier = entry.previous && readDetail(entry.previous);
  return after && { value: after.snapshot, before: earlier && { value: earlier.snapshot } };
}

function EventTab({ entry, session }: { readonly entry: TimelineEntry; readonly session: RunSession }) {
  const { event, source, actor, from, state, status, seq } = entry;
  const detail = useMemo(() => readDetail(entry), [entry, entry.text]);
  const chart = session.charts.value.find(({ id }) => id === entry.src);
  const taken = chart && describeTransitions(lightChart(chart, entry).edges);
  return (
    <>
      <dl class="facts">
        <Fact name="event">{event}</Fact>
        <Fact name="from">{source ?? 'outside of the run'}</Fact>
        <Fact name="to">{actor}</Fact>
        <Fact name="state">{from === null || from === state ? state : `${from} → ${state}`}</Fact>
        {taken !== undefined && <Fact name="transition">{taken}</Fact>}
        <Fact name="status">{status}</Fact>
        <Fact name="number">{seq}</Fact>
      </dl>
      {source !== null && (
        <button type="button" class="link" onClick={() => session.reveal(source)}>
          Show the sender
        </button>
      )}
      {detail ? (
        <JsonTree key={seq} value={detail.data} label="Data of the event" />
      ) : (
        <p class="empty">{DROPPED}</p>
      )}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string | number }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </>
  );
}
