import type { Scope } from '../lib/definition/template/scope.js';
import type { Json, JsonObject } from '../lib/common/json.js';
import type { Pipeline } from '../lib/pipelines/pipeline.js';

/**
 * The least that running a pipeline can cost: `Promise.all` over each wave of a pipeline that was validated before,
 * the same tool, the same templates resolved. No retries, no timeouts, no cancel, no events, nothing to look at.
 */
export async function runOnTheFloor(pipeline: Pipeline): Promise<Map<string, Json>> {
  const outputs = new Map<string, Json>();
  const scope: Scope = {
    output: (id) => outputs.get(id),
    inputs: { n: 0 },
    params: {},
    session: {},
    goal: '',
  };
  for (const wave of pipeline.waves) {
    await Promise.all(
      wave.map(async (id) => {
        const task = pipeline.tasks.get(id);
        if (task === undefined) throw new Error(`no task ${id}`);
        outputs.set(id, (await task.tool.run(task.inputs.render(scope) as JsonObject, NO_CONTEXT)) as Json);
      }),
    );
  }
  return outputs;
}

const NO_CONTEXT = undefined as never;
