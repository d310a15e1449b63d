import type { Readable } from 'node:stream';
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../common/clock.js';
import { errorCode } from '../../../common/errors.js';
import { MCP_LIMITS } from '../../../common/limits.js';
import { JsonMeter } from '../../../common/requests/json-meter.js';
import { LineReader, type SkippedLine } from '../../../common/requests/line-reader.js';
import type { WorkerExit } from '../../../common/workers/launcher.js';
import { directPrograms } from '../../../common/workers/programs/direct-programs.js';
import type { ProgramLauncher, StartedProgram } from '../../../common/workers/programs/program-launcher.js';
import type { StdioServerConfig } from '../config.js';
import { MessageBudget } from './message-budget.js';
import { findAnsweredRequest, isUnheard } from './message-text.js';
import { LogLines, readInTurns } from './read-output.js';
import type { SessionOptions } from '../session.js';

/** A program that has written so many lines and no message is no MCP server: reading more takes time from others. */
const MAX_STRAY_LINES = 1000;

/** Of a message that is too large, the bytes that are waited for, in which it may end and say what it answers. */
const MAX_SKIPPED_BYTES = 64 * 2 ** 20;

/** Errors of writing to a program that has ended. */
const ENDED = ['EPIPE', 'ECONNRESET', 'ECANCELED', 'ERR_STREAM_DESTROYED'];

type Reports = Pick<SessionOptions, 'onStderr' | 'onStrayLine' | 'onExit' | 'onTooMuch'>;

/**
 * Starts a server and speaks with it on its standard streams. Unlike the transport of the SDK, it passes on no more of
 * the environment than is configured, and ends what the server has started itself together with it.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #config: StdioServerConfig;
  readonly #clock: Clock;
  readonly #reports: Reports;
  readonly #programs: ProgramLauncher;
  readonly #budget: MessageBudget;
  #strayLines = 0;
  /** The limit that a message exceeds, so that it is being left out, and its bytes since then. */
  #exceeded: string | undefined;
  #skippedBytes = 0;
  #isClosing = false;
  /** True when the server has sent too much: whatever comes after that is not read. */
  #isGivenUp = false;
  #starting: Promise<void> | undefined;
  #program: StartedProgram | undefined;
  #closed: Promise<void> | undefined;

  /** @param programs starts the server. Default: this process does */
  constructor(config: StdioServerConfig, clock: Clock, reports: Reports, programs?: ProgramLauncher) {
    this.#config = config;
    this.#clock = clock;
    this.#reports = reports;
    this.#programs = programs ?? directPrograms;
    this.#budget = new MessageBudget(clock);
  }

  /** Resolves when the program runs; rejects with the error of Node.js when it cannot be started. */
  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#config;
    const program = this.#programs.start({ command, args, env, cwd, graceMs: MCP_LIMITS.closeMs });
    this.#starting = program.then((started) => this.#use(started));
    await this.#starting;
  }

  #use(program: StartedProgram): void {
    this.#program = program;
    const read = Promise.all([this.#readMessages(program.stdout), this.#readLogs(program.stderr)]);
    this.#closed = program.closed.then(async () => {
      await read;
      this.onclose?.();
    });
    void program.exited.then((exit) => {
      if (!this.#isClosing) this.#reports.onExit(describeExit(exit));
      this.#awaitLastOutput(program);
    });
    program.stdin.on('error', (error) => this.onerror?.(error));
    if (this.#isGivenUp) program.signal('SIGKILL');
  }

  async #readMessages(stdout: Readable): Promise<void> {
    const messages = new LineReader(
      new JsonMeter(MCP_LIMITS),
      (line) => this.#receive(line),
      (limit) => {
        this.#exceeded = limit;
      },
      (line) => this.#refuseMessage(line),
    );
    try {
      await readInTurns(stdout, this.#config.name, (part) => {
        messages.push(part);
        this.#limitSkipped(part);
        return !this.#isGivenUp;
      });
      messages.end();
    } catch (error) {
      // The stream was destroyed, because something else holds its end.
      this.onerror?.(error as Error);
    }
  }

  /** The last words of a program that dies often lack the end of their line. */
  async #readLogs(stderr: Readable): Promise<void> {
    const logs = new LogLines(this.#clock, this.#reports.onStderr);
    try {
      await readInTurns(stderr, this.#config.name, (part) => {
        logs.push(part);
        return true;
      });
    } catch (error) {
      this.onerror?.(error as Error);
    }
    logs.end();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#budget.onSend(message);
    try {
      await this.#write(serializeMessage(message));
    } catch (error) {
      if (!ENDED.includes(errorCode(error) ?? '')) throw error;
      // The end of the program, which says more, is about to be noticed.
      await this.#inTime(this.#closed);
      throw new Error('the program has ended', { cause: error });
    }
  }

  #write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const { stdin } = this.#program ?? {};
      if (stdin === undefined) return reject(new Error('not connected'));
      if (stdin.writableLength > MCP_LIMITS.messageBytes)
        return reject(new Error('the server does not read what it was sent: it is busy with earlier calls'));
      stdin.write(text, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  /** Ends the server: closes its standard input, then sends SIGTERM, then SIGKILL. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const isStarting = this.#program === undefined;
    // A program that takes longer to start is killed when it has.
    if (isStarting && !(await this.#inTime(this.#starting?.catch(() => undefined)))) return this.#kill();
    const program = this.#program;
    if (program === undefined) return;
    program.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#inTime(this.#closed)) return;
      program.signal(signal);
    }
    await this.#closed;
  }

  /** Bounds the wait for output: a program that the server has started in a session of its own may hold it open. */
  #awaitLastOutput({ stdout, stderr }: StartedProgram): void {
    const timer = this.#clock.setTimeout(() => {
      stdout.destroy();
      stderr.destroy();
    }, MCP_LIMITS.closeMs);
    void this.#closed?.then(() => this.#clock.clearTimeout(timer));
  }

  /** Says whether something has happened after the time that a server has to end. */
  async #inTime(awaited: Promise<void> | undefined): Promise<boolean> {
    if (awaited === undefined) return true;
    return await new Promise((resolve) => {
      const timer = this.#clock.setTimeout(() => resolve(false), MCP_LIMITS.closeMs);
      void awaited.then(() => {
        this.#clock.clearTimeout(timer);
        resolve(true);
      });
    });
  }

  #receive(line: string): void {
    if (this.#isGivenUp) return;
    const tooMuch = this.#budget.add(line.length);
    if (tooMuch !== undefined) return this.#giveUp(tooMuch);
    if (isUnheard(line)) {
      this.#strayLines = Number.NEGATIVE_INFINITY;
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      // A careless server prints lines that are no messages.
      this.#reports.onStrayLine(line);
      if (++this.#strayLines === MAX_STRAY_LINES) this.#kill();
      this.onerror?.(error as Error);
      return;
    }
    this.#strayLines = Number.NEGATIVE_INFINITY;
    this.#budget.settle(message, line.length);
    this.onmessage?.(message);
  }

  /** Fails the request that a too large message answers, and no other one: tenants share the server. */
  #refuseMessage(line: SkippedLine): void {
    const limit = this.#exceeded ?? '';
    this.#exceeded = undefined;
    this.#skippedBytes = 0;
    const id = findAnsweredRequest(line);
    // Nobody would know which request the message answers, and wait for it.
    if (id === undefined) return this.#giveUp(`${limit} in one message`);
    const message = `the answer has more than ${limit}: ask for less at once`;
    const refusal = { jsonrpc: '2.0', id, error: { code: -32_000, message } } as const;
    this.#budget.settle(refusal, undefined);
    this.onmessage?.(refusal);
  }

  /** Ends a server whose message is too large and has no end. */
  #limitSkipped({ length }: Uint8Array): void {
    if (this.#exceeded === undefined) return;
    this.#skippedBytes += length;
    if (this.#skippedBytes > MAX_SKIPPED_BYTES) this.#giveUp(`${this.#exceeded} in one message`);
  }

  /** @param tooMuch what the server has sent more of than it may */
  #giveUp(tooMuch: string): void {
    if (this.#isGivenUp) return;
    this.#reports.onTooMuch(tooMuch);
    this.#kill();
  }

  #kill(): void {
    this.#isGivenUp = true;
    this.#program?.signal('SIGKILL');
  }
}

function describeExit(exit: WorkerExit): string {
  if ('error' in exit) return `an unknown status: ${exit.error}`;
  return exit.status === null ? `the signal ${exit.signal}` : `exit status ${exit.status}`;
}
