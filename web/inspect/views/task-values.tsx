import { useEffect, useState } from 'preact/hooks';
import type { ItemRecord, TaskRecord } from '../../../lib/runs/tasks/task-record.js';
import type { TaskAddress } from '../model/addresses.js';
import { toneOf } from '../../shared/model/tones.js';
import type { Offer } from '../server/inspection-feed.js';
import { messageOf, ServerError } from '../../shared/server/server.js';
import type { RunSession } from '../session/run-session.js';
import { formatTook } from '../../shared/model/format.js';
import { ItemLinks } from './item-links.js';
import { JsonTree } from '../../shared/views/json-view.js';

interface TaskValuesProps {
  readonly session: RunSession;
  readonly task: TaskAddress;
}

type Found = TaskRecord | ItemRecord;

/** The inputs and the output of a task or an item, as they are now: the server keeps no older ones. */
export function TaskValues({ session, task }: TaskValuesProps) {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [whole, setWhole] = useState(false);
  const path = taskPath(session, task, whole);
  const state = session.tree.get(session.shownActor)?.entry?.state;

  useEffect(() => {
    const end = new AbortController();
    session.server
      .getJson<Found>(path, {}, end.signal)
      .then((answer) => {
        setFound(answer);
        setProblem('');
      })
      .catch((error: unknown) => {
        if (!end.signal.aborted) setProblem(toProblem(error, session.offers.value));
      });
    return () => end.abort();
  }, [session, path, state]);

  if (problem !== '') return <p class="empty">{problem}</p>;
  if (!found) return <p class="empty">Reading the values…</p>;
  const { status, inputs, inputs_error, output, error, attempts, cut } = found;
  return (
    <>
      <p class="about">
        <span class={`state ${toneOf(status)}`}>{status}</span> {durationOf(found)}
        {session.cursor.value === null ? ' · now' : ' · as it is now, not at the moment shown'}
      </p>
      {'value' in found && <Value title="Item" value={found.value} />}
      {'items' in found && found.items !== null ? (
        <ItemLinks session={session} task={task} counts={found.items} />
      ) : inputs_error === null ? (
        <Value title="Inputs" value={inputs} />
      ) : (
        <>
          <h3>Inputs</h3>
          <p class="problem">
            <bdi>{inputs_error}</bdi>
          </p>
        </>
      )}
      {error ? (
        <Value title="Error" value={{ ...error }} />
      ) : (
        HAS_OUTPUT.has(status) && <Value title="Output" value={output} />
      )}
      {attempts.length > 1 && <Value title="Attempts" value={attempts} />}
      {cut.length > 0 && (
        <p class="about">
          {cut.length === 1 ? 'One value is' : `${cut.length} values are`} cut.{' '}
          {session.offers.value.includes('values') && (
            <button type="button" class="link" onClick={() => setWhole(true)}>
              Show whole
            </button>
          )}
        </p>
      )}
    </>
  );
}

/** Before that, null would look like an output. */
const HAS_OUTPUT = new Set<string>(['succeeded', 'failed']);

function Value({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <>
      <h3>{title}</h3>
      <JsonTree value={(value ?? null) as Parameters<typeof JsonTree>[0]['value']} label={title} />
    </>
  );
}

function taskPath(session: RunSession, { taskId, subPipeline, item }: TaskAddress, whole: boolean): string {
  const query = new URLSearchParams({
    ...(subPipeline !== undefined && { sub_pipeline: subPipeline }),
    ...(whole && { whole: 'true' }),
  });
  const items = item === undefined ? '' : `/items/${item}`;
  return session.path(`/tasks/${encodeURIComponent(taskId)}${items}${query.size > 0 ? `?${query}` : ''}`);
}

function toProblem(error: unknown, offers: readonly Offer[]): string {
  if (error instanceof ServerError && error.status === 404 && offers.includes('values')) {
    return 'The values are not there: the server forgets them with the run.';
  }
  return `The values cannot be read: ${messageOf(error)}`;
}

function durationOf({ started_at, finished_at }: Found): string {
  if (started_at === null || finished_at === null) return '';
  return `in ${formatTook(Date.parse(finished_at) - Date.parse(started_at))}`;
}
