import type { ComponentChildren } from 'preact';
import { type Tab, TABS } from '../model/addresses.js';
import type { FollowedRun } from '../run-session.js';
import { CompareView } from './compare-view.js';
import { BlackboardTab, DefinitionTab } from './submission-tabs.js';
import { EventsView } from './events-view.js';
import { FilesView } from './files-view.js';
import { GraphView } from '../graph/graph-view.js';
import { TimelineView } from './timeline-view.js';

const TITLES: Readonly<Record<Tab, string>> = {
  graph: 'Graph',
  timeline: 'Timeline',
  events: 'Events',
  blackboard: 'Blackboard',
  files: 'Files',
  definition: 'Definition',
  compare: 'Compare',
};

/** What there is to see of the run as a whole, a tab each. */
export function RunTabs({ session }: { readonly session: FollowedRun }) {
  const { tab } = session.view.value;
  const record = session.record.value;
  const tabs = TABS.filter((name) => {
    if (name === 'compare') return record !== undefined && record.rerun_of !== null;
    if (name === 'files') return record !== undefined && record.artifact_count > 0;
    return true;
  });
  const current = tabs.includes(tab) ? tab : 'graph';
  const select = (name: Tab): void => session.show({ tab: name, selection: session.view.value.selection });
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const next = tabs[(tabs.indexOf(current) + by + tabs.length) % tabs.length];
    if (by === 0 || next === undefined) return;
    select(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <section class="panel run-tabs" aria-label="The run">
      <div class="tabs" role="tablist" aria-label="Views of the run" onKeyDown={onKeyDown}>
        {tabs.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === current}
            aria-controls="view"
            tabIndex={name === current ? 0 : -1}
            onClick={() => select(name)}
          >
            {TITLES[name]}
            {name === 'files' && record ? ` ${record.artifact_count}` : ''}
          </button>
        ))}
      </div>
      <div class={`view ${current}`} id="view" role="tabpanel" aria-labelledby={`tab-${current}`}>
        {showTab(current, session)}
      </div>
    </section>
  );
}

function showTab(tab: Tab, session: FollowedRun): ComponentChildren {
  switch (tab) {
    case 'graph':
      return <GraphView session={session} />;
    case 'timeline':
      return <TimelineView session={session} />;
    case 'events':
      return <EventsView session={session} />;
    case 'blackboard':
      return <BlackboardTab session={session} />;
    case 'files':
      return <FilesView session={session} />;
    case 'definition':
      return <DefinitionTab session={session} />;
    case 'compare':
      return <CompareView session={session} />;
  }
}
