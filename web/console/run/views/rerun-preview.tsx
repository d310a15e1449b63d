import { useEffect, useState } from 'preact/hooks';
import type { RerunReport } from '../../../../lib/runs/rerun/rerun-report.js';
import { formatInteger, formatQuantity } from '../../../shared/model/format.js';
import { messageOf, type Server, ServerError } from '../../../shared/server/server.js';
import { formatSelection, selectionOf } from '../model/addresses.js';

/** Tasks of each list that are shown. */
const MOST_LISTED = 12;

/** The report on what a rerun would do, or why there is none. */
interface PreviewState {
  readonly report: RerunReport | undefined;
  readonly problem: string;
}

/** Typed values are looked at after a pause of so many milliseconds. */
const PAUSE_MS = 350;

/** Asks the server what a rerun would do, each time that its request changes; with undefined there is none. */
export function useRerunPreview(server: Server, runId: string, body: object | undefined): PreviewState {
  const [state, setState] = useState<PreviewState>({ report: undefined, problem: '' });
  const text = body === undefined ? undefined : JSON.stringify(body);
  useEffect(() => {
    if (text === undefined) return;
    let isOld = false;
    const path = `/pipelines/runs/${encodeURIComponent(runId)}/rerun/preview`;
    const timer = window.setTimeout(() => {
      server
        .post<RerunReport>(path, JSON.parse(text) as object)
        .then((report) => {
          if (!isOld) setState({ report, problem: '' });
        })
        .catch((error: unknown) => {
          if (!isOld) setState({ report: undefined, problem: describeProblem(error) });
        });
    }, PAUSE_MS);
    return () => {
      isOld = true;
      window.clearTimeout(timer);
    };
  }, [server, runId, text]);
  return state;
}

/** The server says what to send instead; the reader has a list to choose from. */
function describeProblem(error: unknown): string {
  return error instanceof ServerError && error.code === 'nothing_to_rerun'
    ? NOTHING_TO_RERUN
    : messageOf(error);
}

const NOTHING_TO_RERUN =
  'Nothing would run: the run has succeeded, and nothing that its tasks are or read has changed.';

/** Says which tasks will run, and why, and which are reused (D60). */
export function RerunPreview({ preview: { report, problem } }: { readonly preview: PreviewState }) {
  if (problem !== '') {
    return (
      <p class="problem" role="alert">
        <bdi>{problem}</bdi>
      </p>
    );
  }
  if (report === undefined) return <p class="src">Finding out what would run…</p>;
  const { runs, reused, warnings, skips = [] } = report;
  return (
    <div class="preview" role="status">
      <h3>
        {formatInteger(runs.length)} {runs.length === 1 ? 'task runs' : 'tasks run'}
      </h3>
      <ul>
        {runs.slice(0, MOST_LISTED).map((task) => (
          <li key={formatSelection(selectionOf(task))}>
            <bdi class="name">{formatSelection(selectionOf(task))}</bdi>{' '}
            <span class="src">{describeRunning(task)}</span>
            {task.decided_anew === true && (
              <span class="src">; its conditions decide whether it is skipped</span>
            )}
          </li>
        ))}
      </ul>
      <More hidden={runs.length - MOST_LISTED} />
      {skips.length > 0 && <Skips skips={skips} />}
      <h3>
        {reused.length === 0 ? 'No' : formatInteger(reused.length)}{' '}
        {reused.length > 1 ? 'tasks are' : 'task is'} reused
      </h3>
      <p class="src">
        <bdi>
          {reused
            .slice(0, MOST_LISTED)
            .map((task) => formatSelection(selectionOf(task)))
            .join(', ')}
        </bdi>
      </p>
      <More hidden={reused.length - MOST_LISTED} />
      {warnings.map(({ message }) => (
        <p key={message} class="paused">
          <bdi>{message}</bdi>
        </p>
      ))}
    </div>
  );
}

/** The ends of reasons of the server that name the fields of a request, and what a person has done. */
const REASONS: readonly (readonly [string, string])[] = [
  [
    'has items that are named in "from" or have not succeeded',
    'for the items that you chose, and those that have not succeeded',
  ],
  ['has items that are named in "from"', 'for the items that you chose'],
  ['of which items are named in "from"', 'of which you chose items'],
  ['of which a task is named in "from"', 'of which you chose a task'],
  ['which is named in "from"', 'which you chose'],
  ['is named in "from"', 'as you chose'],
  // Each task runs then, and none needs a reason.
  ['runs, as everything does without "from" and changes', ''],
];

/** Why a task runs, and how often its tool is called. */
function describeRunning({ reason, items, reusable_items: reused }: RerunReport['runs'][number]): string {
  const [end = '', words = ''] = REASONS.find(([end]) => reason.endsWith(end)) ?? [];
  const why = reason.slice(0, reason.length - end.length) + words;
  if (items === undefined) return why;
  const calls = Math.max(0, items - reused);
  const count = `${calls === items ? '' : `${formatInteger(calls)} of `}${formatQuantity(items, 'call')}`;
  return why === '' ? count : `${why}; ${count}`;
}

/** The calls that had succeeded and are made again, of all tasks. */
export function countRepeats({ runs }: RerunReport): number {
  return runs.reduce((sum, { repeats }) => sum + repeats, 0);
}

function Skips({ skips }: { readonly skips: NonNullable<RerunReport['skips']> }) {
  return (
    <>
      <h3>
        {formatInteger(skips.length)} {skips.length === 1 ? 'task is' : 'tasks are'} skipped
      </h3>
      <ul>
        {skips.slice(0, MOST_LISTED).map((task) => (
          <li key={formatSelection(selectionOf(task))}>
            <bdi class="name">{formatSelection(selectionOf(task))}</bdi> <bdi class="src">{task.reason}</bdi>
          </li>
        ))}
      </ul>
      <More hidden={skips.length - MOST_LISTED} />
    </>
  );
}

function More({ hidden }: { readonly hidden: number }) {
  return hidden > 0 ? <p class="src">and {formatInteger(hidden)} more</p> : null;
}
