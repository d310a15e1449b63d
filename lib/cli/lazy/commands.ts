/** Lazy boundary: takes the place of `commands/index.ts` in the built command, since loading all commands takes longer than a short run. */
import type { Commands } from '../commands/index.js';
import { RunCommand } from '../commands/run.js';
import { ValidateCommand } from '../commands/validate.js';
import { VersionCommand } from '../render/help.js';

async function loadCommands(): Promise<Commands> {
  const { COMMANDS } = await import('../commands/index.js');
  return COMMANDS;
}

/** As in `commands/index.ts`, at once for the commands that are at hand. */
function findCommands(words: readonly string[]): Commands | Promise<Commands> {
  const [first, second] = words;
  if (first === 'run') return [RunCommand];
  if (first === 'validate') return [ValidateCommand];
  if (first === '--version' && second === undefined) return [VersionCommand];
  return import('../commands/index.js').then((commands) => commands.commandsFor(words));
}

export { loadCommands as allCommands, findCommands as commandsFor };
