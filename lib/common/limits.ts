/** What tools may take at most, and how far pipelines may run others. */

/** Size of one file that a tool reads, in bytes. */
export const FILE_LIMIT_BYTES = 10 * 2 ** 20;

/** What one expression of the `transform` tool may use. */
export const EXPRESSION_LIMITS = {
  /** Time until it is told to stop. */
  timeoutMs: 1000,
  /** Time after which it is stopped where it stands, because it did not listen. */
  hardTimeoutMs: 1250,
  /** Depth of nested evaluation. */
  depth: 500,
  /** Elements of one list that it makes. */
  listLength: 1_000_000,
  /** Memory, where it is evaluated in a process of its own, in MiB. */
  memoryMiB: 256,
  /** Size of its result as JSON, in bytes (roughly: characters). */
  resultBytes: 10 * 2 ** 20,
} as const;

/** How many pipelines may run inside each other, below the one that was submitted. */
export const MOST_NESTED_PIPELINES = 8;

/** How many may be at work inside the tasks of one submitted run, however deep. */
export const MOST_LIVING_NESTED = 10_000;

/** Characters of the file or text that `run_pipeline` is given, as many as over HTTP: reading YAML holds everybody up. */
export const LONGEST_CALLED_DEFINITION = 256 * 1024;
