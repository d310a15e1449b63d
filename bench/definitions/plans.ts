import { performance } from 'node:perf_hooks';
import { LocalExecutor } from '../../lib/execution/local-executor.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { checkPlanDefinition } from '../../lib/plans/check.js';
import type { Plan } from '../../lib/plans/plan.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { compare, median } from '../measure.js';

const executor = new LocalExecutor();
const catalog = builtinCatalog();

/** Measures a plan, and its pipelines run one after another on their own, in milliseconds. */
export function planTimes(plan: Plan): Promise<{ readonly plan: number; readonly alone: number }> {
  const pipelines = [...plan.subPipelines.values()].map(({ pipeline }) => pipeline);
  return compare({ plan: () => runPlan(plan), alone: () => runAlone(pipelines) }, { rounds: 41, warmup: 12 });
}

/** Measures the check of a plan object and its pipelines, in milliseconds. */
export function planCheckTime(subPipelines: number): number {
  const definition = chainDefinition(subPipelines);
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    checkPlan(definition);
    return performance.now() - start;
  });
  return median(times);
}

/** Creates a plan of sub-pipelines with one task each; each stores a key that the next one reads. */
export function planChain(subPipelines: number): Plan {
  return checkPlan(chainDefinition(subPipelines));
}

async function runPlan(plan: Plan): Promise<void> {
  const runId = await executor.submitPlan({ plan });
  await executor.getPlanResult(runId);
  executor.forget(runId);
}

async function runAlone(pipelines: readonly Pipeline[]): Promise<void> {
  for (const pipeline of pipelines) {
    const runId = await executor.submit({ pipeline });
    await executor.getResult(runId);
    executor.forget(runId);
  }
}

function checkPlan(definition: unknown): Plan {
  const check = checkPlanDefinition(definition, { catalog });
  if (check.ok && check.plan !== undefined) return check.plan;
  throw new Error(check.problems.map(({ message }) => message).join('\n'));
}

function chainDefinition(subPipelines: number): unknown {
  return {
    id: 'bench',
    sub_pipelines: Array.from({ length: subPipelines }, (_, i) => ({
      id: `s${i}`,
      reads: i === 0 ? [] : [`k${i - 1}`],
      stores: [`k${i}`],
      pipeline: {
        id: `p${i}`,
        goal: 'be fast',
        tasks: [{ id: 't', tool: 'store', inputs: { key: `k${i}`, value: i } }],
      },
    })),
  };
}
