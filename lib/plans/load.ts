import { dirname } from 'node:path';
import { findRoot } from '../definition/schema/root.js';
import { mapSome } from '../common/scheduling/concurrency-limiter.js';
import { runToEnd, type Steps } from '../common/scheduling/steps.js';
import { didYouMean } from '../definition/problems/hint.js';
import { readSource, type Source } from '../definition/text/source.js';
import { InvalidDefinitionError, type LoadOptions, readDefinitionText } from '../pipelines/load.js';
import { builtinCatalog } from '../tools/catalog.js';
import { checkPlanSource } from './check.js';
import { type DraftSubPipeline, readPlanDraft, uniqueSubPipelines } from './draft.js';
import { type PlanFileResult, PlanFolder } from './plan-folder.js';
import type { PipelineInput, Plan } from './plan.js';

/**
 * Loads a plan from a YAML or JSON file, and its pipelines from the files that it names (D44).
 *
 * @throws WavetrainError `unreadable_file`
 * @throws InvalidDefinitionError with every problem, including those of its pipelines
 */
export async function loadPlan(file: string, { tools = [], ...values }: LoadOptions = {}): Promise<Plan> {
  const source = readSource(await readDefinitionText(file));
  const pipelines = await readPipelines(source, dirname(file), file);
  const catalog = builtinCatalog().with(tools);
  const check = checkPlanSource(source, { ...values, catalog, pipelines, complete: true });
  if (!check.ok || check.plan === undefined) throw new InvalidDefinitionError(check.problems);
  return check.plan;
}

/**
 * Reads the pipelines that are not inline in a plan, by sub-pipeline id: from the files that the plan names, or from
 * sibling files named after its sub-pipelines (D44). Reads nothing outside the plan's folder, whatever paths and links
 * say. An absent or unreadable file yields its error instead of a text; a text that is not a plan yields nothing. Never
 * rejects.
 *
 * @param planFile the plan's own file, which is not one of its pipelines
 */
export async function readPipelines(
  plan: Pick<Source, 'value'>,
  folder: string,
  planFile?: string,
): Promise<Map<string, PipelineInput>> {
  const planFolder = await PlanFolder.open(folder, planFile);
  const entries = await mapSome(runToEnd(listExternal(plan)), MAX_CONCURRENCY, async ({ id, file }) => {
    const input = file === undefined ? readSibling(id, planFolder) : readNamed(id, file, planFolder);
    return [id, await input] as const;
  });
  return new Map(entries);
}

/** Lists the sub-pipelines whose pipeline is not inline, in steps. */
export function* listExternal({ value }: Pick<Source, 'value'>): Steps<DraftSubPipeline[]> {
  const root = findRoot(value, 'plan');
  if (!root.ok) return [];
  const draft = yield* readPlanDraft(root.definition);
  return uniqueSubPipelines(draft).filter(({ inline }) => inline === undefined);
}

/** Every open file takes a descriptor, and a process has few. */
const MAX_CONCURRENCY = 16;

const NAME_IT = 'name its file under "file", or write it in the plan under "pipeline"';

async function readNamed(id: string, file: string, folder: PlanFolder): Promise<PipelineInput> {
  const result = await folder.read(file);
  switch (result.kind) {
    case 'absent': {
      const meant = await folder.nearest(file);
      const message = `sub-pipeline "${id}": there is no file "${file}" in ${folder.path}`;
      return { missing: { message, ...(meant !== undefined && { hint: didYouMean(meant) }) } };
    }
    case 'plan': {
      const hint = 'name the file of its own pipeline';
      return { unreadable: { message: `sub-pipeline "${id}" names the plan itself: ${file}`, hint } };
    }
    default:
      return toInput(id, file, result);
  }
}

/** The endings of sibling files, in the order in which they are tried. */
const EXTENSIONS = ['yaml', 'yml', 'json'];

async function readSibling(id: string, folder: PlanFolder): Promise<PipelineInput> {
  for (const extension of EXTENSIONS) {
    const file = `${id}.${extension}`;
    const result = await folder.read(file);
    if (result.kind === 'plan') {
      const message = `sub-pipeline "${id}" has no "file", and ${file} is the plan itself`;
      return { unreadable: { message, hint: NAME_IT } };
    }
    if (result.kind !== 'absent') return toInput(id, file, result);
  }
  const names = `${id}.yaml, ${id}.yml or ${id}.json`;
  const message = `sub-pipeline "${id}" has no "file", and there is no ${names} in ${folder.path}`;
  return { missing: { message, hint: NAME_IT } };
}

type FileContent = Extract<PlanFileResult, { kind: 'text' | 'unreadable' }>;

function toInput(id: string, file: string, result: FileContent): PipelineInput {
  if (result.kind === 'text') return { text: result.text, file };
  return { unreadable: { message: `sub-pipeline "${id}": ${result.message}` } };
}
