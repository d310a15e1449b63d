import { open } from 'node:fs/promises';
import { platform } from 'node:os';
import { WavetrainError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import { describeKind, isObject } from '../../common/json/json.js';
import type { Path } from '../problems/problem.js';
import { SECRET_NAME } from '../template/reference.js';
import { readSource, type Source } from '../text/source.js';
import { findSecretProblem } from './encodings.js';
import type { SecretSource } from './run-secrets.js';
import type { SecretPlace } from './sources.js';

/** Longest secrets file, in bytes. */
const MAX_FILE_BYTES = 2 ** 20;

/** Nobody but the owner may write the file, and others may not read it; a group may, as mounted files have one. */
const FORBIDDEN_MODE = 0o027;

/** The secrets of a file, by tenant (D61). */
export interface FileSecrets extends SecretSource {
  /** By tenant, without values. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a secrets file, `{default: {NAME: value}, acme: {…}}` in YAML (D61). Rejects with `unreadable_file`, also for a
 * file that others may read, or with `bad_usage` naming the line and what is wrong with it, and never a value.
 *
 * @param name of the file in messages
 */
export async function readSecretsFile(path: string, name = path, place?: SecretPlace): Promise<FileSecrets> {
  let text: string;
  try {
    text = decodeUtf8(await readProtected(path));
  } catch (cause) {
    const message = `cannot read the secrets file ${name}: ${describeErrno(cause)}`;
    throw new WavetrainError('unreadable_file', message, { cause });
  }
  return parseSecretsFile(text, name, place);
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

/** Parses the text of a secrets file. @throws WavetrainError `bad_usage`, naming the line and what is wrong with it */
export function parseSecretsFile(text: string, file: string, place: SecretPlace = 'here'): FileSecrets {
  return new SecretsFileParser(readSource(text), file, place).parse();
}

const SHAPE = 'a map of tenants, each with its secrets: {default: {NAME: "value"}}';

const FILES: Readonly<Record<SecretPlace, string>> = {
  here: 'the file of SERVICE_SECRETS_FILE, and start again',
  server: 'the secrets file of the server (SERVICE_SECRETS_FILE), and start it again',
};

class SecretsFileParser {
  readonly #source: Source;
  readonly #file: string;
  readonly #place: SecretPlace;

  constructor(source: Source, file: string, place: SecretPlace) {
    this.#source = source;
    this.#file = file;
    this.#place = place;
  }

  parse(): FileSecrets {
    const problem = this.#source.problems.find(({ severity }) => severity === 'error');
    // The messages of the YAML reader quote what they are about.
    if (problem !== undefined) {
      const message = problem.code === 'empty' ? `it is empty: write ${SHAPE}` : 'it is not valid YAML';
      throw this.#errorAtLine(problem.line, message);
    }
    const { value } = this.#source;
    if (!isObject(value)) throw this.#error([], `it must be ${SHAPE}, not ${describeKind(value)}`);
    const tenants = new Map(
      Object.entries(value).map(([tenant, entries]) => [tenant, this.#parseTenant(tenant, entries)]),
    );
    return {
      names: new Map(Array.from(tenants, ([tenant, values]) => [tenant, [...values.keys()].sort()])),
      find: (tenantId, name) => tenants.get(tenantId)?.get(name),
      explain: (tenantId, name) => `add ${name} under "${tenantId}" in ${FILES[this.#place]}`,
    };
  }

  #parseTenant(tenant: string, entries: unknown): ReadonlyMap<string, string> {
    if (!isObject(entries)) {
      throw this.#error([tenant], `a tenant has a map of names and values, not ${describeKind(entries)}`);
    }
    return new Map(Object.entries(entries).map((entry) => this.#parseEntry(tenant, entry)));
  }

  #parseEntry(tenant: string, [name, value]: [string, unknown]): [string, string] {
    const path = [tenant, name];
    if (!SECRET_NAME.test(name)) {
      const message = 'a name must have capital letters, digits and _, and begin with a letter';
      throw this.#error(path, message, 'key');
    }
    if (typeof value !== 'string') {
      throw this.#error(path, `"${name}" must be a text, not ${describeKind(value)}: put it in quotes`);
    }
    const problem = findSecretProblem(value);
    if (problem !== undefined) throw this.#error(path, `the value of "${name}" ${problem}`);
    return [name, value];
  }

  #error(path: Path, message: string, at?: 'key'): WavetrainError {
    return this.#errorAtLine(this.#source.positionOf(path, at)?.line, message);
  }

  #errorAtLine(line: number | undefined, message: string): WavetrainError {
    const location = line === undefined ? '' : `, line ${line}`;
    return new WavetrainError('bad_usage', `the secrets file ${this.#file}${location}: ${message}`);
  }
}
