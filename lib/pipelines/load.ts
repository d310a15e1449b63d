import type { JsonObject } from '../common/json.js';
import { builtinCatalog } from '../tools/catalog.js';
import type { Tool } from '../tools/tool.js';
import { type Check, checkPipeline } from './check.js';
import { readDefinition } from './definition-file.js';
import { InvalidDefinitionError } from './invalid-definition.js';
import type { Pipeline } from './pipeline.js';

export interface LoadOptions {
  /** Tools beside the ones that come with the package. */
  readonly tools?: readonly Tool[];
  /** Inputs and session values that the run will be given, so that reading them is no problem (D5, D9). */
  readonly inputs?: JsonObject;
  readonly session?: JsonObject;
}

/**
 * Reads a pipeline from a YAML or JSON file.
 *
 * Rejects with `unreadable_file`, or with an InvalidDefinitionError that holds every problem.
 */
export async function loadPipeline(file: string, options: LoadOptions = {}): Promise<Pipeline> {
  return parsePipeline(await readDefinition(file), options);
}

/** The same for text at hand. Throws an InvalidDefinitionError that holds every problem. */
export function parsePipeline(text: string, { tools = [], ...options }: LoadOptions = {}): Pipeline {
  return pipelineOf(checkPipeline(text, { ...options, catalog: builtinCatalog().with(tools) }));
}

function pipelineOf(check: Check): Pipeline {
  if (!check.ok) throw new InvalidDefinitionError(check.problems);
  return check.pipeline;
}
