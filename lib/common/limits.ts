/** The limits of tools and of nested pipelines. */

/** The size of the largest file that a tool reads. */
export const MAX_FILE_BYTES = 10 * 2 ** 20;

/** The limits of one expression of the `transform` tool. */
export const EXPRESSION_LIMITS = {
  /** Time after which JSONata stops it. */
  timeoutMs: 1000,
  /** Time after which V8 interrupts it, wherever it is. */
  hardTimeoutMs: 1250,
  /** The depth of nested evaluation. */
  depth: 500,
  /** The elements of one list that it creates. */
  listLength: 1_000_000,
  /** Memory of a worker process, in MiB. */
  memoryMiB: 256,
  /** The size of its result as JSON, in characters. */
  resultBytes: 10 * 2 ** 20,
} as const;

/** How deep pipelines may be nested below the submitted one. */
export const MAX_NESTING_DEPTH = 8;

/** How many pipelines may run at once inside the tasks of one submitted run, at any depth. */
export const MAX_NESTED_PIPELINES = 10_000;

/** Characters of a definition for `run_pipeline`, as many as over HTTP: parsing YAML blocks the event loop. */
export const MAX_CALLED_DEFINITION_LENGTH = 256 * 1024;
