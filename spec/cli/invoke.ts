import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import type { CliContext } from '../../lib/cli/context.js';
import { main } from '../../lib/cli/main.js';

export interface Invocation {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InvokeOptions extends Partial<CliContext> {
  /** The content of standard input. */
  readonly input?: string | Uint8Array;
}

/** Runs one command line in this process, isolated from its streams, environment and signals. */
export async function invoke(argv: readonly string[], options: InvokeOptions = {}): Promise<Invocation> {
  const { input = '', ...context } = options;
  const stdout = new Recorder();
  const stderr = new Recorder();
  const status = await main(argv, {
    env: {},
    keepsHistory: false,
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    processEvents: new EventEmitter(),
    ...context,
  });
  return { status, stdout: textOf(context.stdout ?? stdout), stderr: textOf(context.stderr ?? stderr) };
}

/** A stream that records its input and, like a file or pipe, is no terminal. */
export class Recorder extends PassThrough {
  readonly #chunks: Buffer[] = [];

  constructor() {
    super();
    this.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** A recorder that looks like a terminal. */
export class Screen extends Recorder {
  readonly isTTY = true;
  columns: number;
  rows: number;

  constructor(columns = 80, rows = 24) {
    super();
    this.columns = columns;
    this.rows = rows;
  }
}

function textOf(stream: unknown): string {
  return stream instanceof Recorder ? stream.text : '';
}

/** Somebody who types an answer. */
export class Person extends Readable {
  readonly isTTY = true;
  readonly #answer: string | null;

  constructor(answer: string | null) {
    super();
    this.#answer = answer;
  }

  override _read(): void {
    if (this.#answer !== null) this.push(this.#answer);
    this.push(null);
  }
}
