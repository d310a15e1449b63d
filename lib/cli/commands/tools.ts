import { Command, Option } from 'clipanion';
import { readConfig } from '../../common/config.js';
import { nearest } from '../../definition/suggest.js';
import type { Catalog } from '../../tools/catalog.js';
import type { InputMetadata, ToolMetadata } from '../../tools/metadata.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../input/flags.js';
import { openToolbox } from '../input/load-definition.js';
import { PROGRAM } from '../package-info.js';
import { printJson } from '../render/stdout.js';
import { type Style, styleOf, terminalOf } from '../render/terminal.js';
import { table, wrap } from '../render/text.js';
import { BadUsage } from '../usage-errors.js';
import { ENV_FILE_OPTION, TOOLS_OPTION } from './shared-options.js';

export class ToolsCommand extends Command<CliContext> {
  static override paths = [['tools']];
  static override usage = Command.Usage({
    description: 'lists the tools, or shows one with its inputs and a snippet to paste',
    examples: [
      ['every tool', '$0 tools'],
      ['one tool', '$0 tools store'],
      ['tools of your own beside them', '$0 tools --tools tools.ts'],
    ],
  });

  tool = Option.String({ name: 'NAME', required: false });
  json = Option.Boolean('--json', false, { description: 'print the metadata as one JSON document' });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });

  override execute(): Promise<number> {
    return tools(this, this.context);
  }
}

interface ToolsFlags {
  readonly tool: string | undefined;
  readonly json: boolean;
  readonly tools?: string[] | undefined;
  readonly envFile?: string | undefined;
}

const WIDEST = 120;

/** Lists the tools, or shows one (D43). */
export async function tools(flags: ToolsFlags, context: CliContext): Promise<ExitStatus> {
  await readEnvFile(flags.envFile, context);
  const catalog = await openToolbox(flags.tools, readConfig(context.env), context);
  const terminal = terminalOf(context.stdout, context.env);
  const columns = Math.min(terminal.columns, WIDEST);
  if (flags.tool !== undefined)
    showTool(flags.tool, flags.json, catalog, columns, styleOf(terminal), context);
  else if (flags.json) printJson({ tools: catalog.names(), metadata: catalog.metadata() }, context);
  else context.stdout.write(`${listLines(catalog, columns, styleOf(terminal)).join('\n')}\n`);
  return EXIT.done;
}

function listLines(catalog: Catalog, columns: number, style: Style): string[] {
  const rows = catalog.metadata().map(({ name, description }) => [name, description] as const);
  return [
    ...table(rows, columns, style.cyan),
    '',
    style.dim(`${PROGRAM} tools NAME shows the inputs of one`),
  ];
}

function showTool(
  name: string,
  json: boolean,
  catalog: Catalog,
  columns: number,
  style: Style,
  context: CliContext,
): void {
  const tool = catalog.metadata().find((candidate) => candidate.name === name);
  if (tool === undefined) throw unknownTool(name, catalog);
  if (json) printJson(tool, context);
  else context.stdout.write(`${toolLines(tool, columns, style).join('\n')}\n`);
}

function unknownTool(name: string, catalog: Catalog): BadUsage {
  const meant = nearest(name, catalog.names());
  return new BadUsage(
    `there is no tool "${name}"`,
    meant === undefined ? `the tools are ${catalog.names().join(', ')}` : `did you mean ${meant}?`,
  );
}

/** A tool for people: what it does, its inputs, its output, and a task to paste. */
function toolLines(tool: ToolMetadata, columns: number, style: Style): string[] {
  const inputs = Object.values(tool.inputs);
  const { name, type, description } = tool.output;
  return [
    style.bold(tool.name),
    ...wrap(tool.description, columns - 2).map((line) => `  ${line}`),
    '',
    style.bold('Inputs'),
    ...(inputs.length === 0 ? ['  any'] : table(inputs.map(inputRow), columns, style.cyan)),
    '',
    style.bold('Output'),
    ...table([[`${name} (${type})`, description]], columns, style.cyan),
    '',
    style.bold('To paste'),
    ...snippet(tool),
  ];
}

function inputRow(input: InputMetadata): readonly [string, string] {
  const need = input.required ? 'required' : 'optional';
  const choices =
    input.enum === undefined ? '' : ` One of ${input.enum.map((one) => JSON.stringify(one)).join(', ')}.`;
  const fallback = input.default === null ? '' : ` Default ${JSON.stringify(input.default)}.`;
  const description = input.description.replace(/\.?$/, '.');
  return [`${input.name} (${input.type ?? 'any'}, ${need})`, `${description}${choices}${fallback}`];
}

/** A task with every required input, or else the first one, and the others as comments. */
function snippet(tool: ToolMetadata): string[] {
  const inputs = Object.values(tool.inputs);
  const first = inputs.some(({ required }) => required) ? undefined : inputs[0];
  const lines = inputs.map((input) => {
    const mark = input.required || input === first ? '' : '# ';
    return `      ${mark}${input.name}: ${exampleOf(input)}`;
  });
  return [
    `  - id: my_${tool.name.replaceAll(/\W/g, '_')}`,
    `    tool: ${tool.name}`,
    ...(lines.length === 0 ? [] : ['    inputs:', ...lines]),
  ];
}

const EXAMPLES: Readonly<Record<string, string>> = {
  string: '"text"',
  integer: '1',
  number: '0.5',
  boolean: 'true',
  array: '[]',
  object: '{}',
};

function exampleOf({ type, default: fallback, enum: choices }: InputMetadata): string {
  if (fallback !== null) return JSON.stringify(fallback);
  if (choices?.[0] !== undefined) return JSON.stringify(choices[0]);
  return EXAMPLES[type ?? ''] ?? '"{{another_task.output}}"';
}
