import type { Readable } from 'node:stream';
import { ToolError } from '../../common/errors.js';
import { pauseWhenOver } from '../../common/scheduling/run-in-slices.js';
import { formatMebibytes } from '../../common/text.js';
import type { StartedProgram } from '../../common/workers/programs/program-launcher.js';
import { COMMAND_LIMITS, type CommandResult, type ToolCommand } from './command.js';
import type { CommandCaller } from './command-caller.js';
import { CommandLog } from './command-log.js';

/** A program of a task at work: reads what it writes, and ends it with the attempt. */
export class RunningCommand {
  readonly #program: StartedProgram;
  readonly #caller: CommandCaller;
  readonly #output: CapturedOutput;
  readonly #log: CommandLog;
  #killTimer: unknown;
  /** The reason that ends the program early, such as a run without memory. */
  #failure: unknown;

  constructor(program: StartedProgram, caller: CommandCaller) {
    const { stdin, stdout, stderr } = program;
    const { masker, log, holdMemory } = caller;
    this.#program = program;
    this.#caller = caller;
    this.#output = new CapturedOutput(COMMAND_LIMITS.outputBytes, holdMemory);
    this.#log = new CommandLog(masker, log);
    this.#listen(stdout, (bytes) => {
      this.#output.write(bytes);
      this.#log.write('stdout', bytes);
    });
    this.#listen(stderr, (bytes) => this.#log.write('stderr', bytes));
    // A program that ends without reading its input, or a stream that breaks, is no failure: its exit says more.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  }

  /**
   * Resolves when the program and all of its group have ended. Rejects with a ToolError when the attempt is over, or nobody
   * knows how the program has ended.
   */
  async end({ argv, stdin = '', successCodes = [0] }: ToolCommand): Promise<CommandResult> {
    const { signal, clock } = this.#caller;
    const stop = (): void => this.stop();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    try {
      this.#program.stdin.end(stdin);
      const exit = await this.#program.exited;
      await this.#closeOutput();
      const lastLines = this.#log.end();
      if (this.#failure !== undefined) throw this.#failure;
      if ('error' in exit)
        throw ToolError.nonRetryable(`nobody knows how "${argv[0]}" has ended: ${exit.error}`);
      const { status, signal: by } = exit;
      const { text, cut } = this.#output;
      const succeeded = status !== null && successCodes.includes(status);
      return { status, signal: by, succeeded, stdout: text, cut, lastLines };
    } finally {
      signal.removeEventListener('abort', stop);
      clock.clearTimeout(this.#killTimer);
    }
  }

  /** A process that has left the group may hold the output open: nobody waits for it. */
  async #closeOutput(): Promise<void> {
    const { stdout, stderr, closed } = this.#program;
    const { clock } = this.#caller;
    const timer = clock.setTimeout(() => {
      for (const stream of [stdout, stderr]) stream.destroy();
    }, COMMAND_LIMITS.graceMs);
    await closed;
    clock.clearTimeout(timer);
  }

  #listen(stream: Readable, listener: (bytes: Uint8Array) => void): void {
    stream.on('data', (bytes: Uint8Array) => {
      if (this.#failure !== undefined) return;
      try {
        listener(bytes);
        this.#letOthersWork(stream);
      } catch (error) {
        this.#failure = error;
        this.stop();
      }
    });
  }

  /** A program that writes a lot waits while others need the event loop. */
  #letOthersWork(stream: Readable): void {
    const { tenantId, signal } = this.#caller;
    const pause = signal.aborted ? undefined : pauseWhenOver({ tenant_id: tenantId, signal });
    if (pause === undefined) return;
    const resume = (): void => void stream.resume();
    stream.pause();
    pause.then(resume, resume);
  }

  /** Asks the group to end, and ends it when it does not. */
  stop(): void {
    if (this.#killTimer !== undefined) return;
    this.#program.signal('SIGTERM');
    const kill = (): void => this.#program.signal('SIGKILL');
    this.#killTimer = this.#caller.clock.setTimeout(kill, COMMAND_LIMITS.graceMs);
  }
}

/** The first bytes that a program writes, up to a limit, as the result of a command (D88). */
class CapturedOutput {
  readonly #limit: number;
  readonly #hold: (bytes: number) => void;
  readonly #parts: Uint8Array[] = [];
  #kept = 0;
  #written = 0;

  /** @param hold takes memory of the run for what is kept; may throw */
  constructor(limit: number, hold: (bytes: number) => void) {
    this.#limit = limit;
    this.#hold = hold;
  }

  write(bytes: Uint8Array): void {
    this.#written += bytes.length;
    const part = bytes.subarray(0, this.#limit - this.#kept);
    if (part.length === 0) return;
    this.#hold(part.length);
    this.#kept += part.length;
    this.#parts.push(part);
  }

  /** How much was left out, in words; undefined when everything is there. */
  get cut(): string | undefined {
    const left = this.#written - this.#kept;
    return left === 0 ? undefined : formatMebibytes(left);
  }

  /** As UTF-8; other bytes become replacement characters. */
  get text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
