/** A program for a tool to start (D88). */
export interface ToolCommand {
  /** A name that PATH leads to, or a path; then its arguments. No shell reads them. */
  readonly argv: readonly [string, ...string[]];
  /** Variables that it sees besides PATH, HOME and LANG. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the folder of commands, or else one of its own that is removed afterwards. A relative path begins there. */
  readonly cwd?: string | undefined;
  /** The text that it reads on its standard input. Default: none. */
  readonly stdin?: string;
  /** The exit statuses that succeed. Default: 0. */
  readonly successCodes?: readonly number[];
  /** Patterns such as `out/*.csv`, within its folder, of the files that become artifacts when it succeeds. */
  readonly files?: readonly string[];
}

/** How a program has ended, and what it has written. */
export interface CommandResult {
  /** Null when a signal has ended it. */
  readonly status: number | null;
  /** Such as `SIGKILL`; null when it has ended by itself. */
  readonly signal: string | null;
  /** False for an exit status that does not succeed, and for a signal. */
  readonly succeeded: boolean;
  /** Its standard output as UTF-8, up to a limit. */
  readonly stdout: string;
  /** How much of it was left out, as in `1.5 MiB`; undefined when it is whole. */
  readonly cut: string | undefined;
  /** The last lines that it has written to either stream, masked. */
  readonly lastLines: readonly string[];
}

/** The limits of one command of a task (D88), and of all together. */
export const COMMAND_LIMITS = {
  /** Programs at work at once, of which each tenant is guaranteed a share. */
  atWork: 100,
  arguments: 1000,
  variables: 200,
  statuses: 50,
  patterns: 50,
  /** Of its standard output, as the result; the rest is cut. In bytes. */
  outputBytes: 8 * 2 ** 20,
  /** Of what it writes, in the log. The rest is counted. */
  loggedLines: 5000,
  loggedBytes: 2 ** 20,
  /** The lines that an error shows. */
  lastLines: 5,
  lastLineLength: 300,
  /** Files and folders that are looked at for its patterns. */
  searchedEntries: 10_000,
  /** Between SIGTERM and SIGKILL. */
  graceMs: 1000,
} as const;
