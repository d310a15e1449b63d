import { useMemo, useState } from 'preact/hooks';
import type { DefinitionGraph, PlanGraph } from '../../../../lib/plans/graph.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { formatQuantity, formatInteger } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { describeEnded } from '../model/shown-status.js';
import type { RunPart } from '../model/task-states.js';
import type { FollowedRun } from '../followed-run.js';
import { GraphCard, type PlacedCard } from './graph-card.js';
import { TaskGraph } from './task-graph.js';
import { WaveCanvas } from './wave-canvas.js';

/** From this many sub-pipelines on, those that need no attention are folded at first. */
const FOLD_FROM = 5;

/** The whole run by waves, from its definition. */
export function GraphView({ session }: { readonly session: FollowedRun }) {
  const graph = session.graph.value;
  if (graph === undefined) return <p class="empty">Loading the definition…</p>;
  if (graph.kind === 'plan') return <PlanView session={session} graph={graph} />;
  return <TaskGraph session={session} part={{ subPipeline: undefined, graph: graph.graph }} isWhole />;
}

interface PlanViewProps {
  readonly session: FollowedRun;
  readonly graph: Extract<DefinitionGraph, { readonly kind: 'plan' }>;
}

/** The sub-pipelines of a plan with the arrows between them, one below the other with their tasks, and the handlers of the plan. */
function PlanView({ session, graph }: PlanViewProps) {
  const { plan } = graph;
  const [parts, handlers] = useMemo(() => splitOffHandlers(session.parts()), [session, graph]);
  const drawn = useMemo(() => toCardGraph(plan), [plan]);
  const reads = useMemo(() => describeReads(plan), [plan]);
  /** The sub-pipelines that the reader has opened (true) or folded. */
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  void session.version.value;
  const toggle = (id: string, isOpen: boolean): void => setToggled(new Map(toggled).set(id, isOpen));
  const standings = new Map(parts.map((part) => [part.subPipeline ?? '', standingOf(session, part)]));
  const show = (id: string): void => {
    toggle(id, true);
    // The tasks of the sub-pipeline come into being only now.
    window.requestAnimationFrame(() => {
      const header = document.getElementById(headerId(id));
      header?.focus({ preventScroll: true });
      header?.closest('section')?.scrollIntoView({ block: 'start' });
    });
  };
  return (
    <div class="parts">
      {parts.length > 1 && (
        <section class="part plan-graph" aria-label="Sub-pipelines">
          <WaveCanvas
            graph={drawn}
            name="sub-pipeline"
            label="Sub-pipelines by wave"
            selected={session.view.value.selection?.subPipeline}
            zoom={session.zoom}
            toneOfCard={(id) => toneOf(standings.get(id)?.status ?? 'waiting')}
            onShow={show}
            onClose={() => session.show({ selection: undefined })}
            renderCard={(card) => {
              const { id } = card.placed;
              const standing = standings.get(id);
              return (
                standing && <SubPipelineCard key={id} card={card} standing={standing} reads={reads.get(id)} />
              );
            }}
          />
        </section>
      )}
      {parts.map((part, index) => {
        const id = part.subPipeline ?? '';
        const standing = standings.get(id);
        if (standing === undefined) return null;
        const { status } = standing;
        const isSelected = session.view.value.selection?.subPipeline === id;
        const needsLook = index === 0 || isSelected || status === 'running' || status === 'failed';
        return (
          <SubPipeline
            key={id}
            session={session}
            part={part}
            standing={standing}
            reads={reads.get(id)}
            isOnly={parts.length === 1}
            isOpen={toggled.get(id) ?? (needsLook || parts.length < FOLD_FROM)}
            onToggle={(isOpen) => toggle(id, isOpen)}
          />
        );
      })}
      {handlers !== undefined && (
        <section class="part" aria-label="Handlers of the plan">
          <h3>Handlers of the plan</h3>
          <TaskGraph session={session} part={handlers} hasZoomButtons={false} />
        </section>
      )}
    </div>
  );
}

/** Returns the sub-pipelines of a plan, and its handlers; undefined for a plan without any. */
function splitOffHandlers(parts: readonly RunPart[]): readonly [readonly RunPart[], RunPart | undefined] {
  return [
    parts.filter(({ subPipeline }) => subPipeline !== undefined),
    parts.find(({ subPipeline }) => subPipeline === undefined),
  ];
}

/** Sub-pipelines wait for keys of each other, as tasks do for outputs. */
function toCardGraph({ waves, edges }: PlanGraph) {
  return {
    waves,
    edges: edges.map(({ from, to, keys: [first = '', ...others] }) => ({
      from,
      to,
      kind: 'template' as const,
      label: others.length === 0 ? first : `${first} +${formatInteger(others.length)}`,
    })),
  };
}

const MOST_NAMED = 10;

/** Says in words what each sub-pipeline reads from which others. */
function describeReads({ edges }: PlanGraph): ReadonlyMap<string, string> {
  const reads = new Map<string, string[]>();
  for (const { from, to, keys } of edges) {
    const named = keys.length > MOST_NAMED ? formatQuantity(keys.length, 'key') : keys.join(', ');
    reads.set(to, [...(reads.get(to) ?? []), `${named} from ${from}`]);
  }
  return new Map([...reads].map(([to, named]) => [to, `reads ${named.slice(0, MOST_NAMED).join('; ')}`]));
}

/** How a sub-pipeline stands. */
interface Standing {
  readonly status: NonNullable<RunRecord['sub_pipelines']>[string];
  /**
   * How far the tasks of the sub-pipeline have come; once no more of them run without all having succeeded, how each
   * has ended.
   */
  readonly tasks: string;
  /** In a word. */
  readonly word: string;
  /** Why it was skipped; undefined for any other. */
  readonly skipReason: string | undefined;
}

function standingOf(session: FollowedRun, { subPipeline = '', graph }: RunPart): Standing {
  const record = session.record.value;
  const isOver = record?.settled === true;
  const status = record?.sub_pipelines?.[subPipeline] ?? null;
  const skipReason = record?.skipped?.find(
    ({ sub_pipeline: id, task_id: taskId }) => id === subPipeline && taskId === undefined,
  )?.reason;
  // A sub-pipeline that has not begun when the run is over will not begin.
  const word = status ?? (isOver ? 'not run' : 'pending');
  const tasks = graph.waves.flat().map(({ id }) => session.tasks.get(`${subPipeline}/${id}`));
  if (skipReason !== undefined)
    return { status, word, tasks: formatQuantity(tasks.length, 'task'), skipReason };
  const hasEnded = status === 'failed' || isOver;
  if (hasEnded && status !== 'succeeded') return { status, word, tasks: describeEnded(tasks), skipReason };
  const done = status === 'succeeded' ? tasks : tasks.filter((task) => task?.status === 'succeeded');
  const count = `${formatInteger(done.length)} of ${formatQuantity(tasks.length, 'task')}`;
  return { status, word, tasks: count, skipReason };
}

interface SubPipelineCardProps {
  readonly card: PlacedCard;
  readonly standing: Standing;
  readonly reads: string | undefined;
}

/** A sub-pipeline among the others: how it stands, and how many of its tasks are done. */
function SubPipelineCard({ card, standing, reads }: SubPipelineCardProps) {
  const { id } = card.placed;
  const { status, word, tasks, skipReason } = standing;
  const why = skipReason === undefined ? '' : `; skipped: ${skipReason}`;
  const title = `${reads === undefined ? id : `${id} ${reads}`}; ${tasks}${why}`;
  return (
    <GraphCard card={card} name={id} tone={toneOf(status ?? 'waiting')} status={word} title={title}>
      <span class="line">
        <span class="tool">{tasks}</span>
        <span class="card-state" aria-hidden="true">
          {word}
        </span>
      </span>
    </GraphCard>
  );
}

interface SubPipelineProps {
  readonly session: FollowedRun;
  readonly part: RunPart;
  readonly standing: Standing;
  readonly reads: string | undefined;
  readonly isOnly: boolean;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/** A sub-pipeline with its tasks. */
function SubPipeline({ session, part, standing, reads, isOnly, isOpen, onToggle }: SubPipelineProps) {
  const id = part.subPipeline ?? '';
  const { status, tasks, skipReason } = standing;
  return (
    <section class="part" aria-label={`Sub-pipeline ${id}`}>
      <h3>
        <button
          type="button"
          id={headerId(id)}
          class="open"
          aria-expanded={isOpen}
          onClick={() => onToggle(!isOpen)}
        >
          <span class={`twist ${isOpen ? 'open' : 'closed'}`} aria-hidden="true" />
          <bdi>{id}</bdi>
        </button>
        <span class={`badge ${toneOf(status ?? 'waiting')}`}>{standing.word}</span>
        <span class="src">
          {tasks}
          {reads !== undefined && `, ${reads}`}
          {skipReason !== undefined && <bdi>{`: ${skipReason}`}</bdi>}
        </span>
      </h3>
      {isOpen && <TaskGraph session={session} part={part} hasZoomButtons={isOnly} />}
    </section>
  );
}

function headerId(id: string): string {
  return `part-${id}`;
}
