import type { Json, JsonObject } from '../json.js';

/** A pipeline that a tool runs inside its task (D49), and what it is given. Exactly one of `file` and `pipeline`. */
export interface PipelineCall {
  /** A YAML or JSON file, inside the folders that tools may read (D51). */
  readonly file?: string;
  /** The definition itself: an object, or its text in YAML or JSON. */
  readonly pipeline?: Json;
  readonly params?: JsonObject;
  readonly inputs?: JsonObject;
  /** Session values beside those that the calling run sees; they come first. */
  readonly session?: JsonObject;
}

/** What it produced. */
export interface PipelineOutcome {
  /** Task id to output. */
  readonly outputs: Record<string, Json>;
  readonly waves_executed: number;
  /** Tool invocations, each item counted (D20). */
  readonly tasks_executed: number;
}
