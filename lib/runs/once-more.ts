import type { AnyRun, LocalExecutor } from '../execution/local-executor.js';
import { planRerunOf } from './rerun-plan.js';
import { rerunOf } from './rerun.js';

/** Makes a run when it is known what it takes in memory; `weigh` may throw. */
export type Accept = (weigh: (bytes: number) => void) => AnyRun;

/**
 * A settled run once more, of whichever kind it was (D35).
 *
 * @throws WavetrainError `run_not_settled`, `nothing_to_rerun` or `invalid_request`
 */
export function onceMore(executor: LocalExecutor, run: AnyRun, from: string | undefined): Accept {
  if (run.kind === 'plan') {
    const again = planRerunOf(run, from);
    return (weigh) => executor.acceptPlan(again.run, again.origin, weigh);
  }
  const again = rerunOf(run, from);
  return (weigh) => executor.accept(again.run, again.origin, weigh);
}
