import type { Json, JsonObject } from '../../common/json/json.js';
import type { StateMember } from './reference.js';
import type { RenderMeter } from './render-meter.js';

/** The members of a task, besides its output, that templates read of some tasks (D79). */
export type TaskMembers = Readonly<Record<StateMember, string | null>>;

/** The values that the templates of one task or one item can read: the namespaces of rule 8. */
export interface TemplateScope {
  /** Returns the output of a task; undefined when it has none (yet). */
  output(taskId: string): Json | undefined;
  /** Returns the state of a task of which templates may read it; undefined for any other one. */
  stateOf?(taskId: string): TaskMembers | undefined;
  /** `pipeline.inputs`: the defaults, overridden by the inputs of the run (D5). */
  readonly inputs: JsonObject;
  readonly params: JsonObject;
  readonly session: Record<string, Json>;
  /** `pipeline.goal`, with params rendered (D28). */
  readonly goal: string;
  /** The namespace `run` (D80); undefined where a task is called so, and where there is no run. */
  readonly run?: JsonObject | undefined;
  /** By name; undefined where there are none (D61). */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  /** The current item; undefined outside a fan-out (rule 7). */
  readonly item?: Json | undefined;
  /** Measures what rendering makes; undefined when that is not limited. */
  readonly meter?: RenderMeter | undefined;
}
