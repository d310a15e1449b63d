import { dirname, resolve } from 'node:path';
import { readConfig } from '../config.js';
import type { JsonObject } from '../json.js';
import type { Check } from '../pipelines/check.js';
import { BadUsage } from './bad-usage.js';
import type { CliContext } from './context.js';
import { readEnvFile } from './flags/env-file.js';
import { readJsonFile, readJsonObject } from './flags/json-object.js';
import { openToolbox } from './toolbox.js';
import { readText, STANDARD_INPUT } from './source.js';

/** The flags that say which pipeline is meant and what is known about its run. */
export interface PipelineFlags {
  readonly file: string;
  readonly tools?: string[] | undefined;
  readonly inputs?: string | undefined;
  readonly params?: string | undefined;
  readonly session?: string | undefined;
  readonly sessionFile?: string | undefined;
  readonly envFile?: string | undefined;
}

/** A pipeline file that was read and checked. */
export interface Preparation {
  /** The file as it was named, or `standard input`. */
  readonly name: string;
  readonly text: string;
  readonly check: Check;
  readonly inputs: JsonObject | undefined;
  readonly session: JsonObject | undefined;
  /** Where tools may read files: the pipeline's folder first, then the working directory (D51). */
  readonly fileRoots: readonly string[];
}

/**
 * Reads everything that the flags name and checks the pipeline with the one validator (D8).
 *
 * @throws BadUsage, WavetrainError `unreadable_file` or `bad_tool_file`
 */
export async function preparePipeline(flags: PipelineFlags, context: CliContext): Promise<Preparation> {
  readStandardInputOnce(flags);
  await readEnvFile(flags.envFile, context);
  const config = readConfig(context.env);
  const inputs = await readJsonObject('--inputs', flags.inputs, context);
  const session = await readSession(flags, context);
  const text = await readText(flags.file, 'pipeline file', context);
  const catalog = await openToolbox(flags.tools, config, context);
  const known = { ...(inputs && { inputs }), ...(session && { session }) };
  const check = await context.services.check(text, { catalog, ...known });
  return {
    name: nameOf(flags.file),
    text,
    check,
    inputs,
    session,
    fileRoots: rootsOf(flags.file, config.fileRoots, context),
  };
}

async function readSession(flags: PipelineFlags, context: CliContext): Promise<JsonObject | undefined> {
  const fromFile = await readJsonFile('--session-file', flags.sessionFile, context);
  const given = await readJsonObject('--session', flags.session, context);
  return fromFile === undefined ? given : { ...fromFile, ...given };
}

function readStandardInputOnce({ file, params, inputs, session, sessionFile }: PipelineFlags): void {
  const names = [file, sessionFile, ...[params, inputs, session].map((json) => json?.replace(/^@/, ''))];
  if (names.filter((name) => name === STANDARD_INPUT).length > 1) {
    throw new BadUsage('standard input can be read only once', 'put one of the two into a file');
  }
}

function nameOf(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file;
}

function rootsOf(file: string, configured: readonly string[], { cwd }: CliContext): string[] {
  const folder = file === STANDARD_INPUT ? cwd : dirname(resolve(cwd, file));
  return [...new Set([folder, cwd, ...configured.map((root) => resolve(cwd, root))])];
}
