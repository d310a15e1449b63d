import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../lib/common/json.js';
import type { Graph } from '../../../lib/pipelines/graph.js';
import type { NamedPipeline } from '../../../lib/library/named-pipeline.js';
import type { PlanGraph } from '../../../lib/plans/graph.js';
import { messageOf, type Server } from '../../shared/server/server.js';
import { useJson } from '../../shared/server/use-json.js';
import { ParamsForm } from '../shell/params-form.js';
import { type ParamTexts, readParam, readParams } from '../shell/params.js';

interface RunFormProps {
  readonly server: Server;
  readonly named: NamedPipeline;
}

/** Asks for the params of a pipeline of the folder, shows its waves, and runs it. */
export function RunForm({ server, named }: RunFormProps) {
  const { id, kind, params, inputs, tenant_id } = named;
  const [texts, setTexts] = useState<ParamTexts>({});
  const [inputsText, setInputsText] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isStarting, setStarting] = useState(false);
  const values = readParams(params, texts);
  const given = inputsText === undefined ? undefined : readParam({ type: 'object' }, inputsText);
  const tenant = tenant_id === 'default' ? {} : { tenant_id };
  const start = (event: Event): void => {
    event.preventDefault();
    if (values === undefined || given?.ok === false) return;
    setStarting(true);
    setProblem('');
    const body = {
      ...tenant,
      ...(kind === 'pipeline' && { params: values }),
      ...(given?.value !== undefined && { inputs: given.value as JsonObject }),
    };
    server
      .post<{ run_id: string }>(`/pipelines/${encodeURIComponent(id)}/run_async`, body)
      .then(({ run_id }) => window.location.assign(`/runs/${encodeURIComponent(run_id)}`))
      .catch((error: unknown) => {
        setProblem(messageOf(error));
        setStarting(false);
      });
  };
  const inputsJson = inputsText ?? JSON.stringify(inputs, undefined, 2);
  return (
    <form class="run-form" onSubmit={start}>
      <ParamsForm params={params} texts={texts} onChange={setTexts} name={`run-${id}`} />
      {(Object.keys(inputs).length > 0 || kind === 'plan') && (
        <div class="param">
          <label for={`run-${id}-inputs`}>
            Inputs <span class="src">a JSON object</span>
          </label>
          <textarea
            id={`run-${id}-inputs`}
            rows={Math.min(8, inputsJson.split('\n').length + 1)}
            spellcheck={false}
            value={inputsJson}
            aria-invalid={given?.ok === false}
            onInput={(event) => setInputsText(event.currentTarget.value)}
          />
          {given?.ok === false && <span class="problem">{given.problem}</span>}
        </div>
      )}
      <Outline server={server} named={named} />
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      <button
        type="submit"
        class="primary"
        disabled={isStarting || values === undefined || given?.ok === false}
      >
        {isStarting ? 'Starting…' : 'Run it now'}
      </button>
    </form>
  );
}

/** The waves in words; the page of the run draws them. */
function Outline({ server, named: { id, tenant_id } }: RunFormProps) {
  const query = tenant_id === 'default' ? '' : `?${new URLSearchParams({ tenant_id })}`;
  const { value } = useJson<{ graph: Graph | PlanGraph | null }>(
    server,
    `/pipelines/${encodeURIComponent(id)}${query}`,
  );
  const waves = value?.graph?.waves ?? [];
  if (waves.length === 0) return null;
  return (
    <ol class="outline" aria-label="Waves">
      {waves.map((wave, index) => (
        <li key={index}>
          <bdi>
            {wave
              .slice(0, MOST_NAMED)
              .map((task) => task.id)
              .join(', ')}
          </bdi>
          {wave.length > MOST_NAMED && ` and ${wave.length - MOST_NAMED} more`}
        </li>
      ))}
    </ol>
  );
}

const MOST_NAMED = 8;
