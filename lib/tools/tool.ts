import type { Clock } from '../common/clock.js';
import type { Json, JsonObject } from '../common/json.js';
import type { PipelineCall, PipelineOutcome } from './pipeline-call.js';

/** One input of a tool, in JSON Schema's words, with `required` beside it. */
export interface InputDeclaration {
  readonly description: string;
  /** Left out: any value. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly required?: boolean;
  /** Used when the input is absent. A default of null lets the input be null whatever its type, as in params (D4). */
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly items?: JsonObject;
  readonly properties?: JsonObject;
  /**
   * A list or an object that stands at this input in a definition is taken as it is written: `{{…}}` in it reaches
   * the tool. A text there is a template as everywhere.
   */
  readonly verbatim?: boolean;
}

export type InputDeclarations = Readonly<Record<string, InputDeclaration>>;

/** What a tool gives back, for people and for the catalog (Tool metadata). */
export interface OutputDeclaration {
  readonly name: string;
  readonly description: string;
  readonly type: string;
}

/** The blackboard as one invocation sees it: bound to its tenant; its writes are applied when its task succeeds. */
export interface ToolBlackboard {
  readonly get_all: () => Promise<Record<string, Json>>;
  readonly read_many: (keys: readonly string[]) => Promise<Record<string, Json>>;
  readonly write: (key: string, value: unknown, append?: boolean) => void;
}

/** What surrounds one attempt of one invocation (D48). */
export interface ToolContext {
  readonly run_id: string;
  readonly task_id: string;
  /** Position in the fan-out, from 0; null for a task that calls its tool once. */
  readonly item_index: number | null;
  /** From 1. */
  readonly attempt: number;
  /** Fires on timeout and forced cancel; a tool that ignores it is left behind (D19). */
  readonly signal: AbortSignal;
  readonly blackboard: ToolBlackboard;
  /** Says something about the work; shown by `run --verbose`. */
  readonly log: (message: string) => void;
  /** Values that live as long as the run, shared by its invocations. */
  readonly memory: Map<string, unknown>;
  readonly clock: Clock;
  readonly files: FileAccess;
  /**
   * Runs another pipeline inside this task (D49): it sees what the session of this run holds, its events stand in
   * this run's stream, and what it stores is written as if this attempt had. It ends with the attempt. Rejects with
   * a ToolError that says what is wrong with the call or the pipeline, or which of its tasks failed.
   */
  readonly run_pipeline: (call: PipelineCall) => Promise<PipelineOutcome>;
}

/** Reading files, inside the allowed folders only (D51). */
export interface FileAccess {
  /** The bytes of a file. Relative paths are looked up in each root in turn. Throws a ToolError that says why not. */
  read(path: string): Promise<{ readonly path: string; readonly bytes: Buffer }>;
}

/** A tool as the catalog holds it: one declaration gives metadata, validation and types (D48). */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputs: InputDeclarations;
  /** Accepts inputs that it does not declare. */
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

type AlwaysThere = { required: true } | { default: Json };

/** The type that `run` receives: required inputs and those with a default are there, the others may be. */
export type InputsOf<M extends InputDeclarations> = {
  readonly [K in keyof M as M[K] extends AlwaysThere ? K : never]: ValueOf<M[K]> | OrNull<M[K]>;
} & { readonly [K in keyof M as M[K] extends AlwaysThere ? never : K]?: ValueOf<M[K]> };

/**
 * Declares a tool. The one declaration gives the metadata of the catalog, the validation of resolved inputs and
 * the types of `run` (D48).
 *
 * @throws TypeError when the name is not a word of lower-case letters, digits and `_` (a `.` may separate parts).
 */
export function defineTool<const M extends InputDeclarations>(declaration: {
  readonly name: string;
  readonly description: string;
  readonly inputs: M;
  readonly openInputs?: boolean;
  readonly output?: OutputDeclaration;
  readonly run: (inputs: InputsOf<M>, context: ToolContext) => unknown;
}): Tool {
  if (!/^[a-z][a-z0-9_]*(\.[a-z0-9_-]+)*$/.test(declaration.name)) {
    throw new TypeError(`"${declaration.name}" is no tool name: use lower-case letters, digits and _`);
  }
  return {
    name: declaration.name,
    description: declaration.description,
    inputs: declaration.inputs,
    openInputs: declaration.openInputs ?? false,
    output: declaration.output ?? { name: 'output', description: 'the result', type: 'any' },
    run: declaration.run,
  };
}
