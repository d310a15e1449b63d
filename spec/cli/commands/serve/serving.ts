import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { type Invocation, invoke, type InvokeOptions, Recorder } from '../../invoke.js';

/** A command that serves, until the spec sends it a signal. */
export class Serve {
  readonly signals = new EventEmitter();
  readonly stdout: Recorder;
  readonly ended: Promise<Invocation>;

  constructor(
    flags: readonly string[],
    env: Record<string, string> = {},
    stdout: Recorder = new Recorder(),
    context: InvokeOptions = {},
  ) {
    this.stdout = stdout;
    this.ended = invoke(['serve', '--port', '0', ...flags], {
      ...context,
      env,
      stdout,
      processEvents: this.signals,
    });
  }

  /** The address of the command, once it listens. */
  async url(): Promise<string> {
    for (;;) {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(this.stdout.text)?.[0];
      if (found !== undefined) return found;
      await Promise.race([setImmediate(), this.ended]);
    }
  }

  get lines(): Record<string, unknown>[] {
    return this.stdout.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

/** Resolves when a server accepts runs: one with a store listens before it has restored its runs. */
export async function untilReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/ready`)).ok) await setImmediate();
}

/** Sends JSON to a server. */
export function post(url: string, path: string, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}
