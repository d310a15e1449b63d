import { dirname, posix } from 'node:path';
import { ToolError, WavetrainError } from '../common/errors.js';
import { isObject, type JsonObject } from '../common/json.js';
import { LIBRARY_LIMITS } from '../common/limits.js';
import { type CheckSteps, requestSource } from '../definition/check-steps.js';
import type { Problem } from '../definition/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { type DefinitionKind, detectKind, findRoot } from '../definition/schema/root.js';
import { PIPELINE_ID, type PipelineDefinition } from '../definition/schema/schema.js';
import type { Source } from '../definition/text/source.js';
import { type CheckContext, createCheckContext } from '../pipelines/check-context.js';
import { checkInSteps, checkSourceInSteps } from '../pipelines/check.js';
import { createGraph, type Graph } from '../pipelines/graph.js';
import { InvalidDefinitionError } from '../pipelines/load.js';
import { checkPlanInSteps, checkPlanSourceInSteps } from '../plans/check.js';
import { createPlanGraph, type PlanGraph } from '../plans/graph.js';
import { listExternal } from '../plans/load.js';
import type { PipelineInput } from '../plans/plan.js';
import type { Catalog } from '../tools/catalog.js';
import { decodeText, readRegularFile } from '../tools/files/regular-file.js';
import type { ListedFile } from './list-files.js';

/** A definition that can run, as it was in its file. */
export type GoodVersion = {
  /** The whole file. */
  readonly text: string;
} & (
  | {
      readonly kind: 'pipeline';
      readonly definition: PipelineDefinition;
    }
  | {
      readonly kind: 'plan';
      readonly definition: PlanDefinition;
      /** By sub-pipeline id: also those that came from files. */
      readonly pipelines: Readonly<Record<string, JsonObject>>;
    }
);

/** What a file has, now. */
export interface ReadFile {
  readonly kind: DefinitionKind;
  /** The id in the file; undefined when none can be read there. */
  readonly id: string | undefined;
  readonly problems: readonly Problem[];
  /** Undefined when there are errors among the problems. */
  readonly good: GoodVersion | undefined;
}

/** Ids that would be a path of another meaning: `GET /pipelines/runs`. */
export const RESERVED_IDS: ReadonlySet<string> = new Set(
  'runs tools run run_async validate graph compile schedules pipelines plans'.split(' '),
);

/** What reads and checks a file. */
export interface FileReading {
  readonly catalog: Catalog;
  /** Does the steps of a check beside the runs. */
  readonly check: <T>(steps: CheckSteps<T>, tenantId: string) => Promise<T>;
  readonly limitBytes: number;
}

/** Reads and checks a file of the folder. Never rejects because of what is in it. */
export async function readFolderFile(
  listed: ListedFile,
  files: ReadonlyMap<string, ListedFile>,
  reading: FileReading,
): Promise<ReadFile> {
  try {
    const text = await readText(listed, reading.limitBytes);
    return await checkDefinitionText(text, listed, files, reading);
  } catch (error) {
    // What the server itself cannot do now says nothing about the file.
    if (!(error instanceof ToolError)) throw error;
    return {
      kind: 'pipeline',
      id: undefined,
      problems: [fileProblem('unreadable_file', error.message)],
      good: undefined,
    };
  }
}

/** Checks the text of a file of the folder, or what it is to be. */
export async function checkDefinitionText(
  text: string,
  listed: Pick<ListedFile, 'file' | 'tenantId'>,
  files: ReadonlyMap<string, ListedFile>,
  reading: FileReading,
): Promise<ReadFile> {
  const { tenantId } = listed;
  const source = await reading.check(requestSource(text), tenantId);
  const kind = detectKind(source.value) ?? 'pipeline';
  const id = readId(source, kind);
  const { problems, good } =
    kind === 'plan'
      ? await checkPlan(text, source, listed, files, reading)
      : await checkPipeline(text, source, tenantId, reading);
  const reserved = id !== undefined && RESERVED_IDS.has(id) ? [reservedId(id, kind, source)] : [];
  return {
    kind,
    id,
    problems: [...reserved, ...problems],
    good: reserved.length > 0 ? undefined : good,
  };
}

type Checked = Pick<ReadFile, 'problems' | 'good'>;

async function checkPipeline(
  text: string,
  source: Source,
  tenantId: string,
  { catalog, check }: FileReading,
): Promise<Checked> {
  const context = toContext(source, catalog);
  const result = await check(checkSourceInSteps(source, context), tenantId);
  const { problems } = result;
  if (!result.ok) return { problems, good: undefined };
  return { problems, good: { kind: 'pipeline', text, definition: result.pipeline.definition } };
}

/** A run may bring inputs that have no defaults, as a plan does for its pipelines; one that a schedule starts brings none. */
function toContext(source: Pick<Source, 'value'>, catalog: Catalog): CheckContext {
  const context = createCheckContext({ catalog });
  const root = findRoot(source.value, 'pipeline');
  const hasSchedule = root.ok && isObject(root.definition) && root.definition['schedule'] !== undefined;
  return hasSchedule ? context : { ...context, inputKeys: undefined };
}

/** The graph of a definition that was checked before. Rejects with its problems when it is not valid any more. */
export async function drawGraph(
  good: GoodVersion,
  tenantId: string,
  reading: FileReading,
): Promise<Graph | PlanGraph> {
  const { catalog, check } = reading;
  if (good.kind === 'plan') {
    const pipelines = new Map(
      Object.entries(good.pipelines).map(([id, value]): [string, PipelineInput] => [id, { value }]),
    );
    const result = await check(
      checkPlanInSteps({ value: good.definition }, { catalog, pipelines, complete: true }),
      tenantId,
    );
    if (!result.ok || result.plan === undefined) throw new InvalidDefinitionError(result.problems);
    return createPlanGraph(result.plan);
  }
  const value = { pipeline: good.definition };
  const result = await check(checkInSteps({ value }, toContext({ value }, catalog)), tenantId);
  if (!result.ok) throw new InvalidDefinitionError(result.problems);
  return createGraph(result.pipeline);
}

async function checkPlan(
  text: string,
  source: Source,
  listed: Pick<ListedFile, 'file' | 'tenantId'>,
  files: ReadonlyMap<string, ListedFile>,
  reading: FileReading,
): Promise<Checked> {
  const pipelines = await readPlanFiles(source, listed, files, reading.limitBytes);
  const steps = checkPlanSourceInSteps(source, { catalog: reading.catalog, pipelines, complete: true });
  const result = await reading.check(steps, listed.tenantId);
  const { problems } = result;
  if (!result.ok || result.plan === undefined) return { problems, good: undefined };
  const { definition, subPipelines } = result.plan;
  const used = [...subPipelines].map(([id, { pipeline }]): [string, JsonObject] => [
    id,
    pipeline.definition as unknown as JsonObject,
  ]);
  // A pipeline within the plan is there twice: only one of them may be sent.
  const external = new Set(pipelines.keys());
  const others = used.filter(([id]) => external.has(id));
  return { problems, good: { kind: 'plan', text, definition, pipelines: Object.fromEntries(others) } };
}

/**
 * Reads the pipelines that a plan names, or has beside it (D44): files of the same folder and tenant, which are pipelines of
 * this server themselves. All of them together may be no longer than the files of a tenant.
 */
async function readPlanFiles(
  source: Source,
  { file: planFile, tenantId }: Pick<ListedFile, 'file' | 'tenantId'>,
  files: ReadonlyMap<string, ListedFile>,
  limitBytes: number,
): Promise<Map<string, PipelineInput>> {
  const folder = dirname(planFile);
  const texts = new Map<string, Promise<PipelineInput>>();
  const inputs = new Map<string, PipelineInput>();
  let bytes = 0;
  for (const { id, file } of listExternal(source)) {
    const names = file === undefined ? ['yaml', 'yml', 'json'].map((end) => `${id}.${end}`) : [file];
    const paths = names.map((name) => posix.normalize(posix.join(folder, name)));
    const listed = paths.map((path) => files.get(path)).find((found) => found?.tenantId === tenantId);
    const isInside = listed !== undefined && (folder === '.' || listed.file.startsWith(`${folder}/`));
    if (!isInside || listed.file === planFile || posix.isAbsolute(file ?? '')) {
      inputs.set(id, missing(id, names));
      continue;
    }
    bytes += listed.bytes;
    if (bytes > LIBRARY_LIMITS.tenantBytes) {
      inputs.set(id, {
        unreadable: { message: `sub-pipeline "${id}": the files of the plan are too long together` },
      });
      continue;
    }
    let text = texts.get(listed.file);
    if (text === undefined)
      texts.set(listed.file, (text = readPlanFile(id, names[0] ?? '', listed, limitBytes)));
    inputs.set(id, await text);
  }
  return inputs;
}

async function readPlanFile(
  id: string,
  name: string,
  listed: ListedFile,
  limitBytes: number,
): Promise<PipelineInput> {
  try {
    return { text: await readText(listed, limitBytes), file: name };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { unreadable: { message: `sub-pipeline "${id}": ${error.message}` } };
  }
}

function missing(id: string, names: readonly string[]): PipelineInput {
  return {
    missing: {
      message: `sub-pipeline "${id}": there is no file ${names.map((name) => `"${name}"`).join(' or ')} beside the plan, or below it`,
      hint: 'put its pipeline into the folder of the plan, or write it in the plan under "pipeline"',
    },
  };
}

/** Rejects with a ToolError that says what is wrong with the file. */
async function readText({ realPath, file }: ListedFile, limitBytes: number): Promise<string> {
  return decodeText(await readRegularFile(realPath, file, limitBytes), file);
}

const ID = new RegExp(PIPELINE_ID);

function readId(source: Source, kind: DefinitionKind): string | undefined {
  const root = findRoot(source.value, kind);
  const id = root.ok ? (root.definition as { readonly id?: unknown } | null)?.id : undefined;
  return typeof id === 'string' && ID.test(id) ? id : undefined;
}

function reservedId(id: string, kind: DefinitionKind, source: Source): Problem {
  const path = `/${kind}/id`;
  return {
    code: 'reserved_id',
    message: `"${id}" is part of the addresses of this server`,
    path,
    severity: 'error',
    ...source.positionOf([kind, 'id']),
    hint: 'choose another id',
  };
}

export function fileProblem(code: Problem['code'], message: string, hint?: string): Problem {
  return { code, message, path: '', severity: 'error', ...(hint !== undefined && { hint }) };
}

/** The error of an id that no definition has, for the caller. */
export function pipelineNotFound(id: string): WavetrainError {
  return new WavetrainError('pipeline_not_found', `there is no pipeline or plan "${id}"`);
}
