import { useMemo } from 'preact/hooks';
import { findPauses, type Pause } from '../model/pause.js';
import type { RunSession } from '../session/run-session.js';

/** More tasks than that would push the panels away. */
const MOST_TASKS = 8;

/** Where the run waits at the moment shown; each task that comes next leads to its values. */
export function PauseLines({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const { tree } = session;
  const pauses = useMemo(() => findPauses(tree), [tree, tree.changes]);
  return (
    <>
      {pauses.map((pause) => (
        <PauseLine key={pause.run} session={session} pause={pause} />
      ))}
    </>
  );
}

function PauseLine({ session, pause }: { readonly session: RunSession; readonly pause: Pause }) {
  const { run, wave, tasks, hasFailed } = pause;
  const name = run.includes('/') ? `${run.slice(run.lastIndexOf('/') + 1)}: ` : '';
  if (hasFailed) return <p class="pause">{name}paused after a failure: the run fails when it goes on</p>;
  const shown = tasks.slice(0, MOST_TASKS);
  return (
    <p class="pause">
      <bdi>
        {name}paused before {wave === undefined ? 'the next wave' : `wave ${wave}`}
        {shown.length > 0 && ': '}
      </bdi>
      {shown.map((task) => (
        <button
          key={task}
          type="button"
          class="link"
          title="Show what goes into this task"
          onClick={() => session.goTo({ actor: `${run}/wave/${task}` })}
        >
          <bdi>{task}</bdi>
        </button>
      ))}
      {tasks.length > shown.length && ` and ${tasks.length - shown.length} more`}
    </p>
  );
}
