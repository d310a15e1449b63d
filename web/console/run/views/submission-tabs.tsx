import { useState } from 'preact/hooks';
import type {
  BlackboardView as Blackboard,
  EditableDefinition,
} from '../../../../lib/runs/views/submission-view.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { useJson } from '../../../shared/server/use-json.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import { editorPath } from '../model/addresses.js';
import type { FollowedRun } from '../followed-run.js';
import { CopyButton } from '../../shell/copy-button.js';

/** While tasks settle, the blackboard is read again so many milliseconds after the last answer. */
const REFRESH_MS = 1000;

/** The values of the blackboard now, with marks on what differs from when the run began. */
export function BlackboardTab({ session }: { readonly session: FollowedRun }) {
  const [whole, setWhole] = useState(false);
  const [showsBefore, setShowsBefore] = useState(false);
  const path = session.path(`/blackboard?whole=${whole}`);
  const { value, problem } = useJson<Blackboard>(session.server, path, {
    keep: true,
    refreshMs: REFRESH_MS,
    // A task that has settled may have stored something.
    round: session.settledCount.value,
  });
  if (value === undefined && problem !== '')
    return <p class="empty">The blackboard cannot be read: {problem}</p>;
  if (value === undefined) return <p class="empty">Reading the blackboard…</p>;
  const { before, after, cut } = value;
  const isEmpty = Object.keys(before).length === 0 && Object.keys(after).length === 0;
  if (isEmpty)
    return (
      <p class="empty">
        The blackboard is empty: no task has stored anything, and the run began with nothing.
      </p>
    );
  return (
    <div class="content">
      {problem !== '' && <p class="problem">{problem}</p>}
      <p class="about">
        <label class="check">
          <input type="checkbox" checked={showsBefore} onChange={() => setShowsBefore(!showsBefore)} /> As it
          was before the run
        </label>{' '}
        {cut.length > 0 && (
          <button type="button" class="link" onClick={() => setWhole(true)}>
            Large values are cut: show them whole
          </button>
        )}
      </p>
      {showsBefore ? (
        <JsonTree value={before} label="Blackboard before the run" />
      ) : (
        <JsonTree value={after} before={{ value: before }} label="Blackboard" />
      )}
    </div>
  );
}

/** The submission of the run. */
export function DefinitionTab({ session }: { readonly session: FollowedRun }) {
  const { value, problem } = useJson<EditableDefinition>(session.server, session.path('/definition'));
  if (problem !== '') return <p class="empty">The definition cannot be read: {problem}</p>;
  if (value === undefined) return <p class="empty">Reading the definition…</p>;
  const { definition, yaml, params, inputs, session: values, options } = value;
  const text = yaml ?? JSON.stringify(definition);
  const given = { inputs, session: values, options: { ...options } };
  return (
    <div class="content">
      <p class="actions">
        <a class="button" href={editorPath(session.runId)}>
          Fix in the editor
        </a>
        <CopyButton text={text}>Copy the {yaml === null ? 'JSON' : 'YAML'}</CopyButton>
      </p>
      <ParamTable declared={(definition['params'] ?? {}) as ParamTableProps['declared']} given={params} />
      {Object.values(given).some((part) => Object.keys(part ?? {}).length > 0) && (
        <>
          <h3>Values of the run</h3>
          <JsonTree value={given} label="Values of the run" />
        </>
      )}
      <h3>Definition</h3>
      <pre class="code" tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}

interface ParamTableProps {
  /** The params of the definition, which the server has checked. */
  readonly declared: Readonly<Record<string, { readonly default?: Json }>>;
  /** The params that were sent. */
  readonly given: JsonObject;
}

/** The params with the values that the run has used: those that were sent, and the defaults of the others. */
function ParamTable({ declared, given }: ParamTableProps) {
  const params = Object.entries(declared);
  if (params.length === 0) return null;
  return (
    <section aria-label="Params">
      <h3>Params</h3>
      <dl class="facts">
        {params.map(([name, param]) => {
          const isGiven = Object.hasOwn(given, name);
          const value = isGiven ? given[name] : param.default;
          return (
            <>
              <dt>
                <bdi>{name}</bdi>
                {!isGiven && ' (default)'}
              </dt>
              <dd>
                <JsonTree value={value ?? null} label={`Param ${name}`} />
              </dd>
            </>
          );
        })}
      </dl>
    </section>
  );
}
