import { Command } from 'clipanion';
import type { CliContext } from '../context.js';
import { packageFacts } from '../package-info.js';

/** `wavetrain`, `wavetrain --help`; after the name of a command, clipanion itself takes `--help`. */
export class HelpCommand extends Command<CliContext> {
  static override paths = [Command.Default, ['-h'], ['--help']];

  override async execute(): Promise<void> {
    this.context.stdout.write(this.cli.usage());
  }
}

export class VersionCommand extends Command<CliContext> {
  static override paths = [['--version'], ['-v']];

  override async execute(): Promise<void> {
    this.context.stdout.write(`${packageFacts().version}\n`);
  }
}
