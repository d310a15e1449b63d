import { readConfig } from '../../common/config.js';
import { nearest } from '../../definition/suggest.js';
import type { Catalog } from '../../tools/catalog.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../flags/env-file.js';
import { printJson } from '../json-output.js';
import { type Style, styleOf } from '../style.js';
import { terminalOf } from '../terminal.js';
import { openToolbox } from '../toolbox.js';
import { PROGRAM } from '../program.js';
import { table } from '../wrap.js';
import { toolLines } from './tool-lines.js';

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
