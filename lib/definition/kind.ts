import { type DefinitionKind, kindOfRoot } from './root.js';
import { readSource, type Source } from './source.js';

/** A key of a plan at the left margin, where a root key stands. */
const BEGINS_LIKE_A_PLAN = /^["']?(?:plan|sub_pipelines)["']?\s*:/m;

/**
 * Does a text define a plan or a pipeline? What is neither counts as a pipeline. Never throws.
 *
 * @param source what was read of the text, when that is at hand
 */
export function kindOfDefinition(
  text: string,
  { value }: Pick<Source, 'value'> = readSource(text),
): DefinitionKind {
  // A text that cannot be read has lost its root; its problems are the same either way.
  if (value === undefined) return BEGINS_LIKE_A_PLAN.test(text) ? 'plan' : 'pipeline';
  return kindOfRoot(value) ?? 'pipeline';
}
