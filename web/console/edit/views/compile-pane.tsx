import { useRef, useState } from 'preact/hooks';
import { messageOf } from '../../../shared/server/server.js';
import {
  compileDefinition,
  type CompilationProgress,
  type CompilationResult,
  type RejectedAnswer,
} from '../session/compilation.js';
import type { EditSession } from '../session/edit-session.js';
import { DiffDialog } from './diff-dialog.js';

/** The states of a compilation, in words for the reader. */
const STATES: Readonly<Record<string, string>> = {
  drafting: 'The model writes',
  validating: 'The server checks the answer',
  repairing: 'The model repairs what was wrong',
};

/** Has a language model write the definition. The model's text replaces nothing before the reader has compared it. */
export function CompilePane({ session }: { readonly session: EditSession }) {
  const [prompt, setPrompt] = useState('');
  const [progress, setProgress] = useState<readonly CompilationProgress[]>([]);
  const [result, setResult] = useState<CompilationResult | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isCompared, setCompared] = useState(false);
  const ending = useRef<AbortController | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    const end = new AbortController();
    ending.current = end;
    setBusy(true);
    setProgress([]);
    setResult(undefined);
    setProblem('');
    try {
      const onProgress = (step: CompilationProgress): void => setProgress((steps) => [...steps, step]);
      const written = await compileDefinition(session.server, prompt, onProgress, end.signal);
      setResult(written);
      setCompared(written.kind === 'written');
    } catch (error) {
      setProblem(end.signal.aborted ? 'Cancelled. The text is as it was.' : messageOf(error));
    }
    setBusy(false);
  };
  const take = (): void => {
    if (result?.kind === 'written') session.replaceText(result.yaml);
    setCompared(false);
  };
  return (
    <form
      class="compile-pane"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <div class="param">
        <label for="edit-prompt">What shall the pipeline do?</label>
        <textarea
          id="edit-prompt"
          rows={4}
          maxLength={20_000}
          value={prompt}
          placeholder="Fetch the three newest articles, summarise each in a sentence, and store the summaries."
          onInput={(event) => setPrompt(event.currentTarget.value)}
        />
      </div>
      <p class="actions">
        <button type="submit" class="primary" disabled={isBusy || prompt.trim() === ''}>
          {isBusy ? 'Writing…' : 'Write it'}
        </button>
        {isBusy && (
          <button type="button" onClick={() => ending.current?.abort()}>
            Cancel
          </button>
        )}
      </p>
      <ol class="steps" aria-live="polite" aria-label="Progress">
        {progress.map(({ state, attempt }, index) => (
          <li key={index} class={isBusy && index === progress.length - 1 ? 'now' : ''}>
            <span
              class={`dot ${isBusy && index === progress.length - 1 ? 'active' : 'done'}`}
              aria-hidden="true"
            />
            {STATES[state] ?? state}
            {attempt > 1 && <span class="src">, attempt {attempt}</span>}
          </li>
        ))}
      </ol>
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      {result !== undefined && <Outcome result={result} onCompare={() => setCompared(true)} />}
      {isCompared && result?.kind === 'written' && (
        <DiffDialog
          title="What the model has written"
          about="On the left is your text, on the right the new one. It can be undone."
          before={{ label: 'Your text', text: session.text }}
          after={{ label: `Written by ${result.model}`, text: result.yaml }}
          keep="Keep my text"
          take="Replace my text"
          onKeep={() => setCompared(false)}
          onTake={take}
        />
      )}
    </form>
  );
}

interface OutcomeProps {
  readonly result: CompilationResult;
  readonly onCompare: () => void;
}

function Outcome({ result, onCompare }: OutcomeProps) {
  const { rejected } = result;
  return (
    <>
      {result.kind === 'written' ? (
        <p class="actions">
          <span>
            Written by {result.model} in{' '}
            {result.attempts === 1 ? 'one attempt' : `${result.attempts} attempts`}.
          </span>
          <button type="button" onClick={onCompare}>
            Compare with my text
          </button>
        </p>
      ) : (
        <div class="problem" role="alert">
          <p>
            <bdi>{result.message}</bdi>
          </p>
        </div>
      )}
      {rejected.length > 0 && <Rejected answers={rejected} />}
    </>
  );
}

function Rejected({ answers }: { readonly answers: readonly RejectedAnswer[] }) {
  return (
    <section class="rejected" aria-label="Repair history">
      <h3>{answers.length === 1 ? 'One answer was' : `${answers.length} answers were`} rejected</h3>
      {answers.map(({ yaml, error }, index) => (
        <details key={index}>
          <summary>
            Answer {index + 1}: <bdi>{error.split('\n')[0]}</bdi>
          </summary>
          <pre class="error-text">{error}</pre>
          <pre>{yaml}</pre>
        </details>
      ))}
    </section>
  );
}
