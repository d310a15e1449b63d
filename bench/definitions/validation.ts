import { performance } from 'node:perf_hooks';
import { stringify } from 'yaml';
import { checkDefinition, checkPipeline } from '../../lib/pipelines/check.js';
import { Catalog } from '../../lib/tools/catalog.js';
import { median } from '../measure.js';
import { noop } from '../shapes.js';

/** Measures the validation of 10,000 tasks, as an object and as YAML text, and of 5,000, in milliseconds. */
export function validationTime(): {
  readonly objectMs: number;
  readonly halfMs: number;
  readonly textMs: number;
} {
  const catalog = new Catalog([noop]);
  const [whole, half] = [definition(10_000), definition(5000)];
  const text = stringify(whole);
  const time = (work: () => { readonly ok: boolean }): number => {
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      if (!work().ok) throw new Error('it is valid');
      return performance.now() - start;
    });
    return median(times);
  };
  return {
    objectMs: time(() => checkDefinition(whole, { catalog })),
    halfMs: time(() => checkDefinition(half, { catalog })),
    textMs: time(() => checkPipeline(text, { catalog })),
  };
}

/** Creates a definition in which every task reads five others. */
function definition(tasks: number): unknown {
  return {
    id: 'many',
    goal: 'be validated',
    tasks: Array.from({ length: tasks }, (_, task) => ({
      id: `t${task}`,
      tool: 'noop',
      inputs: Object.fromEntries(
        Array.from({ length: Math.min(5, task) }, (_, i) => [
          `x${i}`,
          `{{t${task - 1 - i * Math.floor(task / 5)}.output.n}}`,
        ]),
      ),
    })),
  };
}
