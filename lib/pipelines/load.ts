import { realpath } from 'node:fs/promises';
import { errorCode, messageOf, WavetrainError } from '../common/errors.js';
import type { JsonObject } from '../common/json.js';
import type { Problem } from '../definition/problem.js';
import { LONGEST_TEXT_BYTES } from '../definition/text/guards.js';
import { builtinCatalog } from '../tools/catalog.js';
import { decodeText } from '../tools/documents/format.js';
import { readRegularFile } from '../tools/files/regular-file.js';
import type { Tool } from '../tools/tool.js';
import { type Check, checkPipeline } from './check.js';
import type { Pipeline } from './pipeline.js';
import { errorsOf } from './report.js';

/** A definition that cannot run, with all that is wrong with it. */
export class InvalidDefinitionError extends WavetrainError {
  override readonly name = 'InvalidDefinitionError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('invalid_definition', errorsOf(problems).join('\n'));
    this.problems = problems;
  }
}

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

/** The text of a definition's file. Rejects with `unreadable_file`, saying why. */
export async function readDefinition(file: string): Promise<string> {
  try {
    return await definitionTextAt(await realpath(file), file);
  } catch (cause) {
    throw new WavetrainError('unreadable_file', whyUnreadable(file, cause), { cause });
  }
}

/**
 * The text of an ordinary file in UTF-8 that is no larger than a definition may be.
 *
 * @param real the file's path with every link followed
 * @param asked the path to name in messages
 * @throws ToolError
 */
export async function definitionTextAt(real: string, asked: string): Promise<string> {
  return decodeText(await readRegularFile(real, asked, LONGEST_TEXT_BYTES), asked);
}

/** Why a file could not be found or read, in a sentence. */
export function whyUnreadable(asked: string, error: unknown): string {
  const code = errorCode(error);
  return code === undefined ? messageOf(error) : `cannot read "${asked}": ${REASONS.get(code) ?? code}`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['ELOOP', 'its symbolic links lead in a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
]);
