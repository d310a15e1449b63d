import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `wavetrain serve` as it was built, in a folder and on a port of its own. */
export class ServedCommand {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  static async start(): Promise<ServedCommand> {
    const folder = mkdtempSync(join(tmpdir(), 'wavetrain-inspector-'));
    const command = fileURLToPath(new URL('../../bin/wavetrain.js', import.meta.url));
    const child = spawn(process.execPath, [command, 'serve', '--port', '0'], {
      cwd: folder,
      env: { ...process.env, MAX_FAN_OUT_CONCURRENCY: '500', SERVICE_RUN_KEEP: '10000' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    const url = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer): void => {
        text = (text + chunk.toString()).slice(-10_000);
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => reject(new Error(`the server has ended: ${text}`)));
    });
    return new ServedCommand(url, child, folder);
  }

  /** Submits a pipeline, which pauses before its task `first`, and returns the id of the run. */
  async submit(pipeline: object): Promise<string> {
    const body = {
      pipeline,
      breakpoints: { before: ['first'] },
      options: { fan_out_concurrency: 500 },
    };
    const { run_id } = await this.#request<{ run_id: string }>('POST', '/pipelines/run_async', body);
    return run_id;
  }

  /** Runs so many pipelines of one task. */
  async fill(runs: number): Promise<void> {
    const body = { pipeline: { id: 'small', goal: 'be one of many', tasks: [{ id: 'a', tool: 'mock' }] } };
    let left = runs;
    const submit = async (): Promise<void> => {
      while (left > 0) {
        left--;
        await this.#request('POST', '/pipelines/run_async', body);
      }
    };
    await Promise.all(Array.from({ length: 8 }, submit));
  }

  async resume(runId: string): Promise<void> {
    await this.#request('POST', `/pipelines/runs/${runId}/continue`);
  }

  /** Number of entries that the server has recorded. */
  async lastSeq(runId: string): Promise<number> {
    const path = `/pipelines/runs/${runId}/inspection`;
    const headers = { Accept: 'application/json', 'Last-Event-ID': String(Number.MAX_SAFE_INTEGER) };
    return (await this.#request<{ last_seq: number }>('GET', path, undefined, headers)).last_seq;
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #request<T>(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }
}
