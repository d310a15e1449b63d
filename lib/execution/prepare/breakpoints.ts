import type { RunBreakpoints } from '../../../machines/run.js';
import { WavetrainError } from '../../common/errors.js';
import { describeKind } from '../../common/json/json.js';
import { cutText } from '../../common/text.js';
import { didYouMean } from '../../definition/problems/hint.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { Plan } from '../../plans/plan.js';
import type { Breakpoints } from './run-inputs.js';

/** Maximum number of tasks before which a run pauses. */
const MAX_BREAKPOINTS = 100;

/** Characters of a name that a message quotes. */
const MAX_QUOTED_LENGTH = 100;

/** Separates a sub-pipeline from its task. Neither id can contain it. */
const SEPARATOR = '/';

/** Finds the waves before which a run pauses; undefined for a run that never does. @throws WavetrainError `invalid_options` */
export function resolveBreakpoints(
  pipeline: Pipeline,
  breakpoints: Breakpoints | undefined,
): RunBreakpoints | undefined {
  const { before, onFailure } = readBreakpoints(breakpoints);
  for (const task of before) assertTask(task, pipeline, `pipeline "${pipeline.definition.id}" has`);
  return toRunBreakpoints(pipeline, before, onFailure);
}

/** Finds the waves before which each run of a plan's sub-pipelines pauses. @throws WavetrainError `invalid_options` */
export function resolvePlanBreakpoints(
  plan: Plan,
  breakpoints: Breakpoints | undefined,
): (subPipelineId: string) => RunBreakpoints | undefined {
  const { before, onFailure } = readBreakpoints(breakpoints);
  const tasks = new Map<string, string[]>();
  for (const path of before) {
    const [id = '', task = '', ...rest] = path.split(SEPARATOR);
    if (task === '' || rest.length > 0) {
      throw invalid(`${quote(path)} is no task of a plan: name it as SUB_PIPELINE/TASK`);
    }
    assertKnown(id, plan.subPipelines, 'the plan has', 'sub-pipeline');
    const pipeline = plan.subPipelines.get(id)?.pipeline;
    if (pipeline !== undefined) assertTask(task, pipeline, `sub-pipeline "${id}" has`);
    tasks.set(id, [...(tasks.get(id) ?? []), task]);
  }
  return (id) => {
    const pipeline = plan.subPipelines.get(id)?.pipeline;
    return pipeline && toRunBreakpoints(pipeline, tasks.get(id) ?? [], onFailure);
  };
}

function toRunBreakpoints(
  { waves }: Pipeline,
  before: readonly string[],
  onFailure: boolean,
): RunBreakpoints | undefined {
  if (before.length === 0 && !onFailure) return undefined;
  const tasks = new Set(before);
  const beforeWaves = waves.flatMap((ids, wave) => (ids.some((id) => tasks.has(id)) ? [wave] : []));
  return { beforeWaves, onFailure };
}

/** The values come from callers of the library, too, which nothing has checked. */
function readBreakpoints(breakpoints: Breakpoints = {}): {
  readonly before: readonly string[];
  readonly onFailure: boolean;
} {
  const before: unknown = breakpoints.before ?? [];
  if (!Array.isArray(before)) {
    throw invalid(`"before" must be a list of ids of tasks, not ${describeKind(before)}`);
  }
  if (before.length > MAX_BREAKPOINTS) {
    throw invalid(`"before" names ${before.length} tasks; the limit is ${MAX_BREAKPOINTS}`);
  }
  const wrong = before.find((id) => typeof id !== 'string');
  if (wrong !== undefined) throw invalid(`"before" must list ids of tasks, not ${describeKind(wrong)}`);
  const onFailure: unknown = breakpoints.on_failure ?? false;
  if (typeof onFailure !== 'boolean') {
    throw invalid(`"on_failure" must be true or false, not ${describeKind(onFailure)}`);
  }
  return { before: before as string[], onFailure };
}

function assertTask(id: string, { tasks, handlers }: Pipeline, owner: string): void {
  if (handlers?.tasks.has(id) === true)
    throw invalid(`${quote(id)} is a handler: a run does not pause in its handlers`);
  assertKnown(id, tasks, owner);
}

function assertKnown(
  id: string,
  known: ReadonlyMap<string, unknown>,
  owner: string,
  what: 'task' | 'sub-pipeline' = 'task',
): void {
  if (known.has(id)) return;
  const suggestion = nearest(id, known.keys());
  const hint = suggestion === undefined ? '' : ` (${didYouMean(suggestion)})`;
  throw invalid(`${owner} no ${what} ${quote(id)}${hint}`);
}

/** Quotes a name from a caller, who may have sent anything. */
function quote(name: string): string {
  return `"${cutText(name, MAX_QUOTED_LENGTH)}"`;
}

function invalid(message: string): WavetrainError {
  return new WavetrainError('invalid_options', `breakpoints: ${message}`);
}
