import { checkDefinition } from '../lib/pipelines/check.js';
import type { Pipeline } from '../lib/pipelines/pipeline.js';
import { Catalog } from '../lib/tools/catalog.js';
import { defineTool } from '../lib/tools/tool.js';

/** The no-op that every measurement calls: it does nothing, asynchronously. */
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
}

function pipelineOf(tasks: readonly Task[]): Pipeline {
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

/** Two templates in every task: one that keeps its value's type, one within a text. */
const FIRST = { n: '{{pipeline.inputs.n}}', text: 'after {{pipeline.inputs.n}}' };

/** Every task hands on a value and a sentence of the one before. */
export function chain(length: number): Pipeline {
  return pipelineOf(
    Array.from({ length }, (_, i) => ({
      id: `t${i}`,
      inputs: i === 0 ? FIRST : { n: `{{t${i - 1}.output.n}}`, text: `after {{t${i - 1}.output.n}}` },
    })),
  );
}

/** `count` waves of `width` tasks; each reads one task of the wave before. */
export function waves(count: number, width: number): Pipeline {
  return pipelineOf(
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

/** One task makes a list, the next calls the tool once for each of its items. */
export function fanOut(items: number): Pipeline {
  return pipelineOf([
    { id: 'list', inputs: { items: Array.from({ length: items }, (_, i) => i) } },
    { id: 'each', parallel_over: '{{list.output.items}}', inputs: { n: '{{item}}', text: 'item {{item}}' } },
  ]);
}
