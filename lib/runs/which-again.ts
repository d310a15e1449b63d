import { WavetrainError } from '../common/errors.js';
import type { ActorRun } from '../execution/run/base-run.js';

/** Reuses the outputs of all tasks that succeeded. */
const FROM_FAILED = 'failed';

/** What ran, part by part: the tasks of a pipeline, or the sub-pipelines of a plan. */
interface Parts {
  readonly whole: 'pipeline' | 'plan';
  readonly part: 'task' | 'sub-pipeline';
  /** In declared order. */
  readonly ids: readonly string[];
  /** Each after those that it needs. */
  readonly order: readonly string[];
  readonly needs: (id: string) => readonly string[];
}

/**
 * The parts that run again whatever they produced (D35).
 *
 * @param from undefined is all of them; `failed` none; the id of a part is that one and what needs it, near or far
 * @throws WavetrainError `nothing_to_rerun` or `invalid_request`
 */
export function whichAgain(
  { id, status }: Pick<ActorRun, 'id' | 'status'>,
  from: string | undefined,
  parts: Parts,
): ReadonlySet<string> {
  const { whole, part, ids } = parts;
  if (from === undefined) return new Set(ids);
  if (from === FROM_FAILED) {
    if (status !== 'succeeded') return new Set();
    const message = `run ${id} succeeded: name a ${part}, or rerun all of it`;
    throw new WavetrainError('nothing_to_rerun', message);
  }
  if (ids.includes(from)) return withFollowers(from, parts);
  const known = ids.slice(0, 20).join(', ');
  throw new WavetrainError(
    'invalid_request',
    `the ${whole} has no ${part} "${from}"; its ${part}s are ${known}`,
  );
}

function withFollowers(id: string, { order, needs }: Parts): Set<string> {
  const found = new Set([id]);
  for (const other of order) if (needs(other).some((need) => found.has(need))) found.add(other);
  return found;
}
