import { existsSync } from 'node:fs';
import type Database from 'libsql';
import type { Clock } from '../../../common/clock.js';
import { WavetrainError } from '../../../common/errors.js';
import { lockFile } from '../sqlite/thread/connection.js';
import { isLocked, loadDriver } from '../sqlite/open-errors.js';
import { BackupPlace } from './backup-place.js';
import { copyStore, type StoreCopy } from './copy-store.js';
import { assertNotEmpty, assertStoreExists } from './store-file.js';

/** A backup, as `wavetrain store backup --json` prints it. */
export interface StoreBackup extends StoreCopy {
  /** Absolute path. */
  readonly file: string;
  readonly duration_ms: number;
}

interface BackupOptions {
  /** Replaces a file that is there, and what is beside it. */
  readonly isReplaced: boolean;
  readonly clock: Clock;
}

/**
 * Writes a copy of a store to another file (D74), with the files of its runs beside it, while a server works with the
 * store. The copy has its names when it was opened and found sound. Rejects with `file_changed` when it would replace
 * something that it may not, and with `bad_usage` in words.
 *
 * @param file absolute path of the store
 * @param target absolute path of the copy
 */
export async function backupStore(
  file: string,
  target: string,
  { isReplaced, clock }: BackupOptions,
): Promise<StoreBackup> {
  const startedAt = clock.monotonicNow();
  await assertStoreExists(file);
  await assertNotEmpty(file);
  const place = await BackupPlace.prepare(file, target, isReplaced);
  let lock: Database.Database | undefined;
  try {
    lock = lockTarget(target);
    const copy = await copyStore(file, place.folder);
    await place.publish();
    return { file: target, ...copy, duration_ms: Math.round(clock.monotonicNow() - startedAt) };
  } finally {
    lock?.close();
    await place.close();
  }
}

/** Keeps servers away from a store that is replaced. @throws WavetrainError `bad_usage` when one has it open */
function lockTarget(target: string): Database.Database | undefined {
  if (!existsSync(`${target}.lock`)) return undefined;
  try {
    return lockFile(target, loadDriver());
  } catch (error) {
    if (!isLocked(error)) throw error;
    throw new WavetrainError('bad_usage', `a server has ${target} open: stop it, or name another file`, {
      cause: error,
    });
  }
}
