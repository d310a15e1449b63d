import { WavetrainError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { RunRecord } from '../../runs/record.js';
import type { Catalog } from '../../tools/catalog.js';
import type { HostRuns } from './host-runs.js';
import type { HostAnswer } from './served-tool.js';

/** Larger outputs are not sent: they would fill the context of a model. */
const MAX_OUTPUTS_LENGTH = 256 * 1024;

const MAX_TASKS = 100;

/** How a run has ended: its outputs unless they are long, or what failed. */
export function describeEnd(record: RunRecord): HostAnswer {
  const { result, failures, error, run_id, status, artifacts } = record;
  const outputs = JSON.stringify(result);
  const isShort = outputs.length <= MAX_OUTPUTS_LENGTH;
  return {
    value: toData({
      run_id,
      status,
      ...(error !== null && { error, failures: failures.slice(0, MAX_TASKS) }),
      ...(result !== null && isShort && { result }),
      ...(!isShort && {
        note: `the outputs are ${outputs.length} characters long: call "runs" with run_id and task_id to read one`,
      }),
      ...(artifacts.length > 0 && { artifacts: artifacts.slice(0, MAX_TASKS) }),
    }),
    isError: result === null,
  };
}

/** The tools of a catalog; or one of them whole. @throws WavetrainError `bad_usage` for a name that it has not */
export function showTools(catalog: Catalog, name: string | undefined): JsonObject {
  const metadata = catalog.metadata();
  if (name === undefined)
    return toData({ tools: metadata.map((tool) => ({ name: tool.name, description: tool.description })) });
  const tool = metadata.find((candidate) => candidate.name === name);
  if (tool !== undefined) return toData(tool);
  const meant = nearest(name, catalog.names());
  const hint =
    meant === undefined ? 'call "tools" without inputs for all of them' : `did you mean "${meant}"?`;
  throw new WavetrainError('bad_usage', `there is no tool "${name}"; ${hint}`);
}

/** All runs; or one of them with its tasks; or a task of it. Rejects with `run_not_found` or `task_not_found`. */
export async function showRuns(
  runs: HostRuns,
  runId: string | undefined,
  taskId: string | undefined,
  subPipeline: string | undefined,
): Promise<JsonObject> {
  if (runId === undefined) {
    const listed = runs
      .list()
      .map(({ run_id, record }) => (record === undefined ? { run_id } : summarize(record)));
    return toData({ runs: listed });
  }
  const { registry, record } = runs.find(runId);
  const { queries } = registry;
  const place = subPipeline === undefined ? {} : { sub_pipeline: subPipeline };
  if (taskId !== undefined) {
    const whole = await queries.task(runId, taskId, { ...place, whole: true });
    const isShort = JSON.stringify(whole).length <= MAX_OUTPUTS_LENGTH;
    return toData(isShort ? whole : await queries.task(runId, taskId, place));
  }
  const { tasks } = await queries.tasks(runId, { ...place, limit: MAX_TASKS });
  return toData({ run_id: runId, ...(record && summarize(record)), tasks });
}

function summarize(record: RunRecord): object {
  const { run_id, kind, status, pipeline_id, goal, error, started_at, finished_at } = record;
  return { run_id, kind, status, pipeline_id, goal, error, started_at, finished_at };
}

/** Records and reports are JSON, without the fields that are undefined. */
export function toData(value: object): JsonObject {
  return value as JsonObject;
}
