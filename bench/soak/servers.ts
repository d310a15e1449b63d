import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoopWindow } from './programs/probe.js';

/** The tenants, and the operator, who reads the metrics. */
const NAMES = ['bob', 'mallory', 'trudy', 'operator'] as const;

export type Keys = Readonly<Record<(typeof NAMES)[number], string>>;

export function createKeys(): Keys {
  const entries = NAMES.map((name) => [name, randomBytes(24).toString('base64url')]);
  return Object.fromEntries(entries) as Keys;
}

/** A server in a process of its own. */
export class ServerProcess {
  readonly #process: ChildProcess;
  /** Rejects with the last output when the server ends before it listens. */
  readonly url: Promise<string>;

  constructor(args: readonly string[], options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv }) {
    const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    this.url = new Promise<string>((resolve, reject) => {
      let text = '';
      const read = (chunk: Buffer): void => {
        text = (text + chunk.toString()).slice(-10_000);
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', (status, signal) =>
        reject(new Error(`the server ended: ${signal ?? status}\n${text}`)),
      );
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Resolves when it has ended: until then it may be writing into its folder. */
  async kill(): Promise<void> {
    if (!this.isAlive) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }
}

/** As the documentation advises for a server with many tenants. */
const YOUNG_GENERATION = '--max-semi-space-size=32';

/** Starts `wavetrain serve` with a probe in it, for the attacks. */
export function startAttacked(folder: string, keys: Keys): ServerProcess {
  return startWavetrain(folder, keys, {
    flags: [YOUNG_GENERATION, '--import', programFile('probe')],
    env: {
      SOAK_PROBE: join(folder, 'windows'),
      // The hostile server is on loopback.
      SERVICE_ALLOW_PRIVATE_NETWORK: 'true',
      SERVICE_CACHE: join(folder, 'cache'),
    },
  });
}

/** Starts `wavetrain serve` with default settings in a folder. @param flags of Node.js */
export function startWavetrain(
  folder: string,
  keys: Keys,
  { flags = [], env = {} }: { readonly flags?: readonly string[]; readonly env?: NodeJS.ProcessEnv },
): ServerProcess {
  const entries = NAMES.map((name) => ({
    name,
    sha256: createHash('sha256').update(keys[name]).digest('hex'),
    tenants: [name],
    scopes: name === 'operator' ? ['metrics'] : ['read', 'run'],
  }));
  writeFileSync(join(folder, 'keys.yaml'), JSON.stringify(entries));
  const command = fileURLToPath(new URL('../../bin/wavetrain.js', import.meta.url));
  return new ServerProcess([...flags, command, 'serve', '--port', '0'], {
    cwd: folder,
    env: {
      ...process.env,
      SERVICE_API_KEYS_FILE: join(folder, 'keys.yaml'),
      SERVICE_LOG_LEVEL: 'info',
      ...env,
    },
  });
}

/** Starts a Koa server that reads bodies and answers. */
export function startFloor(folder: string): ServerProcess {
  return new ServerProcess([programFile('floor')], { cwd: folder });
}

/** Starts the server that attackers let tools and models ask. */
export function startOriginProcess(folder: string): ServerProcess {
  return new ServerProcess([programFile('origin')], { cwd: folder });
}

/** The windows that the probe of the server in a folder has written. */
export function readWindows(folder: string): LoopWindow[] {
  const lines = readFileSync(join(folder, 'windows'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LoopWindow);
}

/** Runs a bundled program beside this one, in a process of its own, and resolves with what it prints. */
export async function runProgram(name: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [programFile(name), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => (text += chunk));
  const status = await new Promise((resolve) => child.once('close', resolve));
  if (status !== 0) throw new Error(`${name} ended with ${String(status)}`);
  return text;
}

function programFile(name: string): string {
  return fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url));
}
