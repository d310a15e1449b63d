import type { Clock } from '../../common/clock.js';
import type { ProgramLauncher } from '../../common/workers/programs/program-launcher.js';
import type { McpServerConfig } from './config.js';

/** A tool as a server lists it: nothing of it can be trusted. */
export interface RemoteTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Of the structured content of answers. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
}

/** The answer of a server to a call. */
export interface RemoteResult {
  readonly content: readonly RemoteContent[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** A block of an answer: a text, an image, a sound, a resource or a link to one. */
export interface RemoteContent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** How a request to a server ends, and what happens while it is at work. */
export interface RequestControl {
  readonly signal: AbortSignal;
  readonly onProgress?: (message: string | undefined) => void;
}

/** A connection to a server. All requests reject with an Error whose `kind` is a {@link McpErrorKind}. */
export interface McpSession {
  /** Name and version, as the server gives them. */
  readonly serverVersion: string;
  listTools(cursor: string | undefined, control: RequestControl): Promise<RemoteToolPage>;
  callTool(name: string, args: Record<string, unknown>, control: RequestControl): Promise<RemoteResult>;
  /** Ends the connection, and a server that was started for it. */
  close(): Promise<void>;
}

/** Some of the tools of a server. */
export interface RemoteToolPage {
  readonly tools: readonly RemoteTool[];
  /** Leads to the next page; undefined for the last one. */
  readonly nextCursor?: string | undefined;
}

/** `closed`: the server is not there any more. `refused`: it answered with an error of the protocol. */
export type McpErrorKind = 'closed' | 'refused' | 'other';

/** The server of a session, its means, and the receivers of its reports. */
export interface SessionOptions {
  readonly config: McpServerConfig;
  readonly version: string;
  readonly clock: Clock;
  /** Starts the server, if it is a program. Default: this process does. */
  readonly programs?: ProgramLauncher | undefined;
  /** Ends the attempt to connect. */
  readonly signal: AbortSignal;
  /** Called once, when the server is gone, also after `close`. */
  readonly onClose: () => void;
  /** Called when the server says that it has other tools now. */
  readonly onListChanged: () => void;
  /** Receives each line that a started server writes to standard error. */
  readonly onStderr: (line: string) => void;
  /** Receives each line of the standard output of the server that is no message of the protocol. */
  readonly onStrayLine: (line: string) => void;
  /** Called when a started server has ended of its own accord, with how: `exit status 1`, `the signal SIGTERM`. */
  readonly onExit: (how: string) => void;
  /**
   * Called once, when the server is ended, or the connection to it is, because it has sent more than it may, with the
   * limit: `1,000 messages a second that answer nothing`.
   */
  readonly onTooMuch: (limit: string) => void;
}

/** Connects to a server. Rejects with an Error whose `kind` is a {@link McpErrorKind}. */
export type OpenSession = (options: SessionOptions) => Promise<McpSession>;
