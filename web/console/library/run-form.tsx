import { pathOfRun } from '../../../lib/common/wire/run-summary.js';
import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../lib/common/json/json.js';
import type { Graph } from '../../../lib/pipelines/drawing/graph.js';
import type { NamedPipeline } from '../../../lib/library/named-pipeline.js';
import type { PlanGraph } from '../../../lib/plans/graph.js';
import { messageOf, type Server } from '../../shared/server/server.js';
import { useJson } from '../../shared/server/use-json.js';
import { JsonField } from '../shell/json-field.js';
import { ParamsForm } from '../shell/params-form.js';
import { findParamProblems, type ParamDeclaration, parseJsonObject } from '../shell/param-values.js';

interface RunFormProps {
  readonly server: Server;
  readonly named: NamedPipeline;
}

/** Asks for the params of a pipeline of the folder, shows its waves, and runs it. */
export function RunForm({ server, named }: RunFormProps) {
  const { id, kind, inputs, tenant_id } = named;
  const params = named.params as Readonly<Record<string, ParamDeclaration>>;
  const [values, setValues] = useState<JsonObject>({});
  const [inputsText, setInputsText] = useState<string | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const [isStarting, setStarting] = useState(false);
  const given = inputsText === undefined ? undefined : parseJsonObject(inputsText);
  const problems = findParamProblems(problem, Object.keys(params));
  const tenant = tenant_id === 'default' ? {} : { tenant_id };
  const start = (event: Event): void => {
    event.preventDefault();
    if (typeof given === 'string') return;
    setStarting(true);
    setProblem('');
    const body = {
      ...tenant,
      ...(kind === 'pipeline' && { params: values }),
      ...(given !== undefined && { inputs: given }),
    };
    server
      .post<{ run_id: string }>(`/pipelines/${encodeURIComponent(id)}/run_async`, body)
      .then(({ run_id }) => window.location.assign(pathOfRun(run_id)))
      .catch((error: unknown) => {
        setProblem(messageOf(error));
        setStarting(false);
      });
  };
  return (
    <form class="run-form" onSubmit={start}>
      <ParamsForm id={`run-${id}`} params={params} values={values} problems={problems} onChange={setValues} />
      {(Object.keys(inputs).length > 0 || kind === 'plan') && (
        <JsonField
          id={`run-${id}-inputs`}
          name="Inputs"
          value={inputsText ?? JSON.stringify(inputs, undefined, 2)}
          problem={typeof given === 'string' ? given : undefined}
          onChange={setInputsText}
        />
      )}
      <Outline server={server} named={named} />
      {problem !== '' && Object.keys(problems).length === 0 && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      <button type="submit" class="primary" disabled={isStarting || typeof given === 'string'}>
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
  const { graph } = value ?? {};
  const last = graph && 'handlers' in graph ? (graph.handlers?.waves ?? []) : [];
  const waves = [...(graph?.waves ?? []), ...last];
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
