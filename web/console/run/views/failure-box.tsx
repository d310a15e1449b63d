import { formatInteger } from '../../../shared/model/format.js';
import { editorPath, formatSelection, selectionOf, type TaskSelection } from '../model/addresses.js';
import type { FollowedRun } from '../followed-run.js';

/** Failures that are listed; the graph and the timeline show all. */
const MOST_LISTED = 8;

const MOST_CHARACTERS = 1500;

/** The handlers that have failed, which changes nothing about the status of the run. */
export function HandlerFailures({ session }: { readonly session: FollowedRun }) {
  const failures = session.record.value?.handler_failures ?? [];
  if (failures.length === 0) return null;
  return (
    <section class="failure-box" aria-label="Handlers that have failed">
      <h2>
        {failures.length === 1
          ? 'A handler has failed'
          : `${formatInteger(failures.length)} handlers have failed`}
      </h2>
      <FailureList session={session} failures={failures} />
    </section>
  );
}

interface FailureListProps {
  readonly session: FollowedRun;
  readonly failures: readonly (Parameters<typeof selectionOf>[0] & { readonly error: string })[];
}

function FailureList({ session, failures }: FailureListProps) {
  return (
    <>
      <ul>
        {failures.slice(0, MOST_LISTED).map((failure) => (
          <li key={formatSelection(selectionOf(failure))}>
            <TaskLink session={session} selection={selectionOf(failure)} /> <bdi>{cut(failure.error)}</bdi>
          </li>
        ))}
      </ul>
      {failures.length > MOST_LISTED && <p>and {formatInteger(failures.length - MOST_LISTED)} more</p>}
    </>
  );
}

/** Why a run has failed, before anything else: which task, why, and where to see with which inputs. */
export function FailureBox({ session }: { readonly session: FollowedRun }) {
  const record = session.record.value;
  if (record === undefined || record.status !== 'failed') return null;
  const { error, error_code: code, failed_task: first, failures } = record;
  const others = failures.filter(
    ({ task_id, item, sub_pipeline }) =>
      task_id !== first?.task_id || item !== first.item || sub_pipeline !== first.sub_pipeline,
  );
  return (
    <section class="failure-box" aria-label="Why the run has failed">
      <h2>
        {first === null ? (
          'The run has failed'
        ) : (
          <>
            <TaskLink session={session} selection={selectionOf(first)} /> has failed
          </>
        )}
      </h2>
      {error !== null && <pre>{cut(error)}</pre>}
      {code !== null && (
        <p class="src">
          Code: <bdi>{code}</bdi>
        </p>
      )}
      {first !== null && (
        <p class="actions">
          <button type="button" onClick={() => session.show({ selection: selectionOf(first) })}>
            Show its inputs
          </button>
          <a class="button" href={editorPath(session.runId, selectionOf(first))}>
            Fix in the editor
          </a>
        </p>
      )}
      {others.length > 0 && (
        <details>
          <summary>
            {others.length === 1 ? '1 more failure' : `${formatInteger(others.length)} more failures`}
          </summary>
          <FailureList session={session} failures={others} />
        </details>
      )}
    </section>
  );
}

function TaskLink({
  session,
  selection,
}: {
  readonly session: FollowedRun;
  readonly selection: TaskSelection;
}) {
  return (
    <button
      type="button"
      class="link"
      title="Show its inputs and its error"
      onClick={() => session.show({ selection })}
    >
      <bdi>{formatSelection(selection)}</bdi>
    </button>
  );
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
