import { open } from 'node:fs/promises';
import { platform } from 'node:os';
import { WavetrainError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import { describeKind, isObject } from '../../common/json/json.js';
import type { Path } from '../problems/problem.js';
import { readSource, type Source } from '../text/source.js';

/** Longest file, in bytes. */
const MAX_FILE_BYTES = 2 ** 20;

/** Nobody but the owner may write the file, and others may not read it; a group may, as mounted files have one. */
const FORBIDDEN_MODE = 0o027;

/** The words for a kind of file. */
interface TenantFileKind {
  /** Follows `the`: `secrets file`. */
  readonly noun: string;
  /** Shows how the file is written. */
  readonly shape: string;
  /** Ends `a tenant has …`, as in `a map of names and values`. */
  readonly tenantShape: string;
}

/** An entry as it stands in the file. */
export interface TenantEntry {
  readonly path: readonly [tenant: string, name: string];
  readonly name: string;
  readonly value: unknown;
}

/** A protected YAML file with named entries of each tenant. Its errors name the line, and never a value (D61). */
export class TenantFile {
  readonly #source: Source;
  readonly #file: string;
  readonly #kind: TenantFileKind;

  /** @param file its name in messages */
  constructor(text: string, file: string, kind: TenantFileKind) {
    this.#source = readSource(text);
    this.#file = file;
    this.#kind = kind;
  }

  /**
   * Reads the text of a file that others can neither read nor change. Rejects with `unreadable_file`.
   *
   * @param file its name in messages
   */
  static async read(path: string, file: string, { noun }: TenantFileKind): Promise<string> {
    try {
      return decodeUtf8(await readProtected(path));
    } catch (cause) {
      const message = `cannot read the ${noun} ${file}: ${describeErrno(cause)}`;
      throw new WavetrainError('unreadable_file', message, { cause });
    }
  }

  /** Returns the parsed entries by tenant and name. @throws WavetrainError `bad_usage` */
  parse<T>(parseEntry: (entry: TenantEntry) => T): ReadonlyMap<string, ReadonlyMap<string, T>> {
    const problem = this.#source.problems.find(({ severity }) => severity === 'error');
    // The messages of the YAML reader quote what they are about.
    if (problem !== undefined) {
      const isEmpty = problem.code === 'empty';
      const message = isEmpty ? `it is empty: write ${this.#kind.shape}` : 'it is not valid YAML';
      throw this.#errorAtLine(problem.line, message);
    }
    const { value } = this.#source;
    if (!isObject(value)) throw this.error([], `it must be ${this.#kind.shape}, not ${describeKind(value)}`);
    return new Map(
      Object.entries(value).map(([tenant, entries]) => [
        tenant,
        this.#parseTenant(tenant, entries, parseEntry),
      ]),
    );
  }

  #parseTenant<T>(
    tenant: string,
    entries: unknown,
    parseEntry: (entry: TenantEntry) => T,
  ): ReadonlyMap<string, T> {
    if (!isObject(entries)) {
      const message = `a tenant has ${this.#kind.tenantShape}, not ${describeKind(entries)}`;
      throw this.error([tenant], message);
    }
    return new Map(
      Object.entries(entries).map(([name, value]) => [
        name,
        parseEntry({ path: [tenant, name], name, value }),
      ]),
    );
  }

  /** @param at selects the key instead of the value */
  error(path: Path, message: string, at?: 'key'): WavetrainError {
    return this.#errorAtLine(this.#source.positionOf(path, at)?.line, message);
  }

  #errorAtLine(line: number | undefined, message: string): WavetrainError {
    const location = line === undefined ? '' : `, line ${line}`;
    return new WavetrainError('bad_usage', `the ${this.#kind.noun} ${this.#file}${location}: ${message}`);
  }
}

/** Rejects with the reason, as the end of a sentence. */
async function readProtected(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { mode, size } = await file.stat();
    if (platform() !== 'win32' && (mode & FORBIDDEN_MODE) !== 0) {
      throw new WavetrainError('unreadable_file', `others may read or change it: chmod 600 ${path}`);
    }
    if (size > MAX_FILE_BYTES) {
      throw new WavetrainError('unreadable_file', `it is larger than ${MAX_FILE_BYTES / 1024} KiB`);
    }
    return await file.readFile();
  } finally {
    await file.close();
  }
}
