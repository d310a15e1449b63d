import { useEffect, useState } from 'preact/hooks';
import type { TaskPage, TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { messageOf } from '../../../shared/server/server.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import { formatSelection, selectionOf } from '../model/addresses.js';
import { type ComparedTask, compareTasks } from '../model/values.js';
import type { FollowedRun } from '../run-session.js';

/** Tasks of each run that are compared. */
const MOST_TASKS = 2000;

/** The tasks of this run beside those of the run that it repeats: states, times, and what differs in their values. */
export function CompareView({ session }: { readonly session: FollowedRun }) {
  const record = session.record.value;
  const other = record?.rerun_of ?? null;
  const [tasks, setTasks] = useState<readonly ComparedTask[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [opened, setOpened] = useState<string | undefined>(undefined);
  const [onlyChanged, setOnlyChanged] = useState(true);
  const settled = session.settledCount.value;
  useEffect(() => {
    if (other === null) return;
    let isOld = false;
    Promise.all([readTasks(session, other), readTasks(session, session.runId)])
      .then(([before, after]) => {
        if (!isOld) setTasks(compareTasks(before, after));
      })
      .catch((error: unknown) => {
        if (!isOld) setProblem(messageOf(error));
      });
    return () => {
      isOld = true;
    };
  }, [session, other, settled]);
  if (problem !== '') return <p class="empty">The runs cannot be compared: {problem}</p>;
  if (tasks === undefined || other === null) return <p class="empty">Reading both runs…</p>;
  const shown = tasks.filter(({ differs }) => !onlyChanged || differs.length > 0);
  return (
    <div class="content wide">
      <p class="about">
        Compared with <a href={`/runs/${encodeURIComponent(other)}`}>{other}</a>.{' '}
        <label class="check">
          <input type="checkbox" checked={onlyChanged} onChange={() => setOnlyChanged(!onlyChanged)} /> Only
          what differs
        </label>
      </p>
      {shown.length === 0 ? (
        <p class="empty">Every task has the same state, inputs and output.</p>
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
  const { status, started_at, finished_at, reused } = task;
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

async function readTasks(session: FollowedRun, runId: string): Promise<Map<string, TaskRecord>> {
  const tasks = new Map<string, TaskRecord>();
  let cursor: string | null = '';
  while (cursor !== null && tasks.size < MOST_TASKS) {
    const query = new URLSearchParams({ limit: '500', ...(cursor !== '' && { cursor }) });
    const page: TaskPage = await session.server.getJson<TaskPage>(
      `/pipelines/runs/${encodeURIComponent(runId)}/tasks?${query}`,
    );
    for (const task of page.tasks) {
      tasks.set(formatSelection(selectionOf(task)), task);
    }
    cursor = page.next_cursor;
  }
  return tasks;
}
