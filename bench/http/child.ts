import { type ChildProcess, fork } from 'node:child_process';
import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { READY, type IpcResponse } from './ipc.js';

/** A child process; its standard output is discarded. */
export class Child {
  /** The base URL of the child; empty when the child is no server. */
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, (value: unknown) => void>();
  #lastId = READY;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
    process.on('message', (message) => {
      const { id, value } = message as IpcResponse;
      this.#pending.get(id)?.(value);
      this.#pending.delete(id);
    });
  }

  /** @param name name of a bundled file beside this one */
  static async open(name: string, args: readonly string[] = []): Promise<Child> {
    const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
    const child = fork(file, [...args], { stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'] });
    const url = await new Promise<string>((resolve, reject) => {
      child.once('message', (message) => resolve(String((message as IpcResponse).value)));
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
    });
    return new Child(child, url);
  }

  request<T>(name: string, input?: unknown): Promise<T> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#pending.set(id, (value) => resolve(value as T));
      this.#process.send({ id, name, input });
    });
  }

  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.#process.once('exit', resolve);
      this.#process.disconnect();
    });
  }
}
