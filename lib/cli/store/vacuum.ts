import { formatDuration } from '../../common/text.js';
import type { VacuumedStore } from '../../runs/store/maintenance/vacuum-store.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../render/stdout.js';
import { toSingleLine } from '../render/text.js';
import { formatSize, StoreCommand } from './store-command.js';

export class StoreVacuumCommand extends StoreCommand {
  static override paths = [['store', 'vacuum']];
  static override usage = StoreCommand.Usage({
    description: 'gives the free space of the store of a server back to the disk',
    details: `
      Only while no server has the file open. It needs as much room again as the file has. A server gives space back
      itself while more than a tenth of its file is free.
    `,
    examples: [
      ['the store that SERVICE_STORE names', '$0 store vacuum'],
      ['another one', '$0 store vacuum --store backup.db'],
    ],
  });

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const { clock, stdout } = context;
    const { name, file } = await this.findStore();
    const { vacuumStore } = await import('../../runs/store/maintenance/vacuum-store.js');
    const startedAt = clock.monotonicNow();
    const vacuumed = await vacuumStore(file);
    const duration = Math.round(clock.monotonicNow() - startedAt);
    if (this.json) printJson({ file, ...vacuumed, duration_ms: duration }, context);
    else stdout.write(`${toSingleLine(name)}: ${describe(vacuumed)}, in ${formatDuration(duration)}\n`);
    return EXIT.done;
  }
}

/** A file that has nothing free may even grow by a page. */
function describe({ bytes_before: before, bytes }: VacuumedStore): string {
  if (bytes >= before) return `nothing to give back of ${formatSize(bytes)}`;
  return `${formatSize(before)} before, ${formatSize(bytes)} now`;
}
