import { ToolError, WavetrainError } from '../common/errors.js';
import { isObject, type JsonObject } from '../common/json/json.js';
import type { Problem } from '../definition/problems/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { START_FIELDS } from '../definition/schema/fields.js';
import { type DefinitionKind, detectKind, findRoot } from '../definition/schema/root.js';
import { type PipelineDefinition, type StartFields } from '../definition/schema/schema.js';
import { PIPELINE_ID } from '../definition/schema/definition-fields.js';
import { type CheckSteps, requestSource, type Source } from '../definition/text/source.js';
import { type CheckContext, createCheckContext } from '../pipelines/check-context.js';
import { checkInSteps, checkSourceInSteps } from '../pipelines/check.js';
import { createGraphInSteps, type Graph } from '../pipelines/drawing/graph.js';
import { InvalidDefinitionError } from '../pipelines/load.js';
import { checkPlanInSteps, checkPlanSourceInSteps } from '../plans/check.js';
import { createPlanGraphInSteps, type PlanGraph } from '../plans/graph.js';
import { toPipelineInputs } from '../plans/plan.js';
import type { Catalog } from '../tools/catalog.js';
import { LIBRARY_LIMITS } from './limits.js';
import type { ListedFile } from './list-files.js';
import { readFileText, readPlanFiles, type TenantFiles, type UsedFiles } from './plan-files.js';

/** A definition that can run, as it was in its file. */
export type GoodVersion = {
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

/** The definition and the problems that a file has now. */
export interface ReadFile {
  readonly kind: DefinitionKind;
  /** The id in the file; undefined when none can be read there. */
  readonly id: string | undefined;
  readonly problems: readonly Problem[];
  /** Undefined when there are errors among the problems. */
  readonly good: GoodVersion | undefined;
  /** The schedule and the webhook that the text declares, valid or not; undefined when it cannot be parsed. */
  readonly start: DeclaredStart | undefined;
  readonly used: UsedFiles;
}

type DeclaredStart = Partial<Record<keyof StartFields, unknown>>;

/** Ids that would be a path of another meaning: `GET /pipelines/runs`. */
export const RESERVED_IDS: ReadonlySet<string> = new Set(
  'runs stats tools run run_async validate graph compile schedules pipelines plans'.split(' '),
);

export interface FileReading {
  /** May be another one later. */
  readonly catalog: Catalog;
  /** Does the steps of a check beside the runs. */
  readonly check: <T>(steps: CheckSteps<T>, tenantId: string) => Promise<T>;
  readonly limitBytes: number;
}

/** Reads and checks a file of the folder. Never rejects because of what is in it. */
export async function readFolderFile(
  listed: ListedFile,
  files: TenantFiles,
  reading: FileReading,
): Promise<ReadFile> {
  try {
    const text = await readFileText(listed, reading.limitBytes);
    return await checkDefinitionText(text, listed, files, reading);
  } catch (error) {
    // A failure of the server itself says nothing about the file.
    if (!(error instanceof ToolError)) throw error;
    return withoutDefinition([fileProblem('unreadable_file', error.message)], 0);
  }
}

/** Describes a file of so many bytes of which nothing was read. */
export function withoutDefinition(problems: readonly Problem[], bytes: number): ReadFile {
  return {
    kind: 'pipeline',
    id: undefined,
    problems,
    good: undefined,
    start: undefined,
    used: usedAlone(bytes),
  };
}

/** Checks the text of a file of the folder, or what it is to be. */
export async function checkDefinitionText(
  text: string,
  { file, tenantId }: Pick<ListedFile, 'file' | 'tenantId'>,
  files: TenantFiles,
  reading: FileReading,
): Promise<ReadFile> {
  const source = await reading.check(requestSource(text), tenantId);
  const kind = detectKind(source.value) ?? 'pipeline';
  const root = findRoot(source.value, kind);
  const definition = root.ok && isObject(root.definition) ? root.definition : {};
  const id = readId(definition);
  const checked = { text, file, tenantId, bytes: Buffer.byteLength(text) };
  const { problems, good, used } =
    kind === 'plan'
      ? await checkPlan(source, checked, files, reading)
      : await checkPipeline(source, checked, reading);
  const reserved = id !== undefined && RESERVED_IDS.has(id) ? [reservedId(id, kind, source)] : [];
  return {
    kind,
    id,
    problems: [...reserved, ...problems],
    good: reserved.length > 0 ? undefined : good,
    start: source.value === undefined ? undefined : pickStart(definition),
    used,
  };
}

/** Picks the fields of a definition that say when it is started; fields that it does not have are absent. */
export function pickStart(definition: DeclaredStart): DeclaredStart {
  const declared = START_FIELDS.filter((field) => definition[field] !== undefined);
  return Object.fromEntries(declared.map((field) => [field, definition[field]]));
}

function usedAlone(bytes: number): UsedFiles {
  return { signatures: new Map(), hasMissing: false, changes: 0, bytes };
}

type Checked = Pick<ReadFile, 'problems' | 'good' | 'used'>;

/** The text of a file, which need not be on the disk yet. */
interface FileText extends Pick<ListedFile, 'file' | 'tenantId' | 'bytes'> {
  readonly text: string;
}

async function checkPipeline(
  source: Source,
  { text, tenantId, bytes }: FileText,
  { catalog, check }: FileReading,
): Promise<Checked> {
  const context = toContext(source, catalog);
  const result = await check(checkSourceInSteps(source, context), tenantId);
  const { problems } = result;
  const used = usedAlone(bytes);
  if (!result.ok) return { problems, good: undefined, used };
  return { problems, good: { kind: 'pipeline', text, definition: result.pipeline.definition }, used };
}

/** A run may bring inputs that have no defaults, as a plan does for its pipelines; one that a schedule starts brings none. */
function toContext(source: Pick<Source, 'value'>, catalog: Catalog): CheckContext {
  const context = createCheckContext({ catalog });
  const root = findRoot(source.value, 'pipeline');
  const hasSchedule = root.ok && isObject(root.definition) && root.definition['schedule'] !== undefined;
  return hasSchedule ? context : { ...context, inputKeys: undefined };
}

/** Draws the graph of a definition that was checked before. @throws InvalidDefinitionError when it is not valid any more */
export function* drawGraphInSteps(good: GoodVersion, catalog: Catalog): CheckSteps<Graph | PlanGraph> {
  if (good.kind === 'plan') {
    const pipelines = toPipelineInputs(good.pipelines);
    const result = yield* checkPlanInSteps(
      { value: good.definition },
      { catalog, pipelines, complete: true },
    );
    if (!result.ok || result.plan === undefined) throw new InvalidDefinitionError(result.problems);
    return yield* createPlanGraphInSteps(result.plan);
  }
  const value = { pipeline: good.definition };
  const result = yield* checkInSteps({ value }, toContext({ value }, catalog));
  if (!result.ok) throw new InvalidDefinitionError(result.problems);
  return yield* createGraphInSteps(result.pipeline);
}

async function checkPlan(
  source: Source,
  { text, file, tenantId, bytes }: FileText,
  files: TenantFiles,
  { catalog, check, limitBytes }: FileReading,
): Promise<Checked> {
  const { used, pipelines } = await readPlanFiles(source, file, bytes, files, {
    run: (steps) => check(steps, tenantId),
    limitBytes,
  });
  if (pipelines === undefined) {
    const message = `the plan and the files of its pipelines are longer than ${LIBRARY_LIMITS.planBytes / 2 ** 20} MiB together`;
    const hint = 'name fewer files, or make several plans';
    return { problems: [fileProblem('too_large', message, hint)], good: undefined, used };
  }
  const steps = checkPlanSourceInSteps(source, { catalog, pipelines, complete: true });
  const result = await check(steps, tenantId);
  const { problems } = result;
  if (!result.ok || result.plan === undefined) return { problems, good: undefined, used };
  const { definition, subPipelines } = result.plan;
  const others = [...subPipelines].flatMap(([id, { pipeline }]): [string, JsonObject][] =>
    // A pipeline within the plan is there twice: only one of them may be sent.
    pipelines.has(id) ? [[id, pipeline.definition as unknown as JsonObject]] : [],
  );
  return { problems, good: { kind: 'plan', text, definition, pipelines: Object.fromEntries(others) }, used };
}

const ID = new RegExp(PIPELINE_ID);

function readId({ id }: Record<string, unknown>): string | undefined {
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

export function pipelineNotFound(id: string): WavetrainError {
  return new WavetrainError('pipeline_not_found', `there is no pipeline or plan "${id}"`);
}
