import { readFile } from 'node:fs/promises';
import { messageOf, WavetrainError } from '../common/errors.js';
import type { Key } from './key.js';
import { keysIn } from './key-list.js';

export type { Key } from './key.js';

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
