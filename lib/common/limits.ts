/** The limits of tools and of nested pipelines. */

/** The size of the largest file that a tool reads. */
export const MAX_FILE_BYTES = 10 * 2 ** 20;

/** The limits of one expression of the `transform` tool. */
export interface ExpressionLimits {
  /** Time after which JSONata stops it. */
  readonly timeoutMs: number;
  /** Time after which V8 interrupts it, wherever it is. */
  readonly hardTimeoutMs: number;
  /** The depth of nested evaluation. */
  readonly depth: number;
  /** The elements of one list that it creates. */
  readonly listLength: number;
  /** Memory of a worker process, in MiB. */
  readonly memoryMiB: number;
  /** The size of its result as JSON, in characters. */
  readonly resultBytes: number;
}

export const EXPRESSION_LIMITS: ExpressionLimits = {
  timeoutMs: 1000,
  hardTimeoutMs: 1250,
  depth: 500,
  listLength: 1_000_000,
  memoryMiB: 256,
  resultBytes: 10 * 2 ** 20,
};

/** How deep pipelines may be nested below the submitted one. */
export const MAX_NESTING_DEPTH = 8;

/** How many pipelines may run at once inside the tasks of one submitted run, at any depth. */
export const MAX_NESTED_PIPELINES = 10_000;

/** Characters of a definition for `run_pipeline`, as many as over HTTP: parsing YAML blocks the event loop. */
export const MAX_CALLED_DEFINITION_LENGTH = 256 * 1024;
