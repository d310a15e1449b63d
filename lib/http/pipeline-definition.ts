import type { JsonObject } from '../common/json.js';
import type { Check } from '../pipelines/check.js';
import { InvalidDefinitionError } from '../pipelines/invalid-definition.js';
import type { KnownPipelines } from '../pipelines/known-pipelines.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import { definitionIn, refuseLong, withAddress } from './given-definition.js';

/** A pipeline as a request brings it. */
export interface PipelineRequest {
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

/** Checks it. Throws `invalid_request` when there is none, or more than one, and `body_too_large` for long YAML. */
export function checkPipelineIn({ yaml, body = {} }: PipelineRequest, known: KnownPipelines): Check {
  const { inputs, session } = body;
  const given = definitionIn('pipeline', body.pipeline, yaml ?? body.yaml);
  if ('text' in given) refuseLong([given.text]);
  const check =
    'text' in given
      ? known.ofText(given.text, { inputs, session })
      : known.ofValue(given.value, { inputs, session });
  return check.ok ? check : { ...check, problems: withAddress(check.problems, 'pipeline') };
}

/** The pipeline that is to run. Throws an InvalidDefinitionError with every problem. */
export function pipelineIn(request: PipelineRequest, known: KnownPipelines): Pipeline {
  const check = checkPipelineIn(request, known);
  if (!check.ok) throw new InvalidDefinitionError(check.problems);
  return check.pipeline;
}
