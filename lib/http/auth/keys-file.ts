import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import { isObject, kindOf } from '../../common/json/json.js';
import { NetworkList } from '../../common/requests/network-list.js';
import type { Path } from '../../definition/problems/problem.js';
import { nearest } from '../../definition/did-you-mean.js';
import { readSource, type Source } from '../../definition/text/source.js';
import { ALL_TENANTS, type ApiKey, KEY_SCOPES, type KeyScope, TENANT_ID_PATTERN } from './authenticate.js';

const DEFAULT_SCOPES: readonly KeyScope[] = ['read', 'run'];

/**
 * Reads a keys file: a YAML list of keys (D37). Rejects with `unreadable_file`, or with `bad_usage` naming the line
 * and what is wrong with it.
 */
export async function readKeysFile(file: string): Promise<readonly ApiKey[]> {
  let text: string;
  try {
    text = decodeUtf8(await readFile(file));
  } catch (cause) {
    const message = `cannot read the keys file ${file}: ${describeErrno(cause)}`;
    throw new WavetrainError('unreadable_file', message, { cause });
  }
  return parseKeysFile(text, file);
}

/**
 * Parses the text of a keys file (D37).
 *
 * @param file names the file in messages
 * @throws WavetrainError `bad_usage`, naming the line and what is wrong with it
 */
export function parseKeysFile(text: string, file: string): readonly ApiKey[] {
  return new KeysFileParser(readSource(text), file).parse();
}

class KeysFileParser {
  readonly #source: Source;
  readonly #file: string;

  constructor(source: Source, file: string) {
    this.#source = source;
    this.#file = file;
  }

  parse(): readonly ApiKey[] {
    this.#checkSyntax();
    const { value } = this.#source;
    if (!Array.isArray(value)) {
      throw this.#error([], 'it must be a list of keys, each with name, sha256, tenants and scopes');
    }
    if (value.length === 0) throw this.#error([], NO_KEYS);
    const keys = value.map((entry: unknown, index) => this.#parseEntry(entry, index));
    this.#checkUnique(keys, 'name');
    this.#checkUnique(keys, 'sha256');
    return keys;
  }

  #checkSyntax(): void {
    const problem = this.#source.problems.find(({ severity }) => severity === 'error');
    if (problem === undefined) return;
    const { code, message, line } = problem;
    // The messages of the YAML reader speak of a definition.
    throw this.#errorAtLine(line, code === 'empty' ? NO_KEYS : message.replace('the definition', 'the file'));
  }

  #parseEntry(entry: unknown, index: number): ApiKey {
    if (!isObject(entry)) throw this.#error([index], `key ${index + 1} must be a map with name and sha256`);
    this.#checkFieldNames(entry, index);
    for (const field of KEY_FIELDS) {
      const value = entry[field];
      const message = value === undefined ? MISSING_FIELD[field] : KEY_FIELD_CHECKS[field](value);
      if (message !== undefined) throw this.#error([index, field], message);
    }
    const { scopes = DEFAULT_SCOPES, ...key } = entry as unknown as CheckedEntry;
    return { ...key, sha256: key.sha256.toLowerCase(), scopes };
  }

  #checkFieldNames(entry: Record<string, unknown>, index: number): void {
    const unknown = Object.keys(entry).find((name) => !KEY_FIELDS.some((field) => field === name));
    if (unknown === undefined) return;
    const suggestion = nearest(unknown, KEY_FIELDS);
    const hint =
      unknown === 'key'
        ? 'the file must not contain the key itself, only its sha256'
        : suggestion === undefined
          ? `a key has ${KEY_FIELDS.join(', ')}`
          : `did you mean ${suggestion}?`;
    throw this.#error([index, unknown], `there is no field "${unknown}": ${hint}`, 'key');
  }

  #checkUnique(keys: readonly ApiKey[], field: 'name' | 'sha256'): void {
    const indexes = new Map<string, number>();
    for (const [index, { [field]: value }] of keys.entries()) {
      const first = indexes.get(value);
      if (first !== undefined) {
        throw this.#error([index, field], `keys ${first + 1} and ${index + 1} have the same ${field}`);
      }
      indexes.set(value, index);
    }
  }

  #error(path: Path, message: string, at?: 'key'): WavetrainError {
    return this.#errorAtLine(this.#source.positionOf(path, at)?.line, message);
  }

  #errorAtLine(line: number | undefined, message: string): WavetrainError {
    const location = line === undefined ? '' : `, line ${line}`;
    return new WavetrainError('bad_usage', `the keys file ${this.#file}${location}: ${message}`);
  }
}

/** An entry of the file whose fields have passed their checks. */
type CheckedEntry = Omit<ApiKey, 'scopes'> & Partial<Pick<ApiKey, 'scopes'>>;

const NO_KEYS = 'it contains no keys: `wavetrain keys new` creates one';

const MISSING_FIELD = {
  name: 'name is missing: the log needs it',
  sha256: 'sha256 is missing: `wavetrain keys new` creates a key and its sha256',
  tenants: 'tenants is missing: list the tenants whose runs the key may see, or "*" for all of them',
  scopes: undefined,
  allow_networks: undefined,
};

const KEY_FIELDS = ['name', 'sha256', 'tenants', 'scopes', 'allow_networks'] as const;

/** Returns what is wrong with a field of a key, or undefined. Never repeats a value that may be a secret. */
type FieldCheck = (value: unknown) => string | undefined;

const MAX_NAME_LENGTH = 128;
const SHA256 = /^[0-9a-f]{64}$/i;
const TENANT_ID = new RegExp(TENANT_ID_PATTERN);
// Control characters, and those that reverse the direction of a log line.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** The check of every field of a key. */
export const KEY_FIELD_CHECKS = {
  name: (value) => {
    if (typeof value !== 'string') return `name must be text, not ${describe(value)}`;
    if (value.trim() === '') return 'name must not be empty';
    if (value.length > MAX_NAME_LENGTH) return `name is longer than ${MAX_NAME_LENGTH} characters`;
    return UNPRINTABLE.test(value) ? 'name contains a character that cannot be printed' : undefined;
  },
  sha256: (value) =>
    typeof value === 'string' && SHA256.test(value)
      ? undefined
      : 'sha256 must be the SHA-256 of the key in 64 hexadecimal digits, in quotes',
  tenants: (value) => {
    if (!isNonEmptyList(value)) return describeNonList('tenants', value);
    if (value.includes(ALL_TENANTS) && value.length > 1) {
      return '"*" means all tenants and must be the only entry';
    }
    const wrong = value.find(
      (tenant) => tenant !== ALL_TENANTS && !(typeof tenant === 'string' && TENANT_ID.test(tenant)),
    );
    return wrong === undefined
      ? undefined
      : `${describe(wrong)} is not a tenant: it must match ${TENANT_ID_PATTERN}`;
  },
  scopes: (value) => {
    if (!isNonEmptyList(value)) return describeNonList('scopes', value);
    const wrong = value.find((name) => !KEY_SCOPES.some((scope) => scope === name));
    if (wrong === undefined) return undefined;
    const suggestion = typeof wrong === 'string' ? nearest(wrong, KEY_SCOPES) : undefined;
    const hint =
      suggestion === undefined ? `the scopes are ${KEY_SCOPES.join(', ')}` : `did you mean ${suggestion}?`;
    return `there is no scope ${describe(wrong)}: ${hint}`;
  },
  allow_networks: (value) => {
    if (!Array.isArray(value)) return describeNonList('allow_networks', value);
    const wrong = value.find((entry) => typeof entry !== 'string');
    if (wrong !== undefined) return `allow_networks must list texts, not ${describe(wrong)}`;
    try {
      NetworkList.parse(value);
      return undefined;
    } catch (error) {
      return `allow_networks ${errorMessage(error)}`;
    }
  },
} satisfies Record<string, FieldCheck>;

function isNonEmptyList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function describeNonList(name: string, value: unknown): string {
  return Array.isArray(value)
    ? `${name} must not be empty`
    : `${name} must be a list, not ${describe(value)}`;
}

function describe(value: unknown): string {
  if (isObject(value) || Array.isArray(value) || value === null) return kindOf(value);
  return JSON.stringify(value) ?? 'nothing';
}

/** Random bytes in a new key. */
export const KEY_BYTES = 32;

/** Lets people and secret scanners recognize a key. */
const KEY_PREFIX = 'wt_';

/** Creates a key from random bytes, and its SHA-256 for the keys file (D37). */
export function createApiKey(bytes: Uint8Array): { readonly key: string; readonly sha256: string } {
  const key = KEY_PREFIX + Buffer.from(bytes).toString('base64url');
  return { key, sha256: createHash('sha256').update(key).digest('hex') };
}

/** Formats the entry of one key. Writes values as JSON, which YAML reads without any quoting rules. */
export function formatKeyEntry({ name, sha256, tenants, scopes }: ApiKey): string {
  return [
    `- name: ${JSON.stringify(name)}`,
    `  sha256: ${JSON.stringify(sha256)}`,
    `  tenants: ${formatList(tenants)}`,
    `  scopes: ${formatList(scopes)}`,
    '',
  ].join('\n');
}

function formatList(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;
}
