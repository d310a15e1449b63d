import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

/** A call of a tool, as the process that made it has written it down. */
export interface Call {
  readonly tool: string;
  readonly attempt: number;
  /** Of the invocation. */
  readonly key: string;
  readonly phase: 'begin' | 'done';
  /** Milliseconds since 1970, UTC. */
  readonly at: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const UNREACHABLE = 'http://127.0.0.1:9';

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The server has ended before it answered. */
export class ServerEnded extends Error {}

/** A server that keeps its runs in a file, and is started again and again. */
export class Server {
  readonly #folder: string;
  readonly #name: string;
  #process: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #url = '';

  /** @param name of its file in the folder */
  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  get calls(): Call[] {
    const file = this.#at('calls');
    if (!existsSync(file)) return [];
    // The last line may be cut.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Call);
  }

  #at(ending: string): string {
    return join(this.#folder, `${this.#name}.${ending}`);
  }

  /** @param killAt the server kills itself when its tools have written so many lines; 0: never */
  async start(killAt: number): Promise<void> {
    const env = {
      ...process.env,
      SERVICE_STORE: this.#at('db'),
      SERVICE_RUN_KEEP: '100000',
      KILL_CALLS: this.#at('calls'),
      KILL_AT: String(killAt),
    };
    const args = ['bin/wavetrain.js', 'serve', '--port', '0', '--tools', 'scripts/kill/tools.ts'];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    this.#exited = once(child, 'exit');
    const listening = new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { url } = JSON.parse(line) as { readonly url?: string };
        if (url !== undefined) resolve(url);
      });
    });
    // The server may be killed before it listens.
    this.#url = await Promise.race([listening, this.#exited.then(() => UNREACHABLE)]);
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#process?.kill(signal);
    await this.#exited;
  }

  /** Resolves when the server was killed. Rejects when it has ended by itself. */
  async killed(): Promise<void> {
    await this.#exited;
    const status = this.#process?.exitCode;
    if (typeof status === 'number') throw new Error(`the server has ended with ${status}`);
  }

  /** Asks again while the server is not ready. Rejects with ServerEnded. */
  async request(method: 'GET' | 'POST', path: string, sent: Sent = {}): Promise<Answer> {
    for (;;) {
      const response = await this.#send(method, path, sent);
      if (response.status !== 503) return response;
      await wait(20);
    }
  }

  async #send(method: string, path: string, sent: Sent): Promise<Answer> {
    const headers = { Accept: 'application/json', ...sent.headers };
    try {
      const response = await fetch(this.#url + path, { ...sent, method, headers });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    } catch (cause) {
      throw new ServerEnded('the server has ended', { cause });
    }
  }
}
