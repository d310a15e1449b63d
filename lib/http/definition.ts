import { WavetrainError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { Check } from '../pipelines/check.js';
import { InvalidDefinitionError } from '../pipelines/invalid-definition.js';
import type { KnownPipelines } from '../pipelines/known-pipelines.js';
import type { Pipeline } from '../pipelines/pipeline.js';

/** A definition as a request brings it: the body itself as YAML, or a part of a JSON body (D33). */
export interface GivenDefinition {
  readonly yaml: string | undefined;
  readonly body:
    | {
        readonly pipeline?: Record<string, unknown>;
        readonly yaml?: string;
        readonly inputs?: JsonObject;
        readonly session?: JsonObject;
      }
    | undefined;
}

/** Reading YAML takes seconds for a megabyte, and holds everybody up; JSON does not. */
const YAML_LIMIT_BYTES = 256 * 1024;

/** Checks it. Throws `invalid_request` when there is none, or more than one, and `body_too_large` for long YAML. */
export function checkGiven({ yaml, body = {} }: GivenDefinition, known: KnownPipelines): Check {
  const { pipeline, inputs, session } = body;
  const text = yaml ?? body.yaml;
  if (text !== undefined && pipeline === undefined) {
    refuseLong(text);
    return known.ofText(text, { inputs, session });
  }
  if (text === undefined && pipeline !== undefined) return known.ofValue(pipeline, { inputs, session });
  const isMissing = text === undefined;
  throw new WavetrainError(
    'invalid_request',
    isMissing
      ? 'field "pipeline" is missing: the definition goes there, or as text into "yaml"'
      : 'give the definition once: as pipeline or as yaml',
  );
}

function refuseLong(text: string): void {
  if (text.length <= YAML_LIMIT_BYTES) return;
  const limit = YAML_LIMIT_BYTES / 1024;
  throw new WavetrainError(
    'body_too_large',
    `YAML may have ${limit} KiB here: send a longer definition as JSON`,
  );
}

/** The pipeline that is to run. Throws an InvalidDefinitionError with every problem. */
export function pipelineOf(given: GivenDefinition, known: KnownPipelines): Pipeline {
  const check = checkGiven(given, known);
  if (!check.ok) throw new InvalidDefinitionError(check.problems);
  return check.pipeline;
}
