import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { createForUser, type OpenFile } from '../sqlite/thread/connection.js';
import { assertStore, readVersion } from '../sqlite/thread/schema.js';
import { selectAll } from '../sqlite/thread/statements.js';
import { COPY } from './backup-place.js';
import { copyFolder, copyIfThere, type FolderSize } from './files-folder.js';
import { describeWriteError, inspectStore } from './store-file.js';
import { countKept } from './store-stats.js';

/** A copy of a store that was opened and found sound. */
export interface StoreCopy extends FolderSize {
  /** Of the database. */
  readonly bytes: number;
  /** Number of runs in it. */
  readonly runs: number;
}

/**
 * Copies a store (D74) as it is at one moment, also while a server works with it, with the files of its runs and how far
 * schedules have come. The connection never checkpoints. Files come last: each run of the copy has its own, unless it was
 * deleted meanwhile. Must not be called in the process of the server. Rejects with `bad_usage` in words.
 *
 * @param file absolute path of the store, of any version
 * @param folder empty, and only for its user; receives what {@link COPY} names
 */
export async function copyStore(file: string, folder: string): Promise<StoreCopy> {
  const copy = join(folder, COPY.file);
  const runs = await inspectStore(
    file,
    ({ database, open }) => {
      assertStore(database);
      try {
        createForUser(copy);
        database.prepare('VACUUM INTO ?').run(copy);
      } catch (error) {
        throw cannotCopy(file, describeWriteError(error), error);
      }
      return verifyCopy(file, copy, readVersion(database), open);
    },
    { isQueryOnly: false },
  );
  try {
    const size = await copyFolder(`${file}.files`, join(folder, COPY.filesFolder));
    await copyIfThere(`${file}.schedules.json`, join(folder, COPY.schedules));
    return { bytes: (await stat(copy)).size, runs, ...size };
  } catch (error) {
    throw cannotCopy(file, describeWriteError(error), error);
  }
}

function cannotCopy(file: string, reason: string, cause?: unknown): WavetrainError {
  return new WavetrainError('bad_usage', `the store ${file} cannot be copied: ${reason}`, { cause });
}

/** Returns the number of runs in the copy. @throws WavetrainError when it is not a sound store of the same version */
function verifyCopy(file: string, copy: string, version: number, open: OpenFile): number {
  const unsound = (problem: string, cause?: unknown): WavetrainError => {
    const check = 'wavetrain store check says what is wrong with the store';
    return cannotCopy(file, `the copy is not sound: ${problem}: ${check}`, cause);
  };
  const database = open(copy);
  try {
    const [found] = selectAll<object>(database, 'PRAGMA quick_check(1)').map((row) => Object.values(row)[0]);
    if (found !== 'ok') throw unsound(String(found));
    if (readVersion(database) !== version) throw unsound('the version of its tables differs');
    return countKept(database);
  } catch (error) {
    throw error instanceof WavetrainError ? error : unsound(errorMessage(error), error);
  } finally {
    database.close();
  }
}
