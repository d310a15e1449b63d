import type { Json, JsonObject } from '../../../../lib/common/json.js';

/** What a run was submitted with, as the server answers it. */
export interface RunDefinition {
  readonly kind: 'pipeline' | 'plan';
  readonly definition: Json;
  /** The definition as YAML. */
  readonly yaml: string;
  readonly params: JsonObject;
  readonly inputs: JsonObject;
  readonly session: JsonObject;
  readonly options: JsonObject;
}
