import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, WavetrainError } from '../errors.js';
import { InvalidDefinitionError } from '../pipelines/invalid-definition.js';
import type { LoadOptions } from '../pipelines/load.js';
import { builtinCatalog } from '../tools/catalog.js';
import { checkPlan } from './check.js';
import { readPipelines } from './files.js';
import type { Plan } from './plan.js';

/**
 * Reads a plan from a YAML or JSON file, and its pipelines from the files that it names (D44).
 *
 * Rejects with `unreadable_file`, or with an InvalidDefinitionError that holds every problem, those of its pipelines
 * among them.
 */
export async function loadPlan(file: string, { tools = [], ...known }: LoadOptions = {}): Promise<Plan> {
  const text = await textOf(file);
  const pipelines = await readPipelines(text, dirname(file), file);
  const check = checkPlan(text, { ...known, catalog: builtinCatalog().with(tools), pipelines });
  if (!check.ok || check.plan === undefined) throw new InvalidDefinitionError(check.problems);
  return check.plan;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new WavetrainError('unreadable_file', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
