import { formatCount } from '../../common/text.js';
import type { StoreCheck } from '../../runs/store/maintenance/check-store.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { flagOption } from '../input/shared-options.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal } from '../render/terminal.js';
import { toSingleLine } from '../render/text.js';
import { StoreCommand } from './store-command.js';

export class StoreCheckCommand extends StoreCommand {
  static override paths = [['store', 'check']];
  static override usage = StoreCommand.Usage({
    description: 'checks the store of a server: the file, and that its rows agree with each other',
    details: `
      It reads the whole file, also while a server works with it, and changes nothing. The exit status is 0 if the store
      is sound and 1 if it is not.
    `,
    examples: [
      ['check the store that SERVICE_STORE names', '$0 store check'],
      ['check a backup', '$0 store check --store backup.db'],
    ],
  });

  quick = flagOption`--quick do not compare the indexes with the rows, which takes most of the time`;

  override async execute(): Promise<ExitStatus> {
    const { context, quick } = this;
    const { name, file } = await this.findStore();
    const { checkStore } = await import('../../runs/store/maintenance/check-store.js');
    const check = await checkStore(file, quick);
    if (this.json) printJson(check, context);
    else printCheck(name, check, context);
    return check.ok ? EXIT.done : EXIT.invalid;
  }
}

function printCheck(name: string, check: StoreCheck, { stdout, env }: CliContext): void {
  const { style } = detectTerminal(stdout, env);
  const { ok, problems, runs, version, known_version: known } = check;
  const shown = toSingleLine(name);
  const lines = problems.map((problem) => `${style.red(style.marks.failed)} ${toSingleLine(problem)}`);
  if (ok) {
    const facts = `${formatCount(runs, 'run')}, version ${version} of the tables`;
    lines.push(`${style.green(style.marks.done)} ${shown} is sound: ${facts}`);
    if (version < known)
      lines.push(style.dim(`  a server brings it to version ${known} when it is started with it`));
  } else {
    lines.push(`${shown} is damaged: stop the server, keep the file, and put a backup in its place`);
    lines.push(
      style.dim('  without a backup, the server goes on with the runs that it can still read, if any'),
    );
  }
  stdout.write(`${lines.join('\n')}\n`);
}
