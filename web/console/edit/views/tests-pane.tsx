import { useState } from 'preact/hooks';
import type { TestResult } from '../../../../lib/testing/pipelines/test-request.js';
import type { CaseReport } from '../../../../lib/testing/pipelines/definition-tests.js';
import { messageOf } from '../../../shared/server/server.js';
import { Notice } from '../../../shared/views/notices.js';
import type { EditSession } from '../session/edit-session.js';

interface TestsPaneProps {
  readonly session: EditSession;
}

/** Runs the tests beside the file with the text as it is in the editor (D91), and shows what each case has failed of. */
export function TestsPane({ session }: TestsPaneProps) {
  const [result, setResult] = useState<TestResult | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const id = session.fileId.value;
  const run = async (): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      setResult(await session.files.test(id, session.text));
    } catch (error) {
      setResult(undefined);
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  if (id === '')
    return <p class="empty">Save the text into the folder of the server first: tests are beside a file.</p>;
  return (
    <div class="tests-pane">
      <p>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void run()}>
          {isBusy ? 'Running…' : 'Run tests'}
        </button>{' '}
        <span class="src">The tools answer what the tests say: nothing is sent, and no run is kept.</span>
      </p>
      {problem !== '' && <Notice tone="bad">The tests could not be run: {problem}.</Notice>}
      <div role="status">{result !== undefined && <Result result={result} />}</div>
    </div>
  );
}

function Result({ result }: { readonly result: TestResult }) {
  const { file, cases, problems, left_out: leftOut, coverage, in_definition: inDefinition } = result;
  const failed = cases.filter(({ ok }) => !ok).length;
  const summary =
    problems.length > 0
      ? 'Not valid'
      : failed === 0
        ? `${count(cases.length)} passed`
        : `${failed} of ${count(cases.length)} failed`;
  return (
    <>
      <p class="summary">
        <span class={`dot ${result.ok ? 'done' : 'failed'}`} aria-hidden="true" />
        <span>{summary}</span> {file !== null && <bdi class="src">{file}</bdi>}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ message, hint, line }, index) => (
            <Sentence
              key={index}
              line={line}
              message={inDefinition ? `The definition: ${message}` : message}
              hint={hint}
            />
          ))}
        </ul>
      )}
      <ol class="cases">
        {cases.map((each) => (
          <Case key={each.name} result={each} />
        ))}
      </ol>
      {leftOut > 0 && (
        <p class="src">{count(leftOut)} not run: there are too many, or they take too long together.</p>
      )}
      {coverage !== null && <Coverage coverage={coverage} />}
    </>
  );
}

function Case({ result }: { readonly result: CaseReport }) {
  const { name, ok, problems } = result;
  return (
    <li>
      <p class="case">
        <span class={`dot ${ok ? 'done' : 'failed'}`} aria-hidden="true" />
        <span class="hidden">{ok ? 'Passed: ' : 'Failed: '}</span>
        <bdi>{name}</bdi>
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ line, message, hint }, index) => (
            <Sentence key={index} line={line} message={message} hint={hint} />
          ))}
        </ul>
      )}
    </li>
  );
}

interface SentenceProps {
  readonly line: number | undefined;
  readonly message: string;
  readonly hint: string | undefined;
}

function Sentence({ line, message, hint }: SentenceProps) {
  return (
    <li>
      <bdi>{message}</bdi> {line !== undefined && <span class="src">line {line}</span>}
      {hint !== undefined && <bdi class="hint">{hint}</bdi>}
    </li>
  );
}

function Coverage({
  coverage: { tasks, branches },
}: {
  readonly coverage: NonNullable<TestResult['coverage']>;
}) {
  const never = [...tasks.never.map((task) => `${task} runs`), ...branches.never];
  const reached = ({ total, never: left }: typeof tasks, nouns: readonly [string, string]): string =>
    `${total - left.length} of ${total} ${nouns[total === 1 ? 0 : 1]}`;
  return (
    <p class="src">
      Coverage: {reached(tasks, ['task', 'tasks'])}
      {branches.total > 0 && `, ${reached(branches, ['branch', 'branches'])}`}.
      {never.length > 0 && (
        <>
          {' '}
          Never: <bdi>{never.join(', ')}</bdi>.
        </>
      )}
    </p>
  );
}

function count(number: number): string {
  return `${number.toLocaleString('en')} ${number === 1 ? 'case' : 'cases'}`;
}
