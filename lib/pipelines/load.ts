import { realpath } from 'node:fs/promises';
import { ToolError, WavetrainError } from '../common/errors.js';
import { describeErrno } from '../common/files.js';
import type { Problem } from '../definition/problems/problem.js';
import { MAX_DEFINITION_BYTES } from '../definition/text/limits.js';
import { builtinCatalog } from '../tools/catalog.js';
import { decodeText, readRegularFile } from '../tools/files/regular-file.js';
import type { CatalogEntry } from '../tools/tool.js';
import { checkPipeline } from './check.js';
import type { Pipeline, RunValues } from './pipeline.js';
import { formatErrors } from './report.js';

/** A definition that cannot run, with all its problems. */
export class InvalidDefinitionError extends WavetrainError {
  override readonly name = 'InvalidDefinitionError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('invalid_definition', formatErrors(problems).join('\n'));
    this.problems = problems;
  }
}

export interface LoadOptions extends RunValues {
  /** Tools besides the built-in ones. */
  readonly tools?: readonly CatalogEntry[];
}

/**
 * Loads a pipeline from a YAML or JSON file.
 *
 * @throws WavetrainError `unreadable_file`
 * @throws InvalidDefinitionError with every problem
 */
export async function loadPipeline(file: string, options: LoadOptions = {}): Promise<Pipeline> {
  return parsePipeline(await readDefinitionText(file), options);
}

/** Parses and checks a pipeline. @throws InvalidDefinitionError with every problem */
export function parsePipeline(text: string, { tools = [], ...values }: LoadOptions = {}): Pipeline {
  const check = checkPipeline(text, { ...values, catalog: builtinCatalog().with(tools) });
  if (!check.ok) throw new InvalidDefinitionError(check.problems);
  return check.pipeline;
}

/** Reads the text of a definition file. @throws WavetrainError `unreadable_file`, with the reason */
export async function readDefinitionText(file: string): Promise<string> {
  try {
    return await readDefinitionFile(await realpath(file), file);
  } catch (cause) {
    throw new WavetrainError('unreadable_file', describeReadError(file, cause), { cause });
  }
}

/** Reads a regular file in UTF-8, by its real path, that is no longer than a definition may be. @throws ToolError */
export async function readDefinitionFile(real: string, shown: string): Promise<string> {
  return decodeText(await readRegularFile(real, shown, MAX_DEFINITION_BYTES), shown);
}

/** Explains in a sentence why a file could not be read. */
export function describeReadError(shown: string, error: unknown): string {
  return error instanceof ToolError ? error.message : `cannot read "${shown}": ${describeErrno(error)}`;
}
