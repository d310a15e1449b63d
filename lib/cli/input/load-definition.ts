import { basename, dirname, join, resolve } from 'node:path';
import { type Config, readConfig } from '../../common/config.js';
import type { JsonObject } from '../../common/json.js';
import type { Source } from '../../definition/text/source.js';
import type { CheckResult } from '../../pipelines/pipeline.js';
import type { CheckOptions } from '../../pipelines/check-context.js';
import type { PlanCheckResult } from '../../plans/check.js';
import type { PipelineInput } from '../../plans/plan.js';
import type { Catalog } from '../../tools/catalog.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../usage-errors.js';
import { readEnvFile, readJsonFile, readJsonObject } from './flags.js';
import { readText, STANDARD_INPUT } from './read-file.js';

/** The flags that name a pipeline or plan and the values it is checked or run with. */
export interface DefinitionFlags {
  readonly file: string;
  readonly tools?: string[] | undefined;
  readonly inputs?: string | undefined;
  readonly params?: string | undefined;
  readonly session?: string | undefined;
  readonly sessionFile?: string | undefined;
  readonly envFile?: string | undefined;
}

/** A pipeline, or a plan with its pipelines, that was read and checked (D42). */
export type LoadedDefinition =
  | (LoadedFile & { readonly kind: 'pipeline'; readonly check: CheckResult })
  | (LoadedFile & { readonly kind: 'plan'; readonly check: PlanCheckResult });

interface LoadedFile extends NamedText {
  readonly inputs: JsonObject | undefined;
  readonly session: JsonObject | undefined;
  /** Where tools may read files: the definition's folder first, then the working directory (D51). */
  readonly fileRoots: readonly string[];
  /** The other files that problems can be in, by the file name in the problem. */
  readonly files: ReadonlyMap<string, NamedText>;
}

export interface NamedText {
  /** The file as the user named it, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads every file that the flags name and checks the pipeline or plan with the one validator (D8).
 *
 * @throws UsageError, WavetrainError `unreadable_file` or `bad_tool_file`
 */
export async function loadDefinition(flags: DefinitionFlags, context: CliContext): Promise<LoadedDefinition> {
  assertStandardInputReadOnce(flags);
  await readEnvFile(flags.envFile, context);
  const config = readConfig(context.env);
  const inputs = await readJsonObject('--inputs', flags.inputs, context);
  const session = await readSession(flags, context);
  const text = await readText(flags.file, 'file', context);
  const catalog = await loadCatalog(flags.tools, config, context);
  const options = { catalog, ...(inputs && { inputs }), ...(session && { session }) };
  const isStandardInput = flags.file === STANDARD_INPUT;
  const folder = isStandardInput ? context.cwd : dirname(resolve(context.cwd, flags.file));
  const configured = config.fileRoots.map((root) => resolve(context.cwd, root));
  const file: LoadedFile = {
    name: isStandardInput ? 'standard input' : flags.file,
    text,
    inputs,
    session,
    fileRoots: [...new Set([folder, context.cwd, ...configured])],
    files: new Map(),
  };
  const { checkSource, createCheckContext, detectKindOfText, readSource } = await import(
    '../lazy/validation.js'
  );
  const source = readSource(text);
  if (detectKindOfText(text, source) === 'plan') return loadPlan(file, flags.file, folder, source, options);
  return { kind: 'pipeline', ...file, check: checkSource(source, createCheckContext(options)) };
}

async function readSession(flags: DefinitionFlags, context: CliContext): Promise<JsonObject | undefined> {
  const fromFile = await readJsonFile('--session-file', flags.sessionFile, context);
  const fromFlag = await readJsonObject('--session', flags.session, context);
  return fromFile === undefined ? fromFlag : { ...fromFile, ...fromFlag };
}

function assertStandardInputReadOnce({ file, params, inputs, session, sessionFile }: DefinitionFlags): void {
  const names = [file, sessionFile, ...[params, inputs, session].map((json) => json?.replace(/^@/, ''))];
  if (names.filter((name) => name === STANDARD_INPUT).length > 1) {
    throw new UsageError('standard input can be read only once', 'put one of the two into a file');
  }
}

/**
 * Loads the tools of a command: the built-in ones, those of SERVICE_TOOLS and those of `--tools` (D48).
 *
 * @throws WavetrainError `bad_tool_file`
 */
export function loadCatalog(
  specifiers: readonly string[] | undefined,
  config: Config,
  { openCatalog, cwd }: CliContext,
): Promise<Catalog> {
  return openCatalog([...new Set([...config.tools, ...(specifiers ?? [])])], cwd);
}

/** Reads the pipelines of a plan and checks them all together (D42, D46). */
async function loadPlan(
  planFile: LoadedFile,
  name: string,
  folder: string,
  source: Source,
  options: CheckOptions,
): Promise<LoadedDefinition> {
  const { checkPlanSource, readPipelines } = await import('../lazy/plans.js');
  const path = name === STANDARD_INPUT ? undefined : join(folder, basename(name));
  const pipelines = await readPipelines(source, folder, path);
  const files = collectFiles(pipelines.values(), name);
  const folders = [...files.keys()].map((file) => dirname(resolve(folder, file)));
  return {
    kind: 'plan',
    ...planFile,
    check: checkPlanSource(source, { ...options, pipelines }),
    fileRoots: [...new Set([...planFile.fileRoots, ...folders])],
    files,
  };
}

/** Puts the folder of the plan, as the user named it, before each file name, so that a terminal can open the file. */
function collectFiles(pipelines: Iterable<PipelineInput>, planName: string): Map<string, NamedText> {
  const folder = planName === STANDARD_INPUT ? '' : dirname(planName);
  const files = new Map<string, NamedText>();
  for (const pipeline of pipelines) {
    if (!('text' in pipeline) || pipeline.file === undefined) continue;
    files.set(pipeline.file, { name: join(folder, pipeline.file), text: pipeline.text });
  }
  return files;
}
