import { dirname, resolve } from 'node:path';
import { type Config, readConfig } from '../../common/config.js';
import type { JsonObject } from '../../common/json.js';
import type { Catalog } from '../../tools/catalog.js';
import type { CliContext } from '../context.js';
import { BadUsage } from '../usage-errors.js';
import { readEnvFile, readJsonFile, readJsonObject } from './flags.js';
import type { DefinitionFlags, NamedText, Preparation } from './loaded-definition.js';
import { readText, STANDARD_INPUT } from './read-file.js';

const NO_FILES: ReadonlyMap<string, NamedText> = new Map();

/**
 * Reads everything that the flags name and checks the pipeline or plan with the one validator (D8).
 *
 * @throws BadUsage, WavetrainError `unreadable_file` or `bad_tool_file`
 */
export async function prepare(flags: DefinitionFlags, context: CliContext): Promise<Preparation> {
  readStandardInputOnce(flags);
  await readEnvFile(flags.envFile, context);
  const config = readConfig(context.env);
  const inputs = await readJsonObject('--inputs', flags.inputs, context);
  const session = await readSession(flags, context);
  const text = await readText(flags.file, 'file', context);
  const catalog = await openToolbox(flags.tools, config, context);
  const options = { catalog, ...(inputs && { inputs }), ...(session && { session }) };
  const given = { name: nameOf(flags.file), text, inputs, session };
  const folder = flags.file === STANDARD_INPUT ? context.cwd : dirname(resolve(context.cwd, flags.file));
  const configured = config.fileRoots.map((root) => resolve(context.cwd, root));
  const fileRoots = [...new Set([folder, context.cwd, ...configured])];
  const { source, kind } = await context.services.read(text);
  if (kind === 'plan') {
    const { preparePlan } = await import('./load-plan.js');
    return preparePlan({ ...given, fileRoots }, { file: flags.file, folder, source }, options, context);
  }
  const check = await context.services.check(source, options);
  return { kind: 'pipeline', ...given, check, fileRoots, files: NO_FILES };
}

async function readSession(flags: DefinitionFlags, context: CliContext): Promise<JsonObject | undefined> {
  const fromFile = await readJsonFile('--session-file', flags.sessionFile, context);
  const given = await readJsonObject('--session', flags.session, context);
  return fromFile === undefined ? given : { ...fromFile, ...given };
}

function readStandardInputOnce({ file, params, inputs, session, sessionFile }: DefinitionFlags): void {
  const names = [file, sessionFile, ...[params, inputs, session].map((json) => json?.replace(/^@/, ''))];
  if (names.filter((name) => name === STANDARD_INPUT).length > 1) {
    throw new BadUsage('standard input can be read only once', 'put one of the two into a file');
  }
}

function nameOf(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file;
}

/**
 * The catalog of a command: the built-in tools, those of SERVICE_TOOLS and those of `--tools` (D48).
 *
 * @throws WavetrainError `bad_tool_file`
 */
export function openToolbox(
  named: readonly string[] | undefined,
  config: Config,
  { services, cwd }: CliContext,
): Promise<Catalog> {
  const specifiers = new Set([...config.tools, ...(named ?? [])]);
  return services.catalog([...specifiers], cwd);
}
