import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Blackboard, Json } from 'wavetrain';

/**
 * A blackboard that outlives the process: one JSON file per tenant, in a separate folder. Only one instance at a time may
 * write to a folder.
 */
export class FileBlackboard implements Blackboard {
  readonly #folder: string;
  /** Writes run one after another: an append first reads the list that it extends. */
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async getAll(tenantId: string): Promise<Record<string, Json>> {
    const text = await readTenantFile(this.#filePath(tenantId));
    // Any name may be a key. Without a prototype, "__proto__" is an ordinary key.
    return Object.assign(Object.create(null), JSON.parse(text));
  }

  async readMany(tenantId: string, keys: readonly string[]): Promise<Record<string, Json>> {
    const wanted = new Set(keys);
    const found = await this.getAll(tenantId);
    for (const key of Object.keys(found)) {
      if (!wanted.has(key)) delete found[key];
    }
    return found;
  }

  write(tenantId: string, key: string, value: Json, append = false): Promise<void> {
    const written = this.#lastWrite.then(() => this.#write(tenantId, key, value, append));
    // A failed write rejects for its caller only; later writes still run.
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async #write(tenantId: string, key: string, value: Json, append: boolean): Promise<void> {
    const values = await this.getAll(tenantId);
    values[key] = append ? appendTo(values[key], value) : value;
    const file = this.#filePath(tenantId);
    await mkdir(this.#folder, { recursive: true });
    // Renaming is atomic: a concurrent read, or a read after a crash, gets the complete old or new file.
    await writeFile(`${file}.new`, JSON.stringify(values), { flush: true });
    await rename(`${file}.new`, file);
  }

  /** Encodes the tenant, because its name may contain characters that file names must not. */
  #filePath(tenantId: string): string {
    return join(this.#folder, `tenant-${Buffer.from(tenantId).toString('hex')}.json`);
  }
}

function appendTo(existing: Json | undefined, value: Json): Json[] {
  if (existing === undefined) return [value];
  return Array.isArray(existing) ? [...existing, value] : [existing, value];
}

/** A tenant that has never written has no file. */
async function readTenantFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}';
    throw error;
  }
}
