import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blackboard, Json } from 'wavetrain';

/**
 * A blackboard that outlives the process: one JSON file for each tenant, in a folder of its own. One instance at a time
 * may write to a folder.
 */
export class FileBlackboard implements Blackboard {
  readonly #folder: string;
  /** Writes wait for each other: an append reads the list that it adds to, and none may come between. */
  #written: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async get_all(tenantId: string): Promise<Record<string, Json>> {
    const text = await textOf(this.#fileOf(tenantId));
    // Any name may be a key. Without a prototype, "__proto__" is a key like the others.
    return Object.assign(Object.create(null), JSON.parse(text));
  }

  async read_many(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    const wanted = new Set(keys);
    const found = await this.get_all(tenantId);
    for (const key of Object.keys(found)) {
      if (!wanted.has(key)) delete found[key];
    }
    return found;
  }

  write(tenantId: string, key: string, value: Json, append = false): Promise<void> {
    const written = this.#written.then(() => this.#write(tenantId, key, value, append));
    // One that failed is told to its caller, and does not keep the next from being written.
    this.#written = written.catch(() => undefined);
    return written;
  }

  async #write(tenantId: string, key: string, value: Json, append: boolean): Promise<void> {
    const values = await this.get_all(tenantId);
    values[key] = append ? appended(values[key], value) : value;
    const file = this.#fileOf(tenantId);
    await mkdir(this.#folder, { recursive: true });
    // Whoever reads meanwhile, or after a crash, finds the old file or the new one, whole.
    await writeFile(`${file}.new`, JSON.stringify(values), { flush: true });
    await rename(`${file}.new`, file);
  }

  /** A tenant may be called anything, and a file may not. */
  #fileOf(tenantId: string): string {
    return join(this.#folder, `tenant-${Buffer.from(tenantId).toString('hex')}.json`);
  }
}

function appended(existing: Json | undefined, value: Json): Json[] {
  if (existing === undefined) return [value];
  return Array.isArray(existing) ? [...existing, value] : [existing, value];
}

/** Of a tenant that never wrote there is no file. */
async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}';
    throw error;
  }
}
