import type { Clock } from '../common/clock.js';
import type { Json, JsonObject } from '../common/json.js';

/** One input of a tool: the keywords of JSON Schema, plus `required` and `verbatim`. */
export interface InputDeclaration {
  readonly description: string;
  /** Any value when absent. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly required?: boolean;
  /** The value of an absent input. A default of null allows null whatever the type, as in params (D4). */
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly items?: JsonObject;
  readonly properties?: JsonObject;
  /** Passes lists and objects to the tool as written, with `{{…}}` unresolved. A string is still a template. */
  readonly verbatim?: boolean;
}

export type InputDeclarations = Readonly<Record<string, InputDeclaration>>;

/** Describes the output of a tool (Tool metadata). */
export interface OutputDeclaration {
  readonly name: string;
  readonly description: string;
  readonly type: string;
}

/** The blackboard of one invocation's tenant. Writes are applied when the task succeeds. */
export interface ToolBlackboard {
  readonly getAll: () => Promise<Record<string, Json>>;
  readonly readMany: (keys: readonly string[]) => Promise<Record<string, Json>>;
  readonly write: (key: string, value: unknown, append?: boolean) => void;
}

/** The context of one attempt of an invocation (D48). */
export interface ToolContext {
  readonly run_id: string;
  /** The tenant of the run. */
  readonly tenant_id: string;
  readonly task_id: string;
  /** Position in the fan-out, from 0; null for a task that calls its tool once. */
  readonly item_index: number | null;
  /** From 1. */
  readonly attempt: number;
  /** Aborts on timeout and on forced cancel; the run does not wait for a tool that ignores it (D19). */
  readonly signal: AbortSignal;
  /**
   * Stops the time limit of the attempt while the tool waits for its turn, such as for a connection that others use.
   * Call the returned function when the work begins (D19, rule 13).
   */
  readonly pauseTimeout: () => () => void;
  readonly blackboard: ToolBlackboard;
  /** Logs a message, which `run --verbose` prints. */
  readonly log: (message: string) => void;
  /** Values that all invocations of the run share; they live as long as the run. */
  readonly memory: Map<string, unknown>;
  readonly clock: Clock;
  readonly files: FileAccess;
  /**
   * Runs another pipeline inside this task (D49). It reads the session of this run, emits its events into this
   * run's stream, stores values as if this attempt had stored them, and ends with the attempt. Rejects with a
   * ToolError that describes an invalid call or pipeline, or the task that failed.
   */
  readonly runPipeline: (call: PipelineCall) => Promise<PipelineOutcome>;
}

/** A pipeline for a tool to run inside its task (D49), with exactly one of `file` and `pipeline`. */
export interface PipelineCall {
  /** A YAML or JSON file, inside the folders that tools may read (D51). */
  readonly file?: string;
  /** The definition itself: an object, or its text in YAML or JSON. */
  readonly pipeline?: Json;
  readonly params?: JsonObject;
  readonly inputs?: JsonObject;
  /** Session values that add to, and override, those of the calling run. */
  readonly session?: JsonObject;
}

/** The result of a pipeline that ran inside a task. */
export interface PipelineOutcome {
  /** Task id to output. */
  readonly outputs: Record<string, Json>;
  readonly waves_executed: number;
  /** Tool invocations; each item of a fan-out counts (D20). */
  readonly tasks_executed: number;
}

/** Reads files, inside the allowed folders only (D51). */
export interface FileAccess {
  /**
   * Reads a file; looks up a relative path in each root in turn. Rejects with a ToolError when it cannot.
   */
  read(path: string): Promise<{ readonly path: string; readonly bytes: Buffer }>;
}

/** A tool in the catalog: one declaration defines its metadata, validation and types (D48). */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputs: InputDeclarations;
  /** Whether undeclared inputs are accepted. */
  readonly openInputs: boolean;
  readonly output: OutputDeclaration;
  run(inputs: Record<string, unknown>, context: ToolContext): unknown;
}

type ValueOf<D> = D extends { enum: readonly (infer E)[] }
  ? E
  : D extends { type: 'string' }
    ? string
    : D extends { type: 'integer' | 'number' }
      ? number
      : D extends { type: 'boolean' }
        ? boolean
        : D extends { type: 'array' }
          ? Json[]
          : D extends { type: 'object' }
            ? JsonObject
            : Json;

type OrNull<D> = D extends { default: null } ? null : never;

type AlwaysPresent = { required: true } | { default: Json };

/** The type of the inputs that `run` receives: required inputs and those with a default are always present. */
export type InputsOf<M extends InputDeclarations> = {
  readonly [K in keyof M as M[K] extends AlwaysPresent ? K : never]: ValueOf<M[K]> | OrNull<M[K]>;
} & { readonly [K in keyof M as M[K] extends AlwaysPresent ? never : K]?: ValueOf<M[K]> };

/**
 * Defines a tool. The declaration is the source of the catalog's metadata, of the validation of resolved inputs and
 * of the types of `run` (D48).
 *
 * @throws TypeError when the name is not made of lower-case letters, digits and `_`, with `.` between parts
 */
export function defineTool<const M extends InputDeclarations>(declaration: {
  readonly name: string;
  readonly description: string;
  readonly inputs: M;
  readonly openInputs?: boolean;
  readonly output?: OutputDeclaration;
  readonly run: (inputs: InputsOf<M>, context: ToolContext) => unknown;
}): Tool {
  const { name, description, inputs, openInputs = false, run } = declaration;
  if (!/^[a-z][a-z0-9_]*(\.[a-z0-9_-]+)*$/.test(name)) {
    throw new TypeError(`"${name}" is not a tool name: use lower-case letters, digits and _`);
  }
  const output = declaration.output ?? { name: 'output', description: 'the result', type: 'any' };
  return { name, description, inputs, openInputs, output, run };
}
