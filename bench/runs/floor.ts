import type { TemplateScope } from '../../lib/definition/template/scope.js';
import type { Json, JsonObject } from '../../lib/common/json/json.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';

/**
 * Runs a validated pipeline at the lowest possible cost: `Promise.all` over each wave, with the same tool and the same
 * resolved templates. No retries, timeouts, cancel, events or records.
 */
export async function runFloor(pipeline: Pipeline): Promise<Map<string, Json>> {
  const outputs = new Map<string, Json>();
  const scope: TemplateScope = {
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
