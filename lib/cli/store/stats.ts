import { formatCount, formatNumber } from '../../common/text.js';
import type { StoreStats } from '../../runs/store/maintenance/store-stats.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { UsageError } from '../input/usage-errors.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { formatTable, toSingleLine } from '../render/text.js';
import { formatSize, StoreCommand } from './store-command.js';

export class StoreStatsCommand extends StoreCommand {
  static override paths = [['store', 'stats']];
  static override usage = StoreCommand.Usage({
    description: 'shows how large the store of a server is, and how many runs it keeps',
    details: `
      Also while a server works with it. Of a file that an earlier version of Wavetrain has written, it shows what is to
      be seen without changing it.
    `,
    examples: [['the store that SERVICE_STORE names', '$0 store stats']],
  });

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const { name, file } = await this.findStore();
    const { readWholeStoreStats } = await import('../../runs/store/maintenance/store-stats.js');
    const stats = await readWholeStoreStats(file);
    if (stats === undefined) {
      throw new UsageError(`there is no store ${name}`, 'a server creates it when it is started');
    }
    if (this.json) printJson({ file, ...stats }, context);
    else printStats(name, stats, context);
    return EXIT.done;
  }
}

type WholeStats = StoreStats & { readonly files: number; readonly files_bytes: number };

function printStats(name: string, stats: WholeStats, { stdout, env }: CliContext): void {
  const { style, columns } = detectTerminal(stdout, env);
  const { by_status: counts, tenants, oldest, newest } = stats;
  const wal = stats.wal_bytes === 0 ? '' : `, and ${formatSize(stats.wal_bytes)} in -wal`;
  const rows: [string, string][] = [
    ['file', `${toSingleLine(name)}: ${formatSize(stats.bytes)}${wal}`],
    ['free', `${formatNumber(100 * stats.free_share, 1)} % of the file`],
    ['files of runs', `${formatCount(stats.files, 'file')}, ${formatSize(stats.files_bytes)}`],
    ['server', stats.is_open ? 'has it open' : 'none has it open'],
    ['tables', describeVersion(stats)],
    ['runs', formatNumber(stats.runs)],
  ];
  if (counts !== null) {
    const { at_work: atWork, succeeded, failed, cancelled } = counts;
    rows.push(['at work', formatNumber(atWork)], ...countRows({ succeeded, failed, cancelled }));
  }
  if (oldest !== null) rows.push(['oldest', `${oldest.created_at} ${oldest.run_id}`]);
  if (newest !== null) rows.push(['newest', `${newest.created_at} ${newest.run_id}`]);
  const lines = formatTable(rows, columns, style.cyan);
  if (tenants !== null && tenants.length > 0) {
    const counted = tenants.map(({ tenant_id: id, succeeded, failed, cancelled }): [string, string] => [
      toSingleLine(id),
      formatCount(succeeded + failed + cancelled, 'settled run'),
    ]);
    lines.push('', style.bold('Tenants'), ...formatTable(counted, columns, style.cyan));
  }
  stdout.write(`${lines.join('\n')}\n`);
}

function countRows(counts: Readonly<Record<string, number>>): [string, string][] {
  return Object.entries(counts).map(([status, runs]) => [status, formatNumber(runs)]);
}

function describeVersion({ version, known_version: known }: StoreStats): string {
  const older = version < known ? `; a server brings it to version ${known} when it is started with it` : '';
  return `version ${version}${older}`;
}
