import pLimit from 'p-limit';
import type { TemplateScope } from '../lib/definition/template/scope.js';
import type { Json, JsonObject } from '../lib/common/json.js';
import type { Pipeline } from '../lib/pipelines/pipeline.js';

/** Runs the fan-out task with p-limit instead: the same items, tool and templates. */
export async function runWithLimit(pipeline: Pipeline, items: number, concurrency: number): Promise<Json[]> {
  const task = pipeline.tasks.get('each');
  if (task === undefined) throw new Error('no fan-out');
  const limit = pLimit(concurrency);
  const scope: TemplateScope = { output: () => undefined, inputs: {}, params: {}, session: {}, goal: '' };
  const render = task.inputs.bind(scope);
  const calls = Array.from({ length: items }, (_, item) =>
    limit(async () => (await task.tool.run(render(item, item) as JsonObject, undefined as never)) as Json),
  );
  return Promise.all(calls);
}
