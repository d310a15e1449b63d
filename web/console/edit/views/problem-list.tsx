import type { Problem } from '../../../../lib/definition/problems/problem.js';
import type { EditSession } from '../session/edit-session.js';

/** More are not listed: the first ones are fixed first. */
const MOST_LISTED = 200;

/** The problems of the text, each with its place, a hint, and a button that fixes it. */
export function ProblemsPane({ session }: { readonly session: EditSession }) {
  const { problems } = session.checker.state.value;
  return (
    <section class="problems" aria-label="Problems">
      <Summary session={session} />
      {problems.length > 0 && (
        <ol>
          {problems.slice(0, MOST_LISTED).map((problem) => (
            <Entry key={keyOf(problem)} problem={problem} session={session} />
          ))}
        </ol>
      )}
      {problems.length > MOST_LISTED && (
        <p class="src">and {(problems.length - MOST_LISTED).toLocaleString('en')} more</p>
      )}
    </section>
  );
}

function Summary({ session }: { readonly session: EditSession }) {
  const { status, isOk, problems, reason } = session.checker.state.value;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const counts = [count(errors, 'error'), count(warnings, 'warning')].filter(Boolean).join(', ');
  const [tone, text] = ((): readonly [string, string] => {
    if (status === 'unreachable') {
      return [
        'failed',
        `The text cannot be checked: ${reason}. It is kept, and checked again as soon as the server answers.`,
      ];
    }
    if (status === 'refused') return ['paused', reason];
    if (status === 'idle') return ['waiting', 'Not checked yet'];
    if (counts !== '') return [errors > 0 ? 'failed' : 'paused', counts];
    return isOk ? ['done', 'No problems'] : ['waiting', 'Nothing to check'];
  })();
  return (
    <p class="summary" role="status">
      <span class={`dot ${tone}`} aria-hidden="true" />
      <span>{text}</span>
    </p>
  );
}

function count(number: number, noun: string): string {
  return number === 0 ? '' : `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** An entry stays one problem's: a click on a fix must not reach the fix of another problem that has moved up. */
function keyOf({ line, column, path, message }: Problem): string {
  return `${line}:${column} ${path} ${message}`;
}

interface EntryProps {
  readonly problem: Problem;
  readonly session: EditSession;
}

function Entry({ problem, session }: EntryProps) {
  const { severity, message, hint, line, column, fix, path } = problem;
  const { text } = session.checker.state.value;
  const place = line === undefined ? path : `${line}:${column ?? 1}`;
  return (
    <li>
      <button
        type="button"
        class="go"
        disabled={line === undefined}
        onClick={() => session.editor?.goTo({ line: line ?? 1, column: column ?? 1 })}
      >
        <span class={`dot ${severity === 'error' ? 'failed' : 'paused'}`} aria-hidden="true" />
        <span class="place">
          <span class="hidden">{severity === 'error' ? 'Error' : 'Warning'} at </span>
          {place}
        </span>
        <span class="message">
          <bdi>{message}</bdi>
          {hint !== undefined && <bdi class="hint">{hint}</bdi>}
        </span>
      </button>
      {fix !== undefined && (
        <button type="button" class="fix" onClick={() => session.editor?.applyFix(fix, text)}>
          {fix.title}
        </button>
      )}
    </li>
  );
}
