import { dirname, join } from 'node:path';
import type { Clock } from '../../../common/clock.js';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import type { Launcher } from '../../../common/workers/launcher.js';
import { WorkerError } from '../../../common/workers/protocol.js';
import { WorkerProcess } from '../../../common/workers/worker-process.js';
import { assertFileName } from '../../../tools/files/file-name.js';
import { BackupPlace } from './backup-place.js';
import type { StoreBackup } from './backup-store.js';
import type { StoreCopy } from './copy-store.js';

/** A request to `backup-process`. */
export interface CopyRequest {
  readonly file: string;
  readonly folder: string;
}

/** The answer: the copy, or why there is none. */
export type CopyResponse = { readonly copy: StoreCopy } | { readonly problem: string };

interface ServerBackupsOptions {
  /** Absolute path of the store. */
  readonly file: string;
  /** The program of the process that copies, `backup-process`. */
  readonly program: string;
  readonly launcher: Launcher;
  readonly clock: Clock;
}

/** Besides the pages that the process caches. */
const MEMORY_MIB = 256;

/** Requests and runs of the server come first. */
const PRIORITY = 15;

/** A store is smaller than what a disk writes in this time. */
const TIMEOUT_MS = 6 * 3_600_000;

/**
 * Backs up the store of this server (D74), one backup at a time. A process of its own opens the file: the system releases
 * the locks that a process has on a file when any descriptor of that file is closed.
 */
export class ServerBackups {
  readonly #options: ServerBackupsOptions;
  #isAtWork = false;

  constructor(options: ServerBackupsOptions) {
    this.#options = options;
  }

  /**
   * Writes a backup beside the store. Rejects with `invalid_request` for a name that no file can have, with `file_changed`
   * when there is a file of that name, with `too_many_streams` while another backup is written, and with `internal` and the
   * reason when it cannot be written.
   *
   * @param name of the file, without folders
   * @param signal ends the process, and leaves nothing behind
   */
  async write(name: string, signal: AbortSignal): Promise<StoreBackup> {
    assertBackupName(name);
    if (this.#isAtWork) {
      throw new WavetrainError('too_many_streams', 'another backup is being written: wait until it is done');
    }
    this.#isAtWork = true;
    try {
      return await this.#write(name, signal);
    } catch (error) {
      if (['file_changed', 'invalid_request'].includes(errorCode(error) ?? '')) throw error;
      throw new WavetrainError('internal', `the backup was not written: ${errorMessage(error)}`, {
        fault: 'service',
        cause: error,
      });
    } finally {
      this.#isAtWork = false;
    }
  }

  async #write(name: string, signal: AbortSignal): Promise<StoreBackup> {
    const { file, clock } = this.#options;
    const startedAt = clock.monotonicNow();
    const target = join(dirname(file), name);
    const place = await BackupPlace.prepare(file, target, false);
    try {
      const copy = await this.#copy({ file, folder: place.folder }, signal);
      await place.publish();
      return { file: target, ...copy, duration_ms: Math.round(clock.monotonicNow() - startedAt) };
    } finally {
      await place.close();
    }
  }

  /** Resolves with what the process has copied, when that has ended. */
  async #copy(request: CopyRequest, signal: AbortSignal): Promise<StoreCopy> {
    signal.throwIfAborted();
    const { program, launcher, clock } = this.#options;
    const worker = new WorkerProcess<CopyRequest, CopyResponse>({
      file: program,
      memoryMiB: MEMORY_MIB,
      priority: PRIORITY,
      launcher,
      clock,
    });
    const abort = (): void => worker.kill(new WorkerError('aborted', 'it was aborted'));
    signal.addEventListener('abort', abort);
    try {
      await worker.ready(TIMEOUT_MS);
      const response = await worker.answer(request, TIMEOUT_MS);
      if ('problem' in response) throw new WavetrainError('internal', response.problem);
      return response.copy;
    } finally {
      signal.removeEventListener('abort', abort);
      worker.kill(new WorkerError('closed', 'the backup has ended'));
      await worker.ended;
    }
  }
}

/** @throws WavetrainError `invalid_request` unless it is a name without folders that a file can have on every system */
function assertBackupName(name: string): void {
  try {
    assertFileName(name);
  } catch (error) {
    throw new WavetrainError('invalid_request', errorMessage(error), { cause: error });
  }
}
