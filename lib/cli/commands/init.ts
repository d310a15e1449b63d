import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { reasonOf } from '../input/read-file.js';
import { PROGRAM } from '../package-info.js';
import { styleFor } from '../render/terminal.js';
import { BadUsage } from '../usage-errors.js';
import type { ScaffoldFile } from './init-scaffold.js';

export class InitCommand extends Command<CliContext> {
  static override paths = [['init']];
  static override usage = Command.Usage({
    description: 'writes a small pipeline to start from, with a tool of its own and editor support',
    details: `
      Files that exist are never overwritten: init lists them and writes nothing, unless --force is given.
    `,
    examples: [
      ['into a new folder', '$0 init demo'],
      ['into this one', '$0 init'],
    ],
  });

  directory = Option.String({ name: 'DIR', required: false });
  force = Option.Boolean('--force', false, { description: 'overwrite files that exist' });

  override execute(): Promise<number> {
    return init({ directory: this.directory ?? '.', force: this.force }, this.context);
  }
}

interface InitFlags {
  readonly directory: string;
  readonly force: boolean;
}

/** Writes a pipeline to start from; all of it or, when something would be overwritten, nothing. */
export async function init({ directory, force }: InitFlags, context: CliContext): Promise<ExitStatus> {
  const folder = resolve(context.cwd, directory);
  const { scaffold } = await import('./init-scaffold.js');
  const files = scaffold();
  if (!force) refuseToOverwrite(files, folder);
  for (const file of files) await write(file, folder);
  tellNext(files, directory, context);
  return EXIT.done;
}

function refuseToOverwrite(files: readonly ScaffoldFile[], folder: string): void {
  const existing = files.filter(({ path }) => existsSync(join(folder, path)));
  if (existing.length === 0) return;
  const list = existing.map(({ path }) => `\n  ${path}`).join('');
  throw new BadUsage(
    `nothing was written: these files exist in ${folder}${list}`,
    `name another folder, as in ${PROGRAM} init demo, or overwrite them with --force`,
  );
}

async function write({ path, text }: ScaffoldFile, folder: string): Promise<void> {
  const file = join(folder, path);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    throw new BadUsage(`cannot write ${file}: ${reasonOf(error)}`);
  }
}

function tellNext(files: readonly ScaffoldFile[], directory: string, { stdout, env }: CliContext): void {
  const style = styleFor(stdout, env);
  const enter = directory === '.' ? [] : [`cd ${directory}`];
  const commands = [
    ...enter,
    `${PROGRAM} validate pipeline.yaml --tools tools.ts`,
    `${PROGRAM} graph pipeline.yaml --tools tools.ts`,
    `${PROGRAM} run pipeline.yaml --tools tools.ts`,
  ];
  const written = files.map(({ path }) => `  ${style.green(style.marks.done)} ${path}`);
  const next = ['', 'Next:', ...commands.map((command) => `  ${style.cyan(command)}`)];
  stdout.write(`${[...written, ...next].join('\n')}\n`);
}
