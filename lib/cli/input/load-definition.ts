import { basename, dirname, join, resolve } from 'node:path';
import { type Config, readConfig, readProviderConfig } from '../../common/config/config.js';
import { readPools } from '../../common/config/pool-config.js';
import type { JsonObject } from '../../common/json/json.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { Source } from '../../definition/text/source.js';
import type { CheckedDefinition } from '../../execution/prepare/run-inputs.js';
import type { CheckResult } from '../../pipelines/pipeline.js';
import type { PlanCheckResult } from '../../plans/check.js';
import type { PipelineInput } from '../../plans/plan.js';
import type { Catalog } from '../../tools/catalog.js';
import type { CliContext } from '../context.js';
import { UsageError } from './usage-errors.js';
import { readEnvFile, readJsonFile, readJsonObject } from './flags.js';
import { lookUpSecrets } from './secrets.js';
import { type McpChoice, mayNameMcpTools, openMcpTools, readMcpConfig } from './mcp.js';
import type { RunValuesCommand, ShellRunCommand } from './shared-options.js';
import { toSingleLine } from '../render/text.js';
import { readText, STANDARD_INPUT } from './read-file.js';

type ValueFlags = Partial<Pick<RunValuesCommand, 'inputs' | 'params' | 'session' | 'sessionFile'>> & {
  readonly file?: string | undefined;
};

/** The flags that name a pipeline or plan and the values it is checked or run with. */
export interface DefinitionFlags
  extends Omit<ValueFlags, 'file'>,
    Partial<Pick<ShellRunCommand, 'tools' | 'mcp' | 'verbose' | 'envFile'>> {
  readonly file: string;
}

/** A pipeline, or a plan with its pipelines, that was read and checked (D42). */
export type LoadedDefinition =
  | (LoadedFile & { readonly kind: 'pipeline'; readonly check: CheckResult })
  | (LoadedFile & { readonly kind: 'plan'; readonly check: PlanCheckResult });

export function findChecked({ kind, check }: LoadedDefinition): CheckedDefinition | undefined {
  if (!check.ok) return undefined;
  if (kind === 'pipeline') return { kind, pipeline: check.pipeline };
  return check.plan && { kind, plan: check.plan };
}

/** Creates the response body of the validation endpoint (D33, D41). */
export async function createReportOf({ kind, check }: LoadedDefinition): Promise<object> {
  if (kind === 'pipeline') {
    const { createReport } = await import('../lazy/validation.js');
    return createReport(check);
  }
  const { createPlanReport } = await import('../lazy/plans.js');
  return createPlanReport(check);
}

type LoadedFile = DefinitionFile & Pick<DefinitionSetup, 'fileRoots'>;

export interface NamedText {
  /** The file as the user named it, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/** The text that the flags name, with its values: read, but not checked. */
export interface DefinitionFile extends NamedText {
  readonly kind: DefinitionKind;
  readonly source: Source;
  readonly inputs: JsonObject | undefined;
  readonly session: JsonObject | undefined;
  readonly folder: string;
  /** The pipelines of a plan that are not inline in it, by sub-pipeline id. */
  readonly pipelines: ReadonlyMap<string, PipelineInput>;
  /** The other files that problems can be in, by the file name in the problem. */
  readonly files: ReadonlyMap<string, NamedText>;
}

/**
 * Reads every file that the flags name and checks the pipeline or plan with the one validator (D8).
 *
 * @param complete whether all pipelines of a plan must be there, as for a run (D55)
 * @throws UsageError, WavetrainError `unreadable_file` or `bad_tool_file`
 */
export async function loadDefinition(
  flags: DefinitionFlags,
  context: CliContext,
  complete = true,
): Promise<LoadedDefinition> {
  const file = await readDefinition(flags, context);
  const setup = await loadSetup(file, flags, context);
  // A run fails if a secret is missing; before it, a warning says so.
  const secrets = complete ? undefined : await lookUpSecrets(context);
  return checkDefinitionFile(file, { ...setup, secrets, complete });
}

/** The tools and folders that a definition is checked and run with. */
interface DefinitionSetup {
  readonly catalog: Catalog;
  /** Where tools may read files: the definition's folder first, then the working directory (D51). */
  readonly fileRoots: readonly string[];
}

export interface CheckSetup extends DefinitionSetup {
  readonly secrets?: { has(name: string): boolean } | undefined;
  readonly complete: boolean;
}

/** Loads the tools of a definition, and of `earlier` ones, and finds the folders that they may read. */
export async function loadSetup(
  { text, files, folder }: Pick<DefinitionFile, 'text' | 'files' | 'folder'>,
  flags: Pick<DefinitionFlags, 'tools' | 'mcp' | 'verbose'>,
  context: CliContext,
  earlier: readonly string[] = [],
): Promise<DefinitionSetup> {
  const config = readConfig(context.env);
  const catalog = await loadCatalog(flags.tools, config, context, {
    file: flags.mcp,
    texts: [text, ...[...files.values()].map((file) => file.text), ...earlier],
    // About single tools, of which most concern other definitions: `wavetrain tools` shows these warnings.
    ...(flags.verbose === true
      ? { onStderr: (name, line) => printServerLine(name, line, context) }
      : { warn: () => undefined }),
  });
  const pools = readPools(context.env);
  const folders = [...files.keys()].map((name) => dirname(resolve(folder, name)));
  const configured = config.fileRoots.map((root) => resolve(context.cwd, root));
  return {
    catalog: pools === undefined ? catalog : catalog.withPools(pools.keys()),
    fileRoots: [...new Set([folder, context.cwd, ...configured, ...folders])],
  };
}

/** Lets tasks name no pools but those that the environment sets (D81): for a definition that runs in this process. */
export function withPoolsHere<S extends Pick<DefinitionSetup, 'catalog'>>(setup: S): S {
  const { catalog } = setup;
  return catalog.pools === undefined ? { ...setup, catalog: catalog.withPools([]) } : setup;
}

export async function checkDefinitionFile(
  file: DefinitionFile,
  setup: CheckSetup,
): Promise<LoadedDefinition> {
  const { catalog, fileRoots, secrets, complete } = setup;
  const { source, inputs, session, pipelines } = file;
  const options = {
    catalog,
    ...(inputs && { inputs }),
    ...(session && { session }),
    ...(secrets && { secrets }),
  };
  if (file.kind === 'plan') {
    const { checkPlanSource } = await import('../lazy/plans.js');
    const check = checkPlanSource(source, { ...options, pipelines, complete });
    return { ...file, kind: 'plan', fileRoots, check };
  }
  const { checkSource, createCheckContext } = await import('../lazy/validation.js');
  return { ...file, kind: 'pipeline', fileRoots, check: checkSource(source, createCheckContext(options)) };
}

/** Reads every file that the flags name. @throws UsageError, WavetrainError `unreadable_file` */
export async function readDefinition(flags: DefinitionFlags, context: CliContext): Promise<DefinitionFile> {
  await readEnvFile(flags.envFile, context);
  const { inputs, session } = await readValues(flags, context);
  const text = await readText(flags.file, 'file', context);
  const isStandardInput = flags.file === STANDARD_INPUT;
  const folder = isStandardInput ? context.cwd : dirname(resolve(context.cwd, flags.file));
  const { detectKindOfText, readSource } = await import('../lazy/validation.js');
  const source = readSource(text);
  const kind = detectKindOfText(text, source);
  const pipelines = kind === 'plan' ? await readPlanPipelines(flags.file, folder, source) : NONE;
  return {
    name: isStandardInput ? 'standard input' : flags.file,
    text,
    kind,
    source,
    inputs,
    session,
    folder,
    pipelines,
    files: collectFiles(pipelines.values(), flags.file),
  };
}

const NONE: ReadonlyMap<string, PipelineInput> = new Map();

/** Reads the values that the flags name. @throws UsageError, WavetrainError `unreadable_file` */
export async function readValues(
  flags: ValueFlags,
  context: CliContext,
): Promise<Pick<DefinitionFile, 'inputs' | 'session'>> {
  assertStandardInputReadOnce(flags);
  const inputs = await readJsonObject('--inputs', flags.inputs, context);
  return { inputs, session: await readSession(flags, context) };
}

async function readSession(flags: ValueFlags, context: CliContext): Promise<JsonObject | undefined> {
  const fromFile = await readJsonFile('--session-file', flags.sessionFile, context);
  const fromFlag = await readJsonObject('--session', flags.session, context);
  return fromFile === undefined ? fromFlag : { ...fromFile, ...fromFlag };
}

function assertStandardInputReadOnce({ file, params, inputs, session, sessionFile }: ValueFlags): void {
  const names = [file, sessionFile, ...[params, inputs, session].map((json) => json?.replace(/^@/, ''))];
  if (names.filter((name) => name === STANDARD_INPUT).length > 1) {
    throw new UsageError('standard input can be read only once', 'put one of the two into a file');
  }
}

function printServerLine(server: string, line: string, { stderr }: CliContext): void {
  stderr.write(`${server}: ${toSingleLine(line)}\n`);
}

/** Loads the tools of a command: built-in ones, those of SERVICE_TOOLS, `--tools` (D48) and MCP servers (D49). */
export async function loadCatalog(
  specifiers: readonly string[] | undefined,
  config: Config,
  context: CliContext,
  mcp: McpChoice = {},
): Promise<Catalog> {
  const own = await loadOwnTools(specifiers, config, context);
  const file = mcp.file ?? config.mcpFile;
  if (file === undefined) return own;
  if (!mayNameMcpTools(mcp.texts)) {
    // A file that the user names on the command line is read, even where nothing needs it.
    if (mcp.file !== undefined) await readMcpConfig(mcp.file, context);
    return own;
  }
  return own.with(await openMcpTools(file, mcp, context));
}

async function loadOwnTools(
  specifiers: readonly string[] | undefined,
  config: Config,
  { openCatalog, cwd, env }: CliContext,
): Promise<Catalog> {
  const catalog = await openCatalog([...new Set([...config.tools, ...(specifiers ?? [])])], cwd);
  const { secUserAgent, searchProvider, ...keys } = readProviderConfig(env);
  if ([secUserAgent, searchProvider, ...Object.values(keys)].every((value) => value === undefined)) {
    return catalog;
  }
  const { createSearchWeb, createSecEdgar } = await import('../lazy/validation.js');
  const variants = [
    createSearchWeb({ provider: searchProvider, ...keys }),
    ...createSecEdgar({ userAgent: secUserAgent }),
  ];
  return variants.reduce((configured, variant) => configured.withVariant(variant), catalog);
}

async function readPlanPipelines(
  name: string,
  folder: string,
  source: Source,
): Promise<ReadonlyMap<string, PipelineInput>> {
  const { readPipelines } = await import('../lazy/plans.js');
  return readPipelines(source, folder, name === STANDARD_INPUT ? undefined : join(folder, basename(name)));
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
