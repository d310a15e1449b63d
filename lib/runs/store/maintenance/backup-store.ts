import type { Clock } from '../../../common/clock.js';
import { WavetrainError } from '../../../common/errors.js';
import { isLockedBySomebody } from '../sqlite/connection.js';
import { BackupPlace } from './backup-place.js';
import { copyStore, type StoreCopy } from './copy-store.js';
import { assertStoreExists, loadDriver } from './store-file.js';

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
  if (isLockedBySomebody(target, loadDriver())) {
    throw new WavetrainError('bad_usage', `a server has ${target} open: name another file`);
  }
  const place = await BackupPlace.prepare(file, target, isReplaced);
  try {
    const copy = await copyStore(file, place.folder);
    await place.publish();
    return { file: target, ...copy, duration_ms: Math.round(clock.monotonicNow() - startedAt) };
  } finally {
    await place.close();
  }
}
