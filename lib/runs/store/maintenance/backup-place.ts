import { lstat, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, WavetrainError } from '../../../common/errors.js';
import { describeErrno, isPathInside } from '../../../common/files.js';

/** The copy of a store in the folder of a backup that is not complete. */
export const COPY = { file: 'store.db', filesFolder: 'files', schedules: 'schedules.json' } as const;

/** Ends of the names of a store, and of the files and folders beside it that belong to it. */
const BESIDE_STORE = ['', '-wal', '-shm', '-journal', '.lock', '.lock-journal', '.files', '.schedules.json'];

/** Ends of the names that a server would take for a part of the backup. */
const BESIDE_BACKUP = ['-wal', '-shm', '-journal', '.files', '.schedules.json'];

/** The place of a backup: a folder beside it has it until it is complete. Opens no file of the store. */
export class BackupPlace {
  /** Receives the copy; only its user may read it. */
  readonly folder: string;
  readonly #target: string;
  readonly #isReplaced: boolean;

  private constructor(folder: string, target: string, isReplaced: boolean) {
    this.folder = folder;
    this.#target = target;
    this.#isReplaced = isReplaced;
  }

  /**
   * Rejects with `file_changed` when something is there that is not to be replaced, with `invalid_request` when that belongs to
   * the store, and with `bad_usage` when nothing can be written there.
   *
   * @param file absolute path of the store
   * @param target absolute path of the backup
   */
  static async prepare(file: string, target: string, isReplaced: boolean): Promise<BackupPlace> {
    try {
      await assertApart(file, target);
      await assertFree(target, isReplaced);
      return new BackupPlace(await mkdtemp(`${target}.unfinished-`), target, isReplaced);
    } catch (error) {
      throw error instanceof WavetrainError ? error : cannotWrite(target, error);
    }
  }

  /** Gives the copy its names, that of the database last: a backup that has it is complete. */
  async publish(): Promise<void> {
    const target = this.#target;
    try {
      await assertFree(target, this.#isReplaced);
      if (this.#isReplaced) {
        // With the -wal of the file before, SQLite would spoil the new one.
        for (const end of BESIDE_BACKUP) await rm(`${target}${end}`, { recursive: true, force: true });
      }
      await renameIfThere(join(this.folder, COPY.filesFolder), `${target}.files`);
      await renameIfThere(join(this.folder, COPY.schedules), `${target}.schedules.json`);
      await rename(join(this.folder, COPY.file), target);
    } catch (error) {
      throw error instanceof WavetrainError ? error : cannotWrite(target, error);
    }
  }

  /** Removes what is not published. Never rejects. */
  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function cannotWrite(target: string, error: unknown): WavetrainError {
  const isMissing = errorCode(error) === 'ENOENT';
  const reason = isMissing ? 'its folder must exist' : describeErrno(error);
  return new WavetrainError('bad_usage', `the backup ${target} cannot be written: ${reason}`, {
    cause: error,
  });
}

/** A backup must not take the place of anything that belongs to the store. */
async function assertApart(file: string, target: string): Promise<void> {
  const place = join(await realpath(dirname(target)), basename(target));
  const stores = [file, await realpath(file).catch(() => file)];
  for (const store of stores) {
    const own = new Set(BESIDE_STORE.map((end) => `${store}${end}`.toLowerCase()));
    const isTaken = BESIDE_STORE.some((end) => own.has(`${place}${end}`.toLowerCase()));
    if (!isTaken && !isPathInside(place, `${store}.files`)) continue;
    throw new WavetrainError(
      'invalid_request',
      `the backup cannot be ${target}, which belongs to the store: name another file`,
    );
  }
}

async function assertFree(target: string, isReplaced: boolean): Promise<void> {
  for (const end of ['', ...BESIDE_BACKUP]) {
    const path = `${target}${end}`;
    const found = await lstat(path).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (found === undefined) continue;
    if (end === '' && !found.isFile()) {
      throw new WavetrainError('file_changed', `${path} is there already, and is no file: name another one`);
    }
    if (!isReplaced) throw new WavetrainError('file_changed', `${path} is there already: name another file`);
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
