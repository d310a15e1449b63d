import type { ComponentChildren } from 'preact';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { panelOf, Tabs } from '../../../shared/views/tabs.js';
import { GraphView } from '../graph/graph-view.js';
import { type Tab, TABS } from '../model/addresses.js';
import type { FollowedRun } from '../followed-run.js';
import { CompareView } from './compare-view.js';
import { EventsView } from './events-view.js';
import { FilesView } from './files-view.js';
import { ValueView } from '../task/value-view.js';
import { BlackboardTab, DefinitionTab } from './submission-tabs.js';
import { TimelineView } from './timeline-view.js';

const TITLES: Readonly<Record<Tab, string>> = {
  graph: 'Graph',
  outputs: 'Outputs',
  timeline: 'Timeline',
  events: 'Events',
  blackboard: 'Blackboard',
  files: 'Files',
  definition: 'Definition',
  compare: 'Compare',
};

/** The views of the run as a whole, a tab each. */
export function RunTabs({ session }: { readonly session: FollowedRun }) {
  const { tab } = session.view.value;
  const record = session.record.value;
  const tabs = TABS.filter((name) => {
    if (name === 'compare') return record !== undefined && record.rerun_of !== null;
    if (name === 'outputs') return record !== undefined && record.result !== null;
    if (name === 'files') return record !== undefined && record.artifact_count > 0;
    return true;
  });
  const current = tabs.includes(tab) ? tab : 'graph';
  return (
    <section class="panel run-tabs" aria-label="The run">
      <Tabs
        name="run"
        label="Views of the run"
        tabs={tabs}
        current={current}
        titleOf={(name) => (name === 'files' ? `${TITLES.files} ${record?.artifact_count}` : TITLES[name])}
        onSelect={(name) => session.show({ tab: name, selection: session.view.value.selection })}
      />
      <div class={`view ${current}`} {...panelOf('run', current)}>
        {showTab(current, session)}
      </div>
    </section>
  );
}

function showTab(tab: Tab, session: FollowedRun): ComponentChildren {
  switch (tab) {
    case 'graph':
      return <GraphView session={session} />;
    case 'outputs':
      return <OutputsView session={session} />;
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

/** The outputs by task of a run that has succeeded, as `wavetrain run` prints them. */
function OutputsView({ session }: { readonly session: FollowedRun }) {
  const { result } = session.record.value ?? {};
  if (!result) return null;
  return (
    <div class="content">
      {listOutputs(result).map(({ title, outputs }) => (
        <ValueView key={title} title={title} value={outputs} name={`${session.runId}-${title}`} />
      ))}
    </div>
  );
}

interface TitledOutputs {
  readonly title: string;
  readonly outputs: JsonObject;
}

/** Lists the outputs of a pipeline, or of each sub-pipeline of a plan. */
function listOutputs(result: NonNullable<RunRecord['result']>): TitledOutputs[] {
  if (result.plan_id === undefined) return [{ title: 'Outputs', outputs: result.outputs }];
  return Object.entries(result.sub_results).map(([id, { outputs }]) => ({
    title: `Outputs of ${id}`,
    outputs,
  }));
}
