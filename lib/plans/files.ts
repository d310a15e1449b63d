import { rootOf } from '../definition/schema/root.js';
import type { Source } from '../definition/text/source.js';
import { type DraftSubPipeline, firstOfEach, planDraftOf } from './draft.js';
import { PlanFolder, type Reading } from './plan-folder.js';
import type { GivenPipeline } from './plan.js';

/**
 * Reads the pipelines that do not stand in a plan itself, by sub-pipeline id: from the files that it names, or from
 * the siblings that are called like its sub-pipelines (D44). No path leads out of the plan's folder, whatever it
 * spells and whatever links lie on its way. What cannot be read is told in the place of the text; a text that is no
 * plan names no files. Never rejects.
 *
 * @param planFile the plan's own file, which is none of its pipelines
 */
export async function readPipelines(
  plan: Pick<Source, 'value'>,
  folder: string,
  planFile?: string,
): Promise<Map<string, GivenPipeline>> {
  const subPipelines = thoseWithFiles(plan);
  const place = await PlanFolder.open(folder, planFile);
  const found = await severalAtATime(subPipelines, (subPipeline) => pipelineOf(subPipeline, place));
  return new Map(found);
}

function thoseWithFiles({ value }: Pick<Source, 'value'>): DraftSubPipeline[] {
  const root = rootOf(value, 'plan');
  if (!root.ok) return [];
  return firstOfEach(planDraftOf(root.definition)).filter(({ inline }) => inline === undefined);
}

/** Each open file takes a descriptor, and a process has few. */
const MOST_AT_A_TIME = 16;

async function severalAtATime<T, R>(values: readonly T[], use: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = values.entries();
  const useNext = async (): Promise<void> => {
    for (const [index, value] of waiting) results[index] = await use(value);
  };
  await Promise.all(Array.from({ length: MOST_AT_A_TIME }, useNext));
  return results;
}

async function pipelineOf(
  subPipeline: DraftSubPipeline,
  place: PlanFolder,
): Promise<[string, GivenPipeline]> {
  const { id, file } = subPipeline;
  return [id, file === undefined ? await sibling(id, place) : await named(id, file, place)];
}

const NAME_IT = 'name its file under "file", or write it in the plan under "pipeline"';

async function named(id: string, file: string, place: PlanFolder): Promise<GivenPipeline> {
  const reading = await place.read(file);
  switch (reading.kind) {
    case 'absent':
      return missing(
        `sub-pipeline "${id}": there is no file "${file}" in ${place.path}`,
        didYouMean(await place.nearest(file)),
      );
    case 'plan':
      return missing(
        `sub-pipeline "${id}" names the plan itself: ${file}`,
        'name the file of its own pipeline',
      );
    default:
      return given(id, file, reading);
  }
}

/** Looked for in this order. */
const ENDINGS = ['yaml', 'yml', 'json'];

async function sibling(id: string, place: PlanFolder): Promise<GivenPipeline> {
  for (const ending of ENDINGS) {
    const file = `${id}.${ending}`;
    const reading = await place.read(file);
    if (reading.kind === 'plan') {
      return missing(`sub-pipeline "${id}" has no "file", and ${file} is the plan itself`, NAME_IT);
    }
    if (reading.kind !== 'absent') return given(id, file, reading);
  }
  const names = `${id}.yaml, ${id}.yml or ${id}.json`;
  return missing(`sub-pipeline "${id}" has no "file", and there is no ${names} in ${place.path}`, NAME_IT);
}

function given(
  id: string,
  file: string,
  reading: Extract<Reading, { kind: 'text' | 'refused' }>,
): GivenPipeline {
  return reading.kind === 'text'
    ? { text: reading.text, file }
    : missing(`sub-pipeline "${id}": ${reading.message}`);
}

function didYouMean(file: string | undefined): string | undefined {
  return file === undefined ? undefined : `did you mean "${file}"?`;
}

function missing(message: string, hint?: string): GivenPipeline {
  return { missing: { message, ...(hint === undefined ? {} : { hint }) } };
}
