import { describeUnknownPool } from '../../common/scheduling/task-pools.js';
import type { Suggestions } from '../../definition/did-you-mean.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import type { Path } from '../../definition/problems/problem.js';
import type { PipelineDraft } from '../draft.js';

interface KnownPools {
  /** Names of the pools that there are; undefined when nobody knows before the run. */
  readonly known: ReadonlySet<string> | undefined;
  /** The pool in a place of which this whole pipeline runs; undefined when it runs in none. */
  readonly held: string | undefined;
  readonly suggestions: Suggestions;
}

/** Checks that there are the pools that tasks name, and that no task would take a place within a place (D81). */
export function* checkPools(draft: PipelineDraft, pools: KnownPools): Findings {
  const unsure = new Set<string>();
  for (const { fields, path } of draft.tasks) {
    const { pool } = fields;
    if (typeof pool !== 'string') continue;
    yield* checkPool(pool, [...path, 'pool'], pools, unsure);
  }
}

/** @param unsure pools that a warning has named */
function* checkPool(
  pool: string,
  path: Path,
  { known, held, suggestions }: KnownPools,
  unsure: Set<string>,
): Generator<Diagnostic> {
  if (held !== undefined) {
    const hint =
      'remove it here, or from the task that runs this pipeline: calls that wait in a place could wait for each other';
    const message = `this pipeline runs in a place of pool "${held}": its tasks take none`;
    yield { code: 'pool_within_pool', message, path, hint };
  } else if (known === undefined) {
    if (unsure.has(pool)) return;
    unsure.add(pool);
    const message = `whether there is a pool "${pool}" is not known here`;
    const hint = `a run needs it: SERVICE_POOLS sets the pools, as in SERVICE_POOLS=${pool}=3`;
    yield { code: 'unknown_pool', severity: 'warning', message, path, hint };
  } else if (!known.has(pool)) {
    const hint = suggestions.hint(pool, known, `SERVICE_POOLS sets the pools, as in SERVICE_POOLS=${pool}=3`);
    yield { code: 'unknown_pool', message: describeUnknownPool(pool, known), path, hint };
  }
}
