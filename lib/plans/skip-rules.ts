import type { Condition } from '../definition/template/condition.js';
import { writtenTextOf } from '../pipelines/flow/conditions.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import { listConditionKeys } from './conditions.js';
import type { DraftSubPipeline } from './draft.js';
import type { KeyWriters } from './order.js';

/** Why a sub-pipeline may be skipped when it would begin (D77, D78). */
export interface SkipRule {
  readonly conditions: readonly Condition[];
  /** The session keys that the conditions read. */
  readonly keys: readonly string[];
  /** The keys that it needs, each with the sub-pipeline that stores it and may be skipped itself. */
  readonly needed: ReadonlyMap<string, string>;
}

/**
 * Finds the sub-pipelines that may be skipped: those with conditions, and those that need a key which only such a one
 * stores. A key is needed unless each template that reads it gives a default.
 *
 * @param order the sub-pipelines, each after those that it needs
 * @param pipelines the available ones
 */
export function findSkipRules(
  order: readonly DraftSubPipeline[],
  pipelines: ReadonlyMap<string, Pipeline>,
  writers: KeyWriters,
): ReadonlyMap<string, SkipRule> {
  const rules = new Map<string, SkipRule>();
  for (const subPipeline of order) {
    const keys = listConditionKeys(subPipeline.conditions);
    const needed = new Map<string, string>();
    for (const key of [...keys.required, ...listNeededKeys(subPipeline, pipelines.get(subPipeline.id))]) {
      const writer = writers.other(key, subPipeline);
      if (writer !== undefined && rules.has(writer.id)) needed.set(key, writer.id);
    }
    if (subPipeline.conditions.length + needed.size === 0) continue;
    const conditions = subPipeline.conditions.map(({ template, value, schema }): Condition => {
      return { template, text: writtenTextOf(value), schema };
    });
    rules.set(subPipeline.id, { conditions, keys: keys.all, needed });
  }
  return rules;
}

function listNeededKeys({ reads }: DraftSubPipeline, pipeline: Pipeline | undefined): string[] {
  const keys = reads.map(({ key }) => key);
  return keys.filter((key) => pipeline?.contract.reads.get(key)?.hasFallback !== true);
}
