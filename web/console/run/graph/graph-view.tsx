import { useMemo, useState } from 'preact/hooks';
import { formatQuantity, formatInteger } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import type { RunPart, TaskState } from '../model/task-states.js';
import type { FollowedRun } from '../run-session.js';
import { WaveCanvas } from './wave-canvas.js';

/** From this many sub-pipelines on, those that need no attention are folded at first. */
const FOLD_FROM = 5;

/** The whole run by waves, from its definition: of a plan, its sub-pipelines one below the other. */
export function GraphView({ session }: { readonly session: FollowedRun }) {
  const graph = session.graph.value;
  const parts = useMemo(() => session.parts(), [session, graph]);
  if (graph === undefined) return <p class="empty">Loading the definition…</p>;
  if (graph.kind === 'pipeline') {
    return (
      <>
        {parts.map((part) => (
          <WaveCanvas key="" session={session} part={part} isWhole />
        ))}
      </>
    );
  }
  return (
    <div class="parts">
      {parts.map((part, index) => (
        <SubPipeline
          key={part.subPipeline}
          session={session}
          part={part}
          readsFrom={graph.plan.edges.filter(({ to }) => to === part.subPipeline).map(({ from }) => from)}
          isFolded={parts.length >= FOLD_FROM && index > 0}
        />
      ))}
    </div>
  );
}

interface SubPipelineProps {
  readonly session: FollowedRun;
  readonly part: RunPart;
  /** Ids of the sub-pipelines whose keys it reads. */
  readonly readsFrom: readonly string[];
  readonly isFolded: boolean;
}

function SubPipeline({ session, part, readsFrom, isFolded }: SubPipelineProps) {
  const [opened, setOpened] = useState<boolean | undefined>(undefined);
  void session.version.value;
  const id = part.subPipeline ?? '';
  const status = session.record.value?.sub_pipelines?.[id] ?? null;
  const isSelected = session.view.value.selection?.subPipeline === id;
  const isOpen = opened ?? (isSelected || !isFolded || status === 'running' || status === 'failed');
  const tasks = part.graph.waves.flat();
  const settled = tasks.filter((task) => isSettled(session.tasks.get(`${id}/${task.id}`))).length;
  return (
    <section class="part" aria-label={`Sub-pipeline ${id}`}>
      <h3>
        <button type="button" class="open" aria-expanded={isOpen} onClick={() => setOpened(!isOpen)}>
          <span class={`twist ${isOpen ? 'open' : 'closed'}`} aria-hidden="true" />
          <bdi>{id}</bdi>
        </button>
        <span class={`badge ${toneOf(status ?? 'waiting')}`}>{status ?? 'not started'}</span>
        <span class="src">
          {formatInteger(settled)} of {formatQuantity(tasks.length, 'task')}
          {readsFrom.length > 0 && `, after ${readsFrom.join(', ')}`}
        </span>
      </h3>
      {isOpen && <WaveCanvas session={session} part={part} />}
    </section>
  );
}

function isSettled(task: TaskState | undefined): boolean {
  return task !== undefined && task.status !== 'pending' && task.status !== 'running';
}
