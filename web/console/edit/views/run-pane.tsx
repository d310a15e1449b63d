import { pathOfRun } from '../../../../lib/common/wire/run-summary.js';
import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { messageOf, ServerError } from '../../../shared/server/server.js';
import { JsonField } from '../../shell/json-field.js';
import { findParamProblems, parseJsonObject } from '../../shell/param-values.js';
import { ParamsForm } from '../../shell/params-form.js';
import type { CheckState } from '../session/checker.js';
import type { EditSession } from '../session/edit-session.js';
import { RerunPart } from './rerun-part.js';

/** The values that the reader has typed for a run. */
export interface TypedValues {
  readonly params: JsonObject;
  /** As JSON; empty for none. */
  readonly inputs: string;
  readonly session: string;
}

interface RunPaneProps {
  readonly session: EditSession;
  readonly values: TypedValues;
  readonly onChange: (values: TypedValues) => void;
}

/** The values that a run gets: params by a form, inputs and session values as JSON; and the button that starts it. */
export function RunPane({ session, values, onChange }: RunPaneProps) {
  const [problem, setProblem] = useState('');
  const [isStarting, setStarting] = useState(false);
  const { params, inputs } = session.defaults.value;
  const isPlan = session.kind.value === 'plan';
  const { isOk, status } = session.checker.state.value;
  const source = session.source.value;
  const texts = readTexts(values);
  const known = findParamProblems(problem, Object.keys(params));
  const isShownAtParam = Object.keys(known).length > 0;
  const start = (send: () => Promise<string>): void => {
    setStarting(true);
    setProblem('');
    send()
      .then((runId) => {
        session.keepNow();
        window.location.assign(pathOfRun(runId));
      })
      .catch((error: unknown) => {
        setProblem(describe(error, session.checker.state.value));
        setStarting(false);
      });
  };
  const names = Object.keys(params);
  const fields = {
    inputs: (
      <JsonField
        id="edit-inputs"
        name="Inputs"
        about="Replace the default inputs of the definition."
        value={values.inputs}
        example={Object.keys(inputs).length === 0 ? '{}' : JSON.stringify(inputs)}
        problem={texts.problems.inputs}
        onChange={(text) => onChange({ ...values, inputs: text })}
      />
    ),
    session: (
      <JsonField
        id="edit-session"
        name="Session"
        about="Values that templates read as {{session.KEY}}."
        value={values.session}
        example="{}"
        problem={texts.problems.session}
        onChange={(text) => onChange({ ...values, session: text })}
      />
    ),
  };
  const isNeeded = {
    inputs: Object.keys(inputs).length > 0 || values.inputs !== '' || session.text.includes('inputs.'),
    session: values.session !== '' || session.text.includes('session.'),
  };
  return (
    <form
      class="run-pane"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        event.currentTarget.querySelector<HTMLButtonElement>('button.primary')?.click();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (texts.ok) start(() => session.run({ ...texts.values, params: values.params }));
      }}
    >
      {!isPlan && names.length > 0 && (
        <ParamsForm
          id="edit-param"
          params={params}
          values={values.params}
          problems={known}
          onChange={(changed) => onChange({ ...values, params: changed })}
        />
      )}
      {!isPlan && names.length === 0 && <p class="about">This pipeline declares no params.</p>}
      {isNeeded.inputs && fields.inputs}
      {isNeeded.session && fields.session}
      {!(isNeeded.inputs && isNeeded.session) && (
        <details class="more-values">
          <summary>Other values</summary>
          {!isNeeded.inputs && fields.inputs}
          {!isNeeded.session && fields.session}
        </details>
      )}
      {problem !== '' && !isShownAtParam && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      {status === 'checked' && !isOk && (
        <p class="about">It runs when the errors below the text are fixed.</p>
      )}
      {source !== undefined && texts.ok ? (
        <RerunPart
          session={session}
          values={source.kind === 'plan' ? texts.values : { ...texts.values, params: values.params }}
          isStarting={isStarting}
          onStart={start}
        />
      ) : (
        <p class="actions">
          <button type="submit" class="primary" disabled={isStarting || !texts.ok || !isOk}>
            {isStarting ? 'Starting…' : 'Run'}
          </button>
          <kbd>Ctrl Enter</kbd>
        </p>
      )}
    </form>
  );
}

interface Texts {
  readonly ok: boolean;
  readonly values: Readonly<Record<'inputs' | 'session', JsonObject>>;
  readonly problems: Readonly<Partial<Record<'inputs' | 'session', string>>>;
}

function readTexts(values: TypedValues): Texts {
  const [inputs, session] = [parseJsonObject(values.inputs), parseJsonObject(values.session)];
  const isText = (value: JsonObject | string): value is string => typeof value === 'string';
  return {
    ok: !isText(inputs) && !isText(session),
    values: { inputs: isText(inputs) ? {} : inputs, session: isText(session) ? {} : session },
    problems: { ...(isText(inputs) && { inputs }), ...(isText(session) && { session }) },
  };
}

/** The errors of a definition are below the text already, unless only a run has them: it needs all pipelines of a plan. */
function describe(error: unknown, { status, isOk }: CheckState): string {
  const isListed = status !== 'checked' || !isOk;
  if (isListed && error instanceof ServerError && error.code === 'invalid_definition') {
    return 'The server has found errors in the text: they are listed below it.';
  }
  return messageOf(error);
}
