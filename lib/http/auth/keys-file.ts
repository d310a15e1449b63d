import { readFile } from 'node:fs/promises';
import { messageOf, WavetrainError } from '../../common/errors.js';
import { isObject, kindOf } from '../../common/json.js';
import type { Path } from '../../definition/problem.js';
import { nearest } from '../../definition/suggest.js';
import { readSource, type Source } from '../../definition/text/source.js';
import { type Key, type Scope, SCOPES, TENANT_ID } from './caller.js';

export type { Key } from './caller.js';

/**
 * Reads a keys file: a YAML list of keys (D37). Rejects with `unreadable_file`, or with `bad_usage` saying in which
 * line what is wrong.
 */
export async function readKeys(file: string): Promise<readonly Key[]> {
  return keysIn(await readText(file), file);
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new WavetrainError('unreadable_file', `cannot read the keys file ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const USUAL_SCOPES: readonly Scope[] = ['read', 'run'];

/**
 * The keys that the text of a keys file lists (D37).
 *
 * @param file names the file in messages
 * @throws WavetrainError `bad_usage`, saying in which line what is wrong
 */
export function keysIn(text: string, file: string): readonly Key[] {
  return new KeyList(readSource(text), file).read();
}

/** A key as it stands in the file, once nothing is wrong with it. */
type WrittenKey = Omit<Key, 'scopes'> & Partial<Pick<Key, 'scopes'>>;

class KeyList {
  readonly #source: Source;
  readonly #file: string;

  constructor(source: Source, file: string) {
    this.#source = source;
    this.#file = file;
  }

  read(): readonly Key[] {
    this.#checkText();
    const { value } = this.#source;
    if (!Array.isArray(value)) {
      throw this.#fault([], 'it must be a list of keys, each with name, sha256, tenants and scopes');
    }
    if (value.length === 0) throw this.#fault([], NO_KEY);
    const keys = value.map((entry: unknown, index) => this.#keyOf(entry, index));
    this.#checkUnique(keys, 'name');
    this.#checkUnique(keys, 'sha256');
    return keys;
  }

  #checkText(): void {
    const problem = this.#source.problems.find(({ severity }) => severity === 'error');
    if (problem === undefined) return;
    const { code, message, line } = problem;
    // The reader speaks of definitions.
    const told = code === 'empty' ? NO_KEY : message.replace('the definition', 'the file');
    throw this.#faultAt(line, told);
  }

  #keyOf(entry: unknown, index: number): Key {
    if (!isObject(entry)) throw this.#fault([index], `key ${index + 1} must be a map with name and sha256`);
    this.#checkNames(entry, index);
    for (const field of KEY_FIELDS) {
      const value = entry[field];
      if (value === undefined && field === 'scopes') continue;
      const fault = value === undefined ? MISSING[field] : KEY_FAULTS[field](value);
      if (fault !== undefined) throw this.#fault([index, field], fault);
    }
    const { name, sha256, tenants, scopes = USUAL_SCOPES } = entry as unknown as WrittenKey;
    return { name, sha256: sha256.toLowerCase(), tenants, scopes };
  }

  #checkNames(entry: Record<string, unknown>, index: number): void {
    const unknown = Object.keys(entry).find((field) => !KEY_FIELDS.some((known) => known === field));
    if (unknown === undefined) return;
    const meant = nearest(unknown, KEY_FIELDS);
    const hint =
      unknown === 'key'
        ? 'the key itself has no place here, only its sha256'
        : meant === undefined
          ? `a key has ${KEY_FIELDS.join(', ')}`
          : `did you mean ${meant}?`;
    throw this.#fault([index, unknown], `there is no field "${unknown}": ${hint}`, 'key');
  }

  #checkUnique(keys: readonly Key[], field: 'name' | 'sha256'): void {
    const seen = new Map<string, number>();
    for (const [index, { [field]: value }] of keys.entries()) {
      const first = seen.get(value);
      if (first !== undefined) {
        throw this.#fault([index, field], `keys ${first + 1} and ${index + 1} have the same ${field}`);
      }
      seen.set(value, index);
    }
  }

  #fault(path: Path, what: string, at?: 'key'): WavetrainError {
    return this.#faultAt(this.#source.positionOf(path, at)?.line, what);
  }

  #faultAt(line: number | undefined, what: string): WavetrainError {
    const place = line === undefined ? '' : `, line ${line}`;
    return new WavetrainError('bad_usage', `the keys file ${this.#file}${place}: ${what}`);
  }
}

const NO_KEY = 'it lists no key: `wavetrain keys new` makes one';

const MISSING = {
  name: 'name is missing: it stands in the log',
  sha256: 'sha256 is missing: `wavetrain keys new` makes a key with its sha256',
  tenants: 'tenants is missing: list those whose runs the key may see, or "*" for every one',
  scopes: undefined,
};

/** Stands in `tenants`, alone, for every tenant. */
export const EVERY_TENANT = '*';

/** Says what is wrong with a field of a key; undefined when nothing is. It never repeats what may be a secret. */
type Fault = (value: unknown) => string | undefined;

const LONGEST_NAME = 128;
const HASH = /^[0-9a-f]{64}$/i;
const TENANT = new RegExp(TENANT_ID);
// Control characters, and those that turn a line of the log around.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const nameFault: Fault = (value) => {
  if (typeof value !== 'string') return `name must be text, not ${described(value)}`;
  if (value.trim() === '') return 'name must not be empty';
  if (value.length > LONGEST_NAME) return `name is longer than ${LONGEST_NAME} characters`;
  return UNPRINTABLE.test(value) ? 'name holds a character that cannot be printed' : undefined;
};

const hashFault: Fault = (value) =>
  typeof value === 'string' && HASH.test(value)
    ? undefined
    : 'sha256 must be the SHA-256 of the key in 64 hexadecimal digits, in quotes';

const tenantsFault: Fault = (value) => {
  const fault = listFault('tenants', value);
  if (fault !== undefined || !Array.isArray(value)) return fault;
  if (value.includes(EVERY_TENANT) && value.length > 1) return '"*" is every tenant, and stands alone';
  const wrong: unknown = value.find(
    (tenant) => tenant !== EVERY_TENANT && !(typeof tenant === 'string' && TENANT.test(tenant)),
  );
  return wrong === undefined ? undefined : `${described(wrong)} is no tenant: it must match ${TENANT_ID}`;
};

const scopesFault: Fault = (value) => {
  const fault = listFault('scopes', value);
  if (fault !== undefined || !Array.isArray(value)) return fault;
  const wrong: unknown = value.find((scope) => !SCOPES.some((known) => known === scope));
  if (wrong === undefined) return undefined;
  const meant = typeof wrong === 'string' ? nearest(wrong, SCOPES) : undefined;
  const hint = meant === undefined ? `the scopes are ${SCOPES.join(', ')}` : `did you mean ${meant}?`;
  return `there is no scope ${described(wrong)}: ${hint}`;
};

/** Every field that a key has. */
export const KEY_FAULTS = {
  name: nameFault,
  sha256: hashFault,
  tenants: tenantsFault,
  scopes: scopesFault,
} satisfies Record<string, Fault>;

const KEY_FIELDS = ['name', 'sha256', 'tenants', 'scopes'] as const;

function listFault(name: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `${name} must be a list, not ${described(value)}`;
  return value.length === 0 ? `${name} must not be empty` : undefined;
}

function described(value: unknown): string {
  if (isObject(value) || Array.isArray(value) || value === null) return kindOf(value);
  return JSON.stringify(value) ?? 'nothing';
}
