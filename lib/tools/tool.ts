import type { Socket } from 'node:net';
import type { Clock } from '../common/clock.js';
import { withArrayTypes } from '../common/json-schema/keywords.js';
import type { Json, JsonObject } from '../common/json/json.js';
import type { ClientCertificate } from '../common/requests/outbound.js';
import type { ModelPurpose, ToolModels } from '../models/model.js';
import type { CommandResult, ToolCommand } from './commands/command.js';
import type { ToolConnections } from './connections/connection.js';
import type { ToolArtifacts } from './files/artifacts.js';
import type { FileAccess } from './files/access.js';
import { DeclarationError, findDeclarationProblem, type INPUT_FORMATS } from './inputs/check-declaration.js';
import type { DeriveOutput, InputSchema, OutputDeclaration, ReturnOf } from './schemas/output.js';

/** One input of a tool, as authors write it: the keywords of JSON Schema, plus `required` and `verbatim`. */
export interface InputDeclaration {
  readonly description: string;
  /** Any value when absent. A list may be called `list`, as in params (D4), or `array`, as in JSON Schema. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'array' | 'object';
  readonly required?: boolean;
  /** The value of an absent input. A default of null allows null whatever the type, as in params (D4). */
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /**
   * The format of a value in a pipeline is checked when the pipeline is validated: a JSONata expression; beside it, its
   * bindings, which say that it can read no other variables, and call no functions but those of JSONata; and of built-in tools the numbers of pages, the types of columns, `provider/model`, the fields of a document, and the end
   * of a period.
   */
  readonly format?: (typeof INPUT_FORMATS)[number];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The schema of each element of a list. */
  readonly items?: InputSchema;
  /** The schemas of the keys of an object. */
  readonly properties?: InputSchema;
  /** Passes lists and objects to the tool as written, with `{{…}}` unresolved. A string is still a template. */
  readonly verbatim?: boolean;
  /**
   * The input names an entry of the catalog. With `functions`, it must be the name of a function, and all further inputs
   * of the task are the arguments of that function; so it is with `sources`; with `schemas`, it may be the name of a schema.
   */
  readonly registry?: keyof Registries;
}

/** A mistake in a literal value with a `format`. */
export interface FormatProblem {
  /** Within the value. */
  readonly path: readonly (string | number)[];
  /** The predicate that follows the name of the value: `holds "x"`. */
  readonly message: string;
  readonly hint: string;
}

export type InputDeclarations = Readonly<Record<string, InputDeclaration>>;

/** One input of a tool in the catalog: a list is an `array`. */
export interface ToolInput extends Omit<InputDeclaration, 'type'> {
  readonly type?: Exclude<InputDeclaration['type'], 'list'>;
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
  /** How often this tool was called in the run, or in the pipeline inside a task, this call counted (D68). */
  readonly calls: number;
  /**
   * Names this call, the same in all its attempts and after a crash: for services that take such a key and then do what
   * they are asked only once (D68).
   */
  readonly invocation_key: string;
  /** Aborts on timeout and on forced cancel; the run does not wait for a tool that ignores it (D19). */
  readonly signal: AbortSignal;
  /**
   * Stops the time limit of the attempt while the tool waits for its turn, such as for a connection that others use.
   * Call the returned function when the work begins (D19, rule 13); a second call has no effect.
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
   * Sends an HTTP request (D51): to public addresses only, unless the service allows others, and follows up to five
   * redirects. The request ends with the attempt. Resolves with any status. Rejects with a ToolError that names the
   * request, retryable when another attempt could reach the server.
   */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchedResponse>;
  /** Opens a TCP connection, within the same rules. Rejects with a ToolError. The tool closes it. */
  readonly connect: (host: string, port: number) => Promise<Socket>;
  /**
   * Certificates, as PEM, of authorities that the operator trusts beside the built-in ones: for TLS that the tool begins on
   * a connection (`SERVICE_CA_FILE`). `fetch` trusts them already.
   */
  readonly authorities: readonly string[];
  /**
   * Takes memory of the run for something large that the tool makes, until the attempt ends.
   *
   * @throws ToolError, not retryable, when the run has no memory left
   */
  readonly holdMemory: (bytes: number) => void;
  readonly artifacts: ToolArtifacts;
  /**
   * Starts a program (D88), and resolves when it and all that it has started have ended; with the attempt, they are ended.
   * Logs its output while it works, masked. Rejects with a ToolError, not retryable, when nobody has allowed the
   * program, or it cannot be started.
   */
  readonly command: (command: ToolCommand) => Promise<CommandResult>;
  /** The databases and object stores of the tenant (D92). */
  readonly connections: ToolConnections;
  /** Language models (D48). */
  readonly llm: ToolModels;
  /**
   * Runs another pipeline inside this task (D49). The pipeline reads the session of this run, emits its events into
   * this run's stream, stores values as if this attempt had stored them, and ends with the attempt. Rejects with a
   * ToolError that describes an invalid call or pipeline, or the task that failed.
   */
  readonly runPipeline: (call: PipelineCall) => Promise<PipelineOutcome>;
}

/** A pipeline for a tool to run inside its task (D49), with exactly one of `file` and `pipeline`. */
export interface PipelineCall {
  /** A YAML or JSON file, inside the folders that tools may read (D51), or an object (D92). */
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

/** The options of a request of a tool, besides its URL. */
export interface FetchOptions {
  /** Default: GET. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A function makes the body when the request is sent, which may have to wait. A body is memory of the run. */
  readonly body?: string | Uint8Array | (() => string | Promise<string>) | undefined;
  /** Maximum size of the response, as it was sent and as it is unpacked. Default: 10 MiB. */
  readonly maxBytes?: number | undefined;
  /** Time for the request with its redirects, without the wait for a free slot. Default: 60 s. */
  readonly timeoutMs?: number | undefined;
  /** Shown to the server of the URL, which must have https, and to no other one. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** The header `accept`. */
  readonly accept?: string | undefined;
  /**
   * The request is a part of a transfer, for whose body and answer the tool holds memory: the answer may begin late, it is not
   * unpacked, and a redirect is an answer.
   */
  readonly isTransfer?: boolean | undefined;
  /** Sends the request also when the attempt is over, for 10 s at most: to clean up what it has left elsewhere. */
  readonly outlivesAttempt?: boolean | undefined;
}

/** The answer to a request. */
export interface FetchedResponse {
  /** Where the last redirect led. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case; several values of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Unpacked. */
  readonly bytes: Buffer;
  /** Host and port of the proxy that has answered, for itself or for the server; absent for https and without a proxy. */
  readonly proxy?: string | undefined;
}

/** A tool in the catalog: one declaration defines its metadata, validation and types (D48). */
export interface Tool {
  /**
   * Set for a function, which tasks call through the tool `compute` and not by its own name, and for a source of data,
   * which they call through `fetch_data`.
   */
  readonly kind?: 'function' | 'source';
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, ToolInput>>;
  /** True when undeclared inputs are accepted. */
  readonly openInputs: boolean;
  /**
   * The JSON Schema of all inputs together, of which `inputs` is then only a description. It has none but the keywords
   * that schemas of callers may have, so that it is checked in bounded time.
   */
  readonly inputSchema?: JsonObject;
  readonly output: OutputDeclaration;
  /** Finds out more of the output than its schema says, for one task. */
  readonly deriveOutput?: DeriveOutput<Registries>;
  /** Change it when equal inputs give another output: the cache then forgets the earlier ones (D65). */
  readonly version?: string;
  /**
   * False for a tool that must not be called twice for one attempt, such as one that sends money: when a process has ended
   * during a call, the attempt fails (D68). Others are called again. A function decides by the inputs of the task as they
   * are written.
   */
  readonly repeatable?: boolean | ((written: JsonObject) => boolean);
  /**
   * True for a tool that is quick, changes nothing and reads nothing that is not in its inputs or in files of the project:
   * tests of pipelines call it, while they must give the answers of all others (D91).
   */
  readonly pure?: boolean;
  /**
   * The purpose for which it asks a language model, given the inputs of the task as they are written; undefined when it
   * asks none. A run does not begin when that model, or the one that the input `model` names, is not configured (D50).
   */
  readonly usesModel?: (written: JsonObject) => ModelPurpose | undefined;
  /** The entries that inputs with a `registry` may name. The catalog sets them. */
  readonly registries?: Registries;
  /** @param registries as in `registries`, for a tool with an input that has a `registry` */
  run(inputs: Record<string, unknown>, context: ToolContext, registries?: Registries): unknown;
}

/** A function in the catalog, which the tool `compute` calls (D49). Its inputs are its arguments. */
export interface ComputeFunction extends Tool {
  readonly kind: 'function';
}

/** A source of data in the catalog, which the tool `fetch_data` calls (D49). */
export interface DataSource extends Tool {
  readonly kind: 'source';
}

/** A schema in the catalog, which the tool `load_schema` finds by its name. */
export interface RegisteredSchema {
  readonly kind: 'schema';
  readonly name: string;
  readonly description: string;
  /** The source that `load_schema` reads: names, or objects with `name`. */
  readonly fields: readonly Json[];
}

/** The entry that a tool file may export, and a host may pass: tools and schemas share the catalog. */
export type CatalogEntry = Tool | RegisteredSchema;

/** The entries of a catalog that are no tools, by name. */
export interface Registries {
  readonly functions: ReadonlyMap<string, ComputeFunction>;
  readonly schemas: ReadonlyMap<string, RegisteredSchema>;
  readonly sources: ReadonlyMap<string, DataSource>;
}

/** The type of the values that a declaration or a schema accepts. */
type ValueOf<D> = D extends { readonly enum: readonly (infer E)[] }
  ? E
  : D extends { readonly const: infer C }
    ? C
    : D extends { readonly type: infer T }
      ? ValueOfType<T extends readonly (infer U)[] ? U : T, D>
      : Json;

type ValueOfType<T, D> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array' | 'list'
          ? ListOf<D>
          : T extends 'object'
            ? ObjectOf<D>
            : Json;

type ListOf<D> = D extends { readonly items: infer I extends InputSchema; readonly prefixItems?: undefined }
  ? ValueOf<I>[]
  : Json[];

/** Keys that the schema does not name are allowed, unless it says `additionalProperties: false`. */
type ObjectOf<D> = D extends { readonly properties: infer P }
  ? Properties<P, RequiredOf<D>> & (D extends { readonly additionalProperties: false } ? unknown : JsonObject)
  : JsonObject;

type RequiredOf<D> = D extends { readonly required: readonly (infer K)[] } ? K : never;

type Properties<P, Required> = {
  [K in keyof P as IsPresent<K, P[K], Required> extends true ? K : never]: ValueOf<P[K]>;
} & { [K in keyof P as IsPresent<K, P[K], Required> extends true ? never : K]?: ValueOf<P[K]> };

/** A default is filled in at any depth. */
type IsPresent<K, S, Required> = K extends Required
  ? true
  : S extends { readonly default: unknown }
    ? true
    : false;

type OrNull<D> = D extends { default: null } ? null : never;

type AlwaysPresent = { required: true } | { default: Json };

/** The type of the inputs that `run` receives: required inputs and those with a default are always present. */
export type InputsOf<M extends InputDeclarations> = {
  readonly [K in keyof M as M[K] extends AlwaysPresent ? K : never]: ValueOf<M[K]> | OrNull<M[K]>;
} & { readonly [K in keyof M as M[K] extends AlwaysPresent ? never : K]?: ValueOf<M[K]> };

/** The part that authors declare of a tool, of a function and of a source alike: everything but the code. */
export interface ToolDeclaration<
  M extends InputDeclarations,
  O extends OutputDeclaration = OutputDeclaration,
> {
  readonly name: string;
  readonly description: string;
  readonly inputs: M;
  /** True when undeclared inputs are accepted, and given to the author's function too. Default: false. */
  readonly openInputs?: boolean;
  /** Default: `output`, of any type; of a source: `data`, an object. */
  readonly output?: O;
  /** As of a {@link Tool}. */
  readonly deriveOutput?: Tool['deriveOutput'];
  /** Of tasks with `cache`, outputs of another version are not reused (D65). Default: the text of the author's function. */
  readonly version?: string;
  /** As of a {@link Tool}. Default: true. */
  readonly repeatable?: Tool['repeatable'];
  /** As of a {@link Tool}. Default: false. */
  readonly pure?: Tool['pure'];
  /** As of a {@link Tool}. */
  readonly usesModel?: Tool['usesModel'];
}

/**
 * Defines a tool. The declaration is the source of the catalog's metadata, of the validation of resolved inputs and
 * of the types of `run` (D48).
 *
 * @throws TypeError when the name is not made of lower-case letters, digits and `_`, with `.` between parts, and for a
 * mistake in the declaration, of which it names the input at fault
 */
export function defineTool<
  const M extends InputDeclarations,
  const O extends OutputDeclaration = OutputDeclaration,
>(
  declaration: ToolDeclaration<M, O> & {
    readonly run: (inputs: InputsOf<M>, context: ToolContext, registries?: Registries) => ReturnOf<O>;
  },
): Tool {
  const { name, openInputs = false, version, repeatable, pure, usesModel, deriveOutput, run } = declaration;
  if (!/^[a-z][a-z0-9_]*(\.[a-z0-9_-]+)*$/.test(name))
    throw new TypeError(`"${name}" is not a tool name: use lower-case letters, digits and _`);
  const problem = findDeclarationProblem({ ...declaration });
  if (problem !== undefined) throw new DeclarationError(name, problem);
  const inputs = normalizeInputs(declaration.inputs);
  const output = declaration.output ?? { name: 'output', description: 'the result', type: 'any' };
  return {
    name,
    description: declaration.description ?? '',
    inputs,
    openInputs,
    output,
    ...(deriveOutput !== undefined && { deriveOutput }),
    ...(version !== undefined && { version }),
    ...(repeatable !== undefined && { repeatable }),
    ...(pure !== undefined && { pure }),
    ...(usesModel !== undefined && { usesModel }),
    run,
  };
}

/** Writes `list` as JSON Schema does, at any depth. */
function normalizeInputs(inputs: InputDeclarations): Record<string, ToolInput> {
  const normalized = Object.entries(inputs).map(([name, declared]): [string, ToolInput] => [
    name,
    { ...(withArrayTypes(declared) as ToolInput), description: declared.description ?? '' },
  ]);
  return Object.fromEntries(normalized);
}
