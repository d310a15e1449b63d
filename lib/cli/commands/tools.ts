import { Option } from 'clipanion';
import { readConfig } from '../../common/config/config.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { Catalog, FunctionMetadata, InputMetadata, ToolMetadata } from '../../tools/catalog.js';
import { CatalogCommand, flagOption } from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../input/flags.js';
import { loadCatalog } from '../input/load-definition.js';
import { PROGRAM } from '../package-info.js';
import { printJson } from '../render/stdout.js';
import { detectTerminal, type Style } from '../render/terminal.js';
import { formatTable, wrapText } from '../render/text.js';
import { UsageError } from '../input/usage-errors.js';

export class ToolsCommand extends CatalogCommand {
  static override paths = [['tools']];
  static override usage = CatalogCommand.Usage({
    description: 'lists the tools, or shows one with its inputs and an example task',
    examples: [
      ['all tools', '$0 tools'],
      ['one tool', '$0 tools store'],
      ['your own tools too', '$0 tools --tools tools.ts'],
      ['those of MCP servers too', '$0 tools --mcp mcp.json'],
    ],
  });

  tool = Option.String({ name: 'NAME', required: false });
  json = flagOption`--json print the metadata as one JSON document`;

  /** Lists the tools, or shows one (D43). */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    await readEnvFile(this.envFile, context);
    const catalog = await loadCatalog(this.tools, readConfig(context.env), context, {
      file: this.mcp,
      isOptional: true,
    });
    const tool = this.tool === undefined ? undefined : findTool(this.tool, catalog);
    if (this.json) {
      printJson(tool ?? { tools: catalog.names(), metadata: catalog.metadata() }, context);
      return EXIT.done;
    }
    const { style, interactive, ...terminal } = detectTerminal(context.stdout, context.env);
    // The last column of a terminal stays free: some break the line there.
    const columns = Math.min(interactive ? terminal.columns - 1 : terminal.columns, MAX_COLUMNS);
    const lines =
      tool === undefined ? formatList(catalog, columns, style) : await formatTool(tool, columns, style);
    context.stdout.write(`${lines.join('\n')}\n`);
    return EXIT.done;
  }
}

/** Longer lines are hard to read. */
const MAX_COLUMNS = 120;

function findTool(name: string, catalog: Catalog): ToolMetadata {
  const tool = catalog.metadata().find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const suggestion = nearest(name, catalog.names());
  throw new UsageError(
    `there is no tool "${name}"`,
    suggestion === undefined ? `the tools are ${catalog.names().join(', ')}` : `did you mean ${suggestion}?`,
  );
}

function formatList(catalog: Catalog, columns: number, style: Style): string[] {
  const rows = catalog.metadata().map((tool) => [tool.name, describe(tool)] as const);
  return [
    ...formatTable(rows, columns, style.cyan),
    '',
    ...wrapText(`${PROGRAM} tools NAME shows the inputs of a tool`, columns).map(style.dim),
  ];
}

function describe({ description, replaces_builtin }: ToolMetadata): string {
  return replaces_builtin === true ? `${description} (replaces the built-in tool)` : description;
}

async function formatTool(tool: ToolMetadata, columns: number, style: Style): Promise<string[]> {
  const { formatShape } = await import('../lazy/validation.js');
  const inputs = Object.values(tool.inputs);
  const rows = inputs.map((input) => inputRow(input, columns));
  const { name, type, description, schema } = tool.output;
  return [
    style.bold(tool.name),
    ...wrapText(describe(tool), columns - 2).map((line) => `  ${line}`),
    '',
    style.bold('Inputs'),
    ...(inputs.length === 0 ? ['  any'] : formatTable(rows, columns, style.cyan)),
    '',
    ...formatCallables('Functions', tool.functions, columns, style, formatShape),
    ...formatCallables('Sources', tool.sources, columns, style, formatShape),
    ...formatSchemas(tool, columns, style),
    style.bold('Output'),
    ...formatTable([[`${name} (${type})`, description]], columns, style.cyan),
    ...(schema === undefined ? [] : wrapText(formatShape(schema), columns - 4).map((line) => `    ${line}`)),
    '',
    style.bold('Example'),
    ...exampleTask(tool),
  ];
}

type FormatShape = typeof import('../lazy/validation.js').formatShape;

function formatCallables(
  title: string,
  callables: readonly FunctionMetadata[] | undefined,
  columns: number,
  style: Style,
  formatShape: FormatShape,
): string[] {
  if (callables === undefined || callables.length === 0) return [];
  const blocks = callables.map(({ name, description, inputs, output }) => [
    `  ${style.cyan(name)}`,
    ...wrapText(description, columns - 4).map((line) => `    ${line}`),
    ...formatReturned(output, columns, formatShape),
    ...formatTable(
      Object.values(inputs).map((input) => inputRow(input, columns - 2)),
      columns - 2,
      style.cyan,
    ).map((line) => `  ${line}`),
  ]);
  return [style.bold(title), ...blocks.flat(), ''];
}

function formatReturned(
  { schema }: FunctionMetadata['output'],
  columns: number,
  formatShape: FormatShape,
): string[] {
  if (schema === undefined) return [];
  return wrapText(`returns ${formatShape(schema)}`, columns - 4).map((line) => `    ${line}`);
}

function formatSchemas({ schemas = [] }: ToolMetadata, columns: number, style: Style): string[] {
  if (schemas.length === 0) return [];
  const rows = schemas.map(({ name, description }) => [name, description] as const);
  return [style.bold('Schemas'), ...formatTable(rows, columns, style.cyan), ''];
}

function inputRow(input: InputMetadata, columns: number): readonly [string, string] {
  const need = input.required ? 'required' : 'optional';
  const choices = input.enum?.map((value) => JSON.stringify(value)).join(', ');
  const description = [
    // Inputs of tools of MCP servers may have no description.
    ...(input.description === '' ? [] : [input.description.replace(/\.?$/, '.')]),
    ...(choices === undefined ? [] : [`One of ${choices}.`]),
    ...(input.default === null ? [] : [`Default ${JSON.stringify(input.default)}.`]),
  ];
  const kind = `(${input.type ?? 'any'}, ${need})`;
  const name = `${input.name} ${kind}`;
  return name.length + 2 <= columns
    ? [name, description.join(' ')]
    : [input.name, [kind, ...description].join(' ')];
}

/** A task to paste. It sets the required inputs, or else the first one, and lists the others as comments. */
function exampleTask(tool: ToolMetadata): string[] {
  const [called] = tool.functions ?? tool.sources ?? [];
  const inputs = [...Object.values(tool.inputs), ...Object.values(called?.inputs ?? {})];
  const first = inputs.some(({ required }) => required) ? undefined : inputs[0];
  const lines = inputs.map((input) => {
    const comment = input.required || input === first ? '' : '# ';
    const isCallee = input.registry === 'functions' || input.registry === 'sources';
    const value = isCallee && called !== undefined ? called.name : exampleValue(input);
    return `      ${comment}${input.name}: ${value}`;
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

function exampleValue({ type, default: fallback, enum: choices }: InputMetadata): string {
  if (fallback !== null) return JSON.stringify(fallback);
  if (choices?.[0] !== undefined) return JSON.stringify(choices[0]);
  return EXAMPLES[type ?? ''] ?? '"{{another_task.output}}"';
}
