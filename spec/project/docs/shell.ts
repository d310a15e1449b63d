import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { ROOT } from '../files.js';

export interface Finished {
  readonly status: number | null;
  /** Standard output and standard error, interleaved as written. */
  readonly output: string;
}

/**
 * A temporary folder in which the commands of a document run: it holds the examples, `npx wavetrain` and `wavetrain`
 * start the built command, and programs import the package by its name.
 */
export class Shell {
  readonly folder = new TemporaryFolder();
  /** Follows `cd` from one script to the next. */
  #cwd = this.folder.path;
  readonly #servers: ChildProcess[] = [];
  /** The address at which a server listens, by the one that the document names. */
  readonly #urls = new Map<string, string>();
  /** The text of each file that was saved; commands may have changed the file since. */
  readonly #saved = new Map<string, string>();
  /** Process id of the last server. */
  #server: string | undefined;

  constructor() {
    cpSync(join(ROOT, 'examples'), this.folder.at('examples'), { recursive: true });
    this.folder.write('package.json', '{"type": "module"}');
    mkdirSync(this.folder.at('node_modules'));
    symlinkSync(ROOT, this.folder.at('node_modules/wavetrain'));
    // Without variables: MCP servers, which may be one of these, see no others than PATH and HOME.
    this.#command('wavetrain', `exec "${process.execPath}" "${ROOT}/bin/wavetrain.js" "$@"`);
    this.#command(
      'tsx',
      `exec "${process.execPath}" --import "${ROOT}/node_modules/tsx/dist/loader.mjs" "$@"`,
    );
    this.#command('npx', 'exec "$@"');
  }

  /** Runs a shell script up to the first command that fails. `errors: false` omits standard error. */
  async run(script: string, { errors = true }: { errors?: boolean } = {}): Promise<Finished> {
    const where = this.folder.at('.cwd');
    const head = `trap 'pwd > ${where}' EXIT\nset -e\n`;
    const text = head + this.#actual(script);
    const finished = await execute('sh', ['-c', text], this.#cwd, this.#environment(), errors);
    this.#cwd = readFileSync(where, 'utf8').trimEnd();
    return { ...finished, output: this.#documented(finished.output) };
  }

  /** Saves a file that the document shows, with the addresses of the servers that are running. */
  save(path: string | undefined, text: string): void {
    const actual = this.#actual(text);
    if (path === undefined || this.#saved.get(path) === actual) return;
    this.#saved.set(path, actual);
    this.folder.write(path, actual);
  }

  /**
   * Starts a server on a port of its own, be it Wavetrain or another one that reads PORT; later scripts reach it at
   * `documentedUrl`. Variables may stand before the command, and `& SERVER=$!` after it: later scripts have the
   * variable in any case.
   */
  async serve(script: string, documentedUrl: string = DOCUMENTED_URL): Promise<Finished> {
    const env = { ...this.#environment(), SERVICE_API_PORT: '0', PORT: '0' };
    const command = script.replace(/^(?:\w+=\S+ )*/, '$&exec ').replace(/ &(?: SERVER=\$!)?$/, '');
    const server = spawn('sh', ['-c', command], {
      cwd: this.#cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#servers.push(server);
    this.#server = String(server.pid);
    this.#urls.set(documentedUrl, await addressOf(server));
    return { status: 0, output: '' };
  }

  remove(): void {
    for (const server of this.#servers) server.kill('SIGKILL');
    this.folder.remove();
  }

  #actual(text: string): string {
    return [...this.#urls].reduce(
      (result, [documented, actual]) => result.replaceAll(documented, actual),
      text,
    );
  }

  #documented(text: string): string {
    return [...this.#urls].reduce(
      (result, [documented, actual]) => result.replaceAll(actual, documented),
      text,
    );
  }

  #command(name: string, line: string): void {
    chmodSync(this.folder.write(`.bin/${name}`, `#!/bin/sh\n${line}\n`), 0o755);
  }

  #environment(): Record<string, string> {
    const path = [this.folder.at('.bin'), process.env['PATH'] ?? ''].join(delimiter);
    const url = this.#urls.get(DOCUMENTED_URL);
    const server = url === undefined ? {} : { WAVETRAIN_SERVER: url };
    const pid = this.#server === undefined ? {} : { SERVER: this.#server };
    return {
      PATH: path,
      HOME: this.folder.path,
      LANG: 'C.UTF-8',
      NODE: process.execPath,
      ROOT,
      ...server,
      ...pid,
    };
  }
}

/** The default address of a server, which the documents use. */
const DOCUMENTED_URL = 'http://127.0.0.1:8000';

/** The first line of a server's log names its address. */
function addressOf(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stdout?.on('data', (chunk: Buffer) => {
      log += chunk.toString('utf8');
      const found = /"url":"([^"]+)"/.exec(log)?.[1];
      if (found !== undefined) resolve(found);
    });
    server.once('exit', () => reject(new Error(`the server did not start: ${log}`)));
  });
}

function execute(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  errors: boolean,
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout.on('data', take);
    if (errors) child.stderr.on('data', take);
    else child.stderr.resume();
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** Maps `values` with `work`, a few at a time; the results keep the order. */
export async function eachOf<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const outcomes: R[] = [];
  const remaining = [...values.entries()];
  const worker = async (): Promise<void> => {
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      outcomes[next[0]] = await work(next[1]);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  return outcomes;
}
