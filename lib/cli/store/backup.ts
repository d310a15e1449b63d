import { existsSync, lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'clipanion';
import { errorCode, errorMessage } from '../../common/errors.js';
import { formatCount, formatDuration } from '../../common/text.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { flagOption } from '../input/shared-options.js';
import { UsageError } from '../input/usage-errors.js';
import { printJson } from '../render/stdout.js';
import { toSingleLine } from '../render/text.js';
import { formatSize, StoreCommand } from './store-command.js';

export class StoreBackupCommand extends StoreCommand {
  static override paths = [['store', 'backup']];
  static override usage = StoreCommand.Usage({
    description: 'copies the store of a server to another file, also while the server works with it',
    details: `
      The copy is the store as it was at one moment, and a store like any other: start a server with it to restore it.
      The files of its runs are copied to FILE.files, and how far schedules have come to FILE.schedules.json. FILE is
      there when the copy was opened and found sound. Only you can read it.

      Run it on the machine of the server, as the same user. A backup that is interrupted leaves a folder
      FILE.unfinished-…, which you can delete.
    `,
    examples: [
      ['copy the store that SERVICE_STORE names', '$0 store backup backup.db'],
      ['replace the backup of yesterday', '$0 store backup backup.db --force --store wavetrain.db'],
    ],
  });

  file = Option.String({ name: 'FILE' });
  force = flagOption`--force replace FILE, with its FILE.files, if it is there`;

  override async execute(): Promise<ExitStatus> {
    const { context, file, force } = this;
    const { clock, cwd, stdout } = context;
    const store = await this.findStore();
    const { backupStore } = await import('../../runs/store/maintenance/backup-store.js');
    const target = resolve(cwd, file);
    const backup = await backupStore(store.file, target, { isReplaced: force, clock }).catch(
      (error: unknown) => {
        if (errorCode(error) !== 'file_changed' || force || isNoFile(target)) throw error;
        throw new UsageError(errorMessage(error), 'or replace it with --force');
      },
    );
    const { bytes, runs, files, files_bytes: filesBytes, duration_ms: duration } = backup;
    const besides = files === 0 ? '' : `, ${formatCount(files, 'file')} of runs (${formatSize(filesBytes)})`;
    const size = `${formatSize(bytes)}, ${formatCount(runs, 'run')}${besides}`;
    if (this.json) printJson(backup, context);
    else stdout.write(`wrote ${toSingleLine(file)}: ${size}, in ${formatDuration(duration)}\n`);
    return EXIT.done;
  }
}

/** A folder, say, is not replaced with `--force` either. */
function isNoFile(path: string): boolean {
  return existsSync(path) && !lstatSync(path).isFile();
}
