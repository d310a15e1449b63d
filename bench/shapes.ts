import { checkDefinition } from '../lib/pipelines/check.js';
import type { Pipeline } from '../lib/pipelines/pipeline.js';
import { Catalog } from '../lib/tools/catalog.js';
import { defineTool } from '../lib/tools/tool.js';

/** The asynchronous no-op that every measurement calls. */
export const noop = defineTool({
  name: 'noop',
  description: 'does nothing',
  inputs: {},
  openInputs: true,
  run: async (inputs) => inputs,
});

interface Task {
  readonly id: string;
  readonly inputs: Record<string, unknown>;
  readonly parallel_over?: string;
  readonly cache?: boolean;
}

function createPipeline(tasks: readonly Task[]): Pipeline {
  const definition = {
    id: 'bench',
    goal: 'be fast',
    inputs: { n: 0 },
    tasks: tasks.map((task) => ({ ...task, tool: 'noop' })),
  };
  const check = checkDefinition(definition, { catalog: new Catalog([noop]) });
  if (!check.ok) throw new Error(check.problems.map(({ message }) => message).join('\n'));
  return check.pipeline;
}

/** The two templates of every task: a whole value, and one inside a string. */
const FIRST = { n: '{{pipeline.inputs.n}}', text: 'after {{pipeline.inputs.n}}' };

/** Each task reads the output of the previous one. */
export function chain(length: number): Pipeline {
  return createPipeline(
    Array.from({ length }, (_, i) => ({
      id: `t${i}`,
      inputs: i === 0 ? FIRST : { n: `{{t${i - 1}.output.n}}`, text: `after {{t${i - 1}.output.n}}` },
    })),
  );
}

/** Creates `count` waves of `width` tasks; each task reads one of the previous wave. */
export function waves(count: number, width: number): Pipeline {
  return createPipeline(
    Array.from({ length: count * width }, (_, i) => {
      const wave = Math.floor(i / width);
      const before = `t${i - width}`;
      return {
        id: `t${i}`,
        inputs: wave === 0 ? FIRST : { n: `{{${before}.output.n}}`, text: `after {{${before}.output.n}}` },
      };
    }),
  );
}

/** One task returns a list, the next calls the tool for each item, or finds each output in the cache. */
export function fanOut(items: number, cache = false): Pipeline {
  return createPipeline([
    { id: 'list', inputs: { items: Array.from({ length: items }, (_, i) => i) } },
    {
      id: 'each',
      parallel_over: '{{list.output.items}}',
      inputs: { n: '{{item}}', text: 'item {{item}}' },
      cache,
    },
  ]);
}
