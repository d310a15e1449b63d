import type { JsonObject } from '../../../../lib/common/json.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import type { FollowedRun } from '../run-session.js';
import { ValueView } from '../task/value-view.js';

/** What a run that has succeeded has produced, as `wavetrain run` prints it: the outputs by task. */
export function OutputsView({ session }: { readonly session: FollowedRun }) {
  const { result } = session.record.value ?? {};
  if (!result) return null;
  return (
    <div class="content">
      {listOutputs(result).map(({ title, outputs }) => (
        <ValueView key={title} title={title} value={outputs} name={`${session.runId}-${title}`} />
      ))}
    </div>
  );
}

interface TitledOutputs {
  readonly title: string;
  readonly outputs: JsonObject;
}

/** Those of a pipeline, or of each sub-pipeline of a plan. */
function listOutputs(result: NonNullable<RunRecord['result']>): TitledOutputs[] {
  if (result.plan_id === undefined) return [{ title: 'Outputs', outputs: result.outputs }];
  return Object.entries(result.sub_results).map(([id, { outputs }]) => ({
    title: `Outputs of ${id}`,
    outputs,
  }));
}
