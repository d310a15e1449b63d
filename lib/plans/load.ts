import { dirname } from 'node:path';
import { readSource } from '../definition/text/source.js';
import { readDefinition } from '../pipelines/definition-file.js';
import { InvalidDefinitionError } from '../pipelines/invalid-definition.js';
import type { LoadOptions } from '../pipelines/load.js';
import { builtinCatalog } from '../tools/catalog.js';
import { checkPlanSource } from './check.js';
import { readPipelines } from './files.js';
import type { Plan } from './plan.js';

/**
 * Reads a plan from a YAML or JSON file, and its pipelines from the files that it names (D44).
 *
 * Rejects with `unreadable_file`, or with an InvalidDefinitionError that holds every problem, those of its pipelines
 * among them.
 */
export async function loadPlan(file: string, { tools = [], ...known }: LoadOptions = {}): Promise<Plan> {
  const source = readSource(await readDefinition(file));
  const pipelines = await readPipelines(source, dirname(file), file);
  const check = checkPlanSource(source, { ...known, catalog: builtinCatalog().with(tools), pipelines });
  if (!check.ok || check.plan === undefined) throw new InvalidDefinitionError(check.problems);
  return check.plan;
}
