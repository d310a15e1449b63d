import { Command } from 'clipanion';
import type { CliContext } from '../context.js';
import { packageFacts } from '../program.js';

export class VersionCommand extends Command<CliContext> {
  static override paths = [['--version'], ['-v']];

  override async execute(): Promise<void> {
    this.context.stdout.write(`${packageFacts().version}\n`);
  }
}
