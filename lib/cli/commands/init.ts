import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { flagOption } from '../input/shared-options.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { describeErrno, makeFolders } from '../../common/files.js';
import { PROGRAM } from '../package-info.js';
import { detectTerminal } from '../render/terminal.js';
import { UsageError } from '../input/usage-errors.js';
import {
  SCHEMA_FILE,
  scaffold,
  type ScaffoldTemplate,
  TEMPLATES,
  TOOLS_FILE,
} from '../render/init-scaffold.js';
import { updateFile } from '../render/update-file.js';

export class InitCommand extends Command<CliContext> {
  static override paths = [['init']];
  static override usage = Command.Usage({
    description: 'creates a small pipeline to start from, with tests and editor support',
    details: `
      The template "tools" has tools of its own in TypeScript. The template "report" needs none: it reads a CSV file,
      checks it and writes an XLSX and a Markdown file.

      If one of the files exists, nothing is written. Use --force to overwrite existing files.
    `,
    examples: [
      ['in a new folder', '$0 init demo'],
      ['in this folder', '$0 init'],
      ['without TypeScript', '$0 init demo --template report'],
    ],
  });

  directory = Option.String({ name: 'DIR', required: false });
  template = Option.String('--template', 'tools', {
    description: `<NAME> what to start from: ${TEMPLATES.join(' or ')}; default tools`,
  });
  force = flagOption`--force overwrite existing files`;

  /** Writes the files of a small pipeline: all of them, or none if one would be overwritten. */
  override async execute(): Promise<ExitStatus> {
    const { context, directory = '.', force } = this;
    const template = readTemplate(this.template);
    const toolFiles = template === 'tools' ? [TOOLS_FILE] : [];
    const folder = resolve(context.cwd, directory);
    const files: NewFile[] = [
      ...scaffold(template).map(({ path, text }) => ({ path, createText: () => text })),
      // Last, because it describes the tools that have been written.
      { path: SCHEMA_FILE, createText: () => createSchema(toolFiles, folder, context) },
    ];
    const paths = files.map(({ path }) => path);
    if (!force) assertNoneExists(paths, folder);
    await writeFiles(files, folder);
    printNextCommands(paths, directory, toolFiles, context);
    return EXIT.done;
  }
}

interface NewFile {
  /** Relative to the new folder. */
  readonly path: string;
  readonly createText: () => string | Promise<string>;
}

/** @throws UsageError */
function readTemplate(name: string): ScaffoldTemplate {
  const template = TEMPLATES.find((known) => known === name);
  if (template !== undefined) return template;
  throw new UsageError(`there is no template "${name}"`, `the templates are ${TEMPLATES.join(' and ')}`);
}

async function createSchema(
  toolFiles: readonly string[],
  folder: string,
  { openCatalog }: CliContext,
): Promise<string> {
  const catalog = await openCatalog(toolFiles, folder);
  const { pipelineJsonSchema } = await import('../../definition/schema/json-schema.js');
  return `${JSON.stringify(pipelineJsonSchema(catalog.taskNames()), null, 2)}\n`;
}

function assertNoneExists(paths: readonly string[], folder: string): void {
  const existing = paths.filter((path) => existsSync(join(folder, path)));
  if (existing.length === 0) return;
  const list = existing.map((path) => `\n  ${path}`).join('');
  throw new UsageError(
    `nothing was written, because these files already exist in ${folder}:${list}`,
    `use another folder, as in ${PROGRAM} init demo, or overwrite them with --force`,
  );
}

/** Writes all files. If one cannot be written, removes those that did not exist before. */
async function writeFiles(files: readonly NewFile[], folder: string): Promise<void> {
  const created: string[] = [];
  for (const { path, createText } of files) {
    const file = join(folder, path);
    const isNew = !existsSync(file);
    try {
      const text = await createText();
      await makeFolders(dirname(file));
      await updateFile(file, () => text);
    } catch (error) {
      for (const other of created) await rm(other, { force: true });
      throw new UsageError(`cannot write ${file}: ${describeErrno(error)}`);
    }
    if (isNew) created.push(file);
  }
}

function printNextCommands(
  paths: readonly string[],
  directory: string,
  toolFiles: readonly string[],
  { stdout, env }: CliContext,
): void {
  const { style } = detectTerminal(stdout, env);
  const program = isStartedByNpx(env) ? `npx ${PROGRAM}` : PROGRAM;
  const commands = [
    ...(directory === '.' ? [] : [`cd ${directory}`]),
    ...['validate pipeline.yaml', 'graph pipeline.yaml', 'run pipeline.yaml', 'test'].map((command) =>
      [program, command, ...toolFiles.map((file) => `--tools ${file}`)].join(' '),
    ),
  ];
  const written = paths.map((path) => `  ${style.green(style.marks.done)} ${path}`);
  const next = ['', 'Next:', ...commands.map((command) => `  ${style.cyan(command)}`)];
  stdout.write(`${[...written, ...next].join('\n')}\n`);
}

/** The shell then finds no command of this name, unless it is also installed globally. */
function isStartedByNpx(env: CliContext['env']): boolean {
  return env['npm_command'] === 'exec';
}
