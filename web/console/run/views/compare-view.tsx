import { pathOfRun } from '../../../../lib/common/wire/run-summary.js';
import { useMemo, useState } from 'preact/hooks';
import type { TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatInteger, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import type { Server } from '../../../shared/server/server.js';
import { useReading } from '../../../shared/server/use-reading.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import {
  type ComparedTask,
  compareTasks,
  MOST_COMPARED,
  type ReadTasks,
  readComparedTasks,
} from '../model/comparison.js';
import { shownStatus } from '../model/shown-status.js';
import {
  type ComparedSubmissions,
  compareSubmissions,
  readSubmission,
} from '../model/submission-comparison.js';
import type { FollowedRun } from '../followed-run.js';
import { SubmissionDifferences } from './submission-differences.js';

/** While tasks settle, this run is read again so many milliseconds after the last answer. */
const REFRESH_MS = 3000;

/** This run beside the one that it repeats: what they were given, and states, times and values of their tasks. */
export function CompareView({ session }: { readonly session: FollowedRun }) {
  const record = session.record.value;
  const other = record?.rerun_of ?? null;
  const [opened, setOpened] = useState<string | undefined>(undefined);
  const [onlyChanged, setOnlyChanged] = useState(true);
  const read = useMemo(() => compareRuns(session.server, other ?? '', session.runId), [session, other]);
  const { value, problem } = useReading(other, read, {
    refreshMs: REFRESH_MS,
    round: session.settledCount.value,
  });
  if (value === undefined && problem !== '')
    return <p class="empty">The runs cannot be compared: {problem}</p>;
  if (value === undefined || other === null) return <p class="empty">Reading both runs…</p>;
  const { tasks, isWhole, submissions } = value;
  const shown = tasks.filter(({ differs }) => !onlyChanged || differs.length > 0);
  return (
    <div class="content wide">
      <p class="about">
        Compared with <a href={pathOfRun(other)}>{other}</a>.
      </p>
      <SubmissionDifferences compared={submissions} />
      <h3>Tasks</h3>
      <p class="about">
        <label class="check">
          <input type="checkbox" checked={onlyChanged} onChange={() => setOnlyChanged(!onlyChanged)} /> Only
          what differs
        </label>
      </p>
      {problem !== '' && <p class="problem">{problem}</p>}
      {!isWhole && (
        <p class="about">
          Only the first {formatInteger(MOST_COMPARED)} tasks of each run are compared, and of them those that
          both have.
        </p>
      )}
      {shown.length === 0 ? (
        <p class="empty">Every task that is compared has the same definition, state, inputs and output.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Task</th>
              <th scope="col">Before</th>
              <th scope="col">Now</th>
              <th scope="col">What differs</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((task) => (
              <ComparedRow
                key={task.key}
                task={task}
                isOpen={opened === task.key}
                onOpen={() => setOpened(opened === task.key ? undefined : task.key)}
              />
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

interface ComparedRowProps {
  readonly task: ComparedTask;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function ComparedRow({ task: { before, after, differs, key }, isOpen, onOpen }: ComparedRowProps) {
  return (
    <>
      <tr>
        <td>
          <button type="button" class="link" aria-expanded={isOpen} onClick={onOpen}>
            <bdi>{key}</bdi>
          </button>
        </td>
        <td>
          <StateCell task={before} />
        </td>
        <td>
          <StateCell task={after} />
        </td>
        <td>{differs.length === 0 ? 'nothing' : differs.join(', ')}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={4}>
            <h3>Inputs</h3>
            <JsonTree
              value={after?.inputs ?? null}
              before={{ value: before?.inputs ?? null }}
              label={`Inputs of ${key}`}
            />
            <h3>Output</h3>
            <JsonTree
              value={after?.output ?? null}
              before={{ value: before?.output ?? null }}
              label={`Output of ${key}`}
            />
          </td>
        </tr>
      )}
    </>
  );
}

function StateCell({ task }: { readonly task: TaskRecord | undefined }) {
  if (task === undefined) return <span class="src">not there</span>;
  const { started_at, finished_at, reused } = task;
  const status = shownStatus(task.status, task.error?.message, task.skip_reason);
  const took =
    started_at === null || finished_at === null
      ? ''
      : formatTook(Date.parse(finished_at) - Date.parse(started_at));
  return (
    <>
      <span class={`state ${toneOf(status)}`}>{status}</span>{' '}
      <span class="src">{reused ? 'reused' : took}</span>
    </>
  );
}

/** Returns what compares two runs. The earlier one has settled, and is read once, as what both were given. */
function compareRuns(server: Server, earlier: string, later: string) {
  let submissions: ComparedSubmissions | undefined;
  let before: ReadTasks | undefined;
  return async (signal: AbortSignal) => {
    submissions ??= compareSubmissions(
      await readSubmission(server, earlier, signal),
      await readSubmission(server, later, signal),
    );
    before ??= await readComparedTasks(server, earlier, signal);
    const after = await readComparedTasks(server, later, signal);
    const tasks = compareTasks(before, after, submissions.redefined);
    return { tasks, isWhole: before.isWhole && after.isWhole, submissions };
  };
}
