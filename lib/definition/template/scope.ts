import type { Json, JsonObject } from '../../common/json.js';

/** What templates see: the namespaces of rule 8, for one task or one item of it. */
export interface Scope {
  /** The output of a task; undefined when there is none (yet). */
  output(taskId: string): Json | undefined;
  /** `pipeline.inputs`: defaults and the run's own, merged (D5). */
  readonly inputs: JsonObject;
  readonly params: JsonObject;
  readonly session: Record<string, Json>;
  /** `pipeline.goal`, params applied (D28). */
  readonly goal: string;
  /** The current item; undefined outside a fan-out (rule 7). */
  readonly item?: Json | undefined;
}
