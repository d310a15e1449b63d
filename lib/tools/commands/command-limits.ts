/** The limits of one command of a task (D88). */
export const COMMAND_LIMITS = {
  arguments: 1000,
  variables: 200,
  statuses: 50,
  /** Of its standard output, as the result; the rest is cut. In bytes. */
  outputBytes: 8 * 2 ** 20,
  /** Of what it writes, in the log. Further lines are counted. */
  loggedLines: 5000,
  loggedCharacters: 2 ** 20,
  /** The lines that an error shows. */
  lastLines: 5,
  lastLineLength: 300,
  /** Between SIGTERM and SIGKILL. */
  graceMs: 1000,
} as const;
