import { dirname, resolve } from 'node:path';
import { readConfig } from '../common/config.js';
import type { JsonObject } from '../common/json.js';
import { BadUsage } from './bad-usage.js';
import type { CliContext } from './context.js';
import { readEnvFile } from './flags/env-file.js';
import { readJsonFile, readJsonObject } from './flags/json-object.js';
import type { DefinitionFlags, NamedText, Preparation } from './prepared.js';
import { openToolbox } from './toolbox.js';
import { readText, STANDARD_INPUT } from './source.js';

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
    const { preparePlan } = await import('./plan-preparation.js');
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
