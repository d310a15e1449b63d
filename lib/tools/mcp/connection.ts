import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, delay } from '../../common/clock.js';
import { errorCode, errorMessage, isNonRetryable, ToolError, WavetrainError } from '../../common/errors.js';
import { MCP_LIMITS } from '../../common/limits.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { shareLimit } from '../../common/memory/shared-limit.js';
import { RequestTimer, untilAborted } from '../../common/requests/request-timer.js';
import type { ProgramLauncher } from '../../common/workers/programs/program-launcher.js';
import type { ToolContext } from '../tool.js';
import type { McpServerConfig } from './config.js';
import { HiddenValues } from './hidden-values.js';
import { ServerOutput } from './server-output.js';
import type { McpErrorKind, McpSession, OpenSession, RemoteResult, RemoteTool } from './session.js';

/** Milliseconds without a call after which a server that a reload has replaced is ended. */
const RETIRED_IDLE_MS = 60_000;

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly openSession: OpenSession;
  /** Starts the server, if it is a program. Default: this process does. */
  readonly programs?: ProgramLauncher | undefined;
  /** Percentage of the calls in flight that every tenant is guaranteed. Default 10. */
  readonly tenantShare?: number;
  /** Receives what the server writes to standard error, masked. */
  readonly onStderr?: (server: string, line: string) => void;
}

/** The first tools of a server. */
interface ToolList {
  readonly tools: RemoteTool[];
  readonly isCut: boolean;
}

/** The attempt that calls a tool. */
type CallingTool = Pick<ToolContext, 'signal' | 'clock' | 'tenant_id' | 'pauseTimeout' | 'log'>;

/**
 * One MCP server. It is started, or connected to, when its tools are first needed, and again after it has ended: at once
 * the first time, and after a delay that doubles when it fails again and again.
 */
export class McpConnection {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #hidden: HiddenValues;
  readonly #options: ConnectionOptions;
  readonly #limiter: ConcurrencyLimiter;
  /** Aborts when the command ends. */
  readonly #end = new AbortController();
  #session: Promise<McpSession> | undefined;
  /** The tools that the server listed last; undefined before the first list. */
  #names: ReadonlySet<string> | undefined;
  #hasOtherTools = false;
  #listing: Promise<ToolList> | undefined;
  /** In a row, without a call that was answered in between. */
  #failures = 0;
  /** Monotonic time before which the server is not started again. */
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #output: ServerOutput;
  #callsAtWork = 0;
  #isRetired = false;
  #retirement: unknown;

  constructor(config: McpServerConfig, options: ConnectionOptions) {
    this.name = config.name;
    this.#config = config;
    this.#hidden = new HiddenValues(
      config.hidden ?? [],
      config.kind === 'stdio' ? config.env : config.headers,
    );
    this.#options = options;
    this.#output = this.#createOutput();
    this.#limiter = new ConcurrencyLimiter(shareLimit(MCP_LIMITS.inFlight, options.tenantShare));
  }

  /**
   * Lists the tools of the server: the first ones of too many, and `isCut`. Rejects with `bad_tool_file` when the
   * server cannot be started or does not answer in time.
   */
  async list(): Promise<ToolList & { readonly serverVersion: string }> {
    try {
      const session = await this.#connect();
      const { tools, isCut } = await this.#list(session);
      return {
        serverVersion: session.serverVersion,
        // All who list tools see descriptions, but the server knows its tools by their names.
        tools: tools.map((tool) => ({ ...this.#hidden.maskData(tool), name: tool.name })),
        isCut,
      };
    } catch (error) {
      // No `cause`: causes are shown, and this one is not masked.
      throw new WavetrainError(
        'bad_tool_file',
        `cannot list the tools of the MCP server "${this.name}": ${this.#describe(error, true)}`,
      );
    }
  }

  /**
   * Calls a tool. Ends with the attempt, which cancels the request. Rejects with a ToolError: retryable when another
   * attempt could succeed.
   */
  async call(tool: string, args: Record<string, unknown>, attempt: CallingTool): Promise<RemoteResult> {
    this.#callsAtWork++;
    try {
      return await this.#limiter.run(attempt, () => this.#call(tool, args, attempt));
    } catch (error) {
      if (isNonRetryable(error)) throw error;
      const retryable = !attempt.signal.aborted && kindOf(error) !== 'refused';
      // No `cause`: causes are shown, and this one is not masked.
      throw new ToolError(`the MCP server "${this.name}": ${this.#describe(error)}`, { retryable });
    } finally {
      this.#callsAtWork--;
      if (this.#isRetired) this.#endWhenIdle();
    }
  }

  async #call(tool: string, args: Record<string, unknown>, attempt: CallingTool): Promise<RemoteResult> {
    const { clock, signal, log } = attempt;
    const { maskMessage } = this.#hidden;
    await this.#waitForRestart(attempt);
    const session = await untilAborted(this.#connect(), signal);
    if (this.#hasOtherTools || this.#listing !== undefined) await untilAborted(this.#list(session), signal);
    if (this.#names?.has(tool) === false) {
      const advice = 'start Wavetrain again, or have the server reload, to see the tools that it has now';
      throw ToolError.nonRetryable(`the MCP server "${this.name}" has no tool "${tool}" any more: ${advice}`);
    }
    const timer = new RequestTimer(clock, { totalMs: MCP_LIMITS.callMs }, signal);
    try {
      const control = {
        signal: timer.signal,
        onProgress: (message = 'progress') => log(maskMessage(message)),
      };
      const result = await untilAborted(session.callTool(tool, args, control), timer.signal);
      this.#failures = 0;
      return this.#hidden.maskData(result);
    } finally {
      timer.stop();
    }
  }

  hasConfig(config: McpServerConfig): boolean {
    return isDeepStrictEqual(this.#config, config);
  }

  /**
   * Ends the server once nobody has called it for a minute: after a reload, only runs that began before do. A later call
   * starts it again.
   */
  retire(): void {
    this.#isRetired = true;
    this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#retirement);
    if (this.#callsAtWork > 0) return;
    this.#retirement = clock.setTimeout(() => {
      if (this.#callsAtWork === 0) void this.#endSession();
    }, RETIRED_IDLE_MS);
  }

  /** Ends the server, or the connection. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#options.clock.clearTimeout(this.#retirement);
    this.#end.abort(new Error('Wavetrain ends'));
    await this.#endSession();
  }

  async #endSession(): Promise<void> {
    const opening = this.#session;
    this.#session = undefined;
    const session = await opening?.catch(() => undefined);
    await session?.close();
  }

  async #waitForRestart({ clock, signal, pauseTimeout }: CallingTool): Promise<void> {
    const waitMs = this.#notBeforeMs - this.#options.clock.monotonicNow();
    if (this.#session !== undefined || waitMs <= 0) return;
    const resumeTimeout = pauseTimeout();
    try {
      await delay(waitMs, { clock, signal });
    } finally {
      resumeTimeout();
    }
  }

  /** The connection that there is, or a new one. */
  #connect(): Promise<McpSession> {
    if (this.#session !== undefined) return this.#session;
    const opening = this.#open(() => {
      if (this.#session !== opening) return;
      this.#session = undefined;
      this.#countFailure();
    });
    this.#session = opening;
    opening.catch(() => {
      if (this.#session === opening) this.#session = undefined;
      this.#countFailure();
    });
    return opening;
  }

  async #open(onClose: () => void): Promise<McpSession> {
    const { clock, version, openSession, programs, onStderr } = this.#options;
    const timer = new RequestTimer(clock, { totalMs: MCP_LIMITS.connectMs }, this.#end.signal);
    const output = this.#createOutput();
    this.#output = output;
    let isOpen = false;
    try {
      const session = await openSession({
        config: this.#config,
        version,
        clock,
        programs,
        signal: timer.signal,
        // A server that ends while it starts has failed to start, and is counted as such.
        onClose: () => isOpen && onClose(),
        onListChanged: () => {
          this.#hasOtherTools = true;
        },
        onStderr: (line) => {
          const masked = output.addStderr(line);
          onStderr?.(this.name, masked);
        },
        onStrayLine: (line) => output.addStray(line),
        onExit: (how) => output.end(how),
        onTooMuch: (limit) => {
          output.stop(limit);
          onStderr?.(this.name, `Wavetrain ends it: it has sent more than ${limit}`);
        },
      });
      isOpen = true;
      // The server may be another version, with other tools.
      this.#listing = undefined;
      this.#hasOtherTools ||= this.#names !== undefined;
      return session;
    } finally {
      timer.stop();
    }
  }

  #countFailure(): void {
    const { restartDelayMs, longestRestartDelayMs } = MCP_LIMITS;
    // The first time the server is started again at once.
    const delayMs = this.#failures === 0 ? 0 : restartDelayMs * 2 ** Math.min(this.#failures - 1, 20);
    this.#failures++;
    this.#notBeforeMs = this.#options.clock.monotonicNow() + Math.min(delayMs, longestRestartDelayMs);
  }

  /** Lists the tools once for all who ask meanwhile, unless the server says in between that it has others. */
  #list(session: McpSession): Promise<ToolList> {
    if (this.#listing !== undefined && !this.#hasOtherTools) return this.#listing;
    this.#hasOtherTools = false;
    const listing = this.#readList(session).finally(() => {
      if (this.#listing === listing) this.#listing = undefined;
    });
    this.#listing = listing;
    return listing;
  }

  async #readList(session: McpSession): Promise<ToolList> {
    const timer = new RequestTimer(this.#options.clock, { totalMs: MCP_LIMITS.listMs }, this.#end.signal);
    try {
      const tools: RemoteTool[] = [];
      let cursor: string | undefined;
      do {
        const request = session.listTools(cursor, { signal: timer.signal });
        const page = await untilAborted(request, timer.signal);
        tools.push(...page.tools.slice(0, MCP_LIMITS.tools + 1 - tools.length));
        cursor = page.nextCursor;
      } while (cursor !== undefined && tools.length <= MCP_LIMITS.tools);
      const isCut = tools.length > MCP_LIMITS.tools;
      // A tool beyond the limit may still be called by its name: it was within when the catalog was made.
      this.#names = isCut ? undefined : new Set(tools.map(({ name }) => name));
      return { tools: tools.slice(0, MCP_LIMITS.tools), isCut };
    } catch (error) {
      this.#hasOtherTools = true;
      throw error;
    } finally {
      timer.stop();
    }
  }

  #describe(error: unknown, isStarting = false): string {
    const { maskMessage } = this.#hidden;
    if (this.#config.kind === 'stdio') {
      const { command, cwd } = this.#config;
      if (errorCode(error) === 'ENOENT') {
        // Node.js says the same of both.
        if (!existsSync(cwd))
          return `there is no folder "${maskMessage(cwd)}": create it, or write another "cwd"`;
        const [program = '', ...args] = command.split(/\s+/);
        return maskMessage(
          args.length === 0
            ? `there is no program "${command}": install it, or write its whole path`
            : `there is no program "${command}": write "command": "${program}", "args": ${JSON.stringify(args)}`,
        );
      }
      if (errorCode(error) === 'EACCES')
        return `"${maskMessage(command)}" cannot be started: it is no program, or permission is denied`;
    }
    const message = errorMessage(error, maskMessage);
    if (kindOf(error) === 'refused') return message;
    const isStart = isStarting && kindOf(error) === 'closed' && this.#config.kind === 'stdio';
    const what = isStart
      ? `"${maskMessage(this.#config.command)}" ended before it had answered in MCP; see whether "command" and "args" start an MCP server`
      : message;
    return `${what}${this.#output.describe(isStarting)}`;
  }

  #createOutput(): ServerOutput {
    return new ServerOutput(this.#hidden.maskMessage);
  }
}

function kindOf(error: unknown): McpErrorKind {
  return typeof error === 'object' && error !== null && 'kind' in error
    ? (error.kind as McpErrorKind)
    : 'other';
}
