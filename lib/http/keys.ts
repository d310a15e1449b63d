import { readFile } from 'node:fs/promises';
import { messageOf, WavetrainError } from '../errors.js';
import type { Scope } from './caller.js';
import { keysIn } from './key-list.js';

/** A key that callers may use, as the keys file lists it (D37). The key itself is known to its owner alone. */
export interface Key {
  /** Stands in the log. */
  readonly name: string;
  /** Of the key, in hexadecimal. */
  readonly sha256: string;
  /** Whose runs it sees and starts; `*` alone is every tenant. */
  readonly tenants: readonly string[];
  readonly scopes: readonly Scope[];
}

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
