import { useJson } from '../../../shared/server/use-json.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import type { RunSession } from '../run-session.js';
import { CopyButton } from './copy-button.js';

/** What the run was submitted with. */
export function DefinitionView({ session }: { readonly session: RunSession }) {
  const { value, problem } = useJson<EditableDefinition>(session.server, session.path('/definition'));
  if (problem !== '') return <p class="empty">The definition cannot be read: {problem}</p>;
  if (value === undefined) return <p class="empty">Reading the definition…</p>;
  const { yaml, params, inputs, session: values, options } = value;
  const given = { params, inputs, session: values, options: { ...options } };
  return (
    <div class="content">
      <p class="about">
        <a class="button" href={`/edit?run=${encodeURIComponent(session.runId)}`}>
          Mend it in the editor
        </a>{' '}
        <CopyButton text={yaml}>Copy the YAML</CopyButton>
      </p>
      {Object.values(given).some((part) => Object.keys(part ?? {}).length > 0) && (
        <>
          <h3>Values of the run</h3>
          <JsonTree value={given} label="Values of the run" />
        </>
      )}
      <h3>Definition</h3>
      <pre class="code" tabIndex={0}>
        {yaml}
      </pre>
    </div>
  );
}
