import { type ChildProcess, fork } from 'node:child_process';
import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { READY, type Reply } from './questions.js';

/** A process of its own, with what it writes to standard output discarded. */
export class Child {
  /** Where it listens; empty when it does not. */
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #questions = READY;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
    process.on('message', (message) => {
      const { id, value } = message as Reply;
      this.#waiting.get(id)?.(value);
      this.#waiting.delete(id);
    });
  }

  /** @param name of a file beside this one, bundled */
  static async open(name: string, args: readonly string[] = []): Promise<Child> {
    const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
    const child = fork(file, [...args], { stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'] });
    const url = await new Promise<string>((resolve, reject) => {
      child.once('message', (message) => resolve(String((message as Reply).value)));
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
    });
    return new Child(child, url);
  }

  ask<T>(name: string, input?: unknown): Promise<T> {
    const id = ++this.#questions;
    return new Promise((resolve) => {
      this.#waiting.set(id, (value) => resolve(value as T));
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
