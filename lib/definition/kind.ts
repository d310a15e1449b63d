import { type DefinitionKind, kindOfRoot } from './root.js';
import { readSource } from './source.js';

/** No plan is without one of these as a key; most pipelines are. Anything may stand before the colon. */
const MAY_BE_A_PLAN = /\b(?:plan|sub_pipelines)["']?\s*:/;

/** A key of a plan at the left margin, where a root key stands. */
const BEGINS_LIKE_A_PLAN = /^["']?(?:plan|sub_pipelines)["']?\s*:/m;

/** Does a text define a plan or a pipeline? What is neither counts as a pipeline. Never throws. */
export function kindOfDefinition(text: string): DefinitionKind {
  if (!MAY_BE_A_PLAN.test(text)) return 'pipeline';
  const { value } = readSource(text);
  // A text that cannot be read has lost its root; its problems are the same either way.
  if (value === undefined) return BEGINS_LIKE_A_PLAN.test(text) ? 'plan' : 'pipeline';
  return kindOfRoot(value) ?? 'pipeline';
}
