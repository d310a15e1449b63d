import { dirname, join, resolve } from 'node:path';
import type { Source } from '../../definition/text/source.js';
import type { CheckOptions } from '../../pipelines/check.js';
import type { GivenPipeline } from '../../plans/plan.js';
import type { CliContext } from '../context.js';
import type { Given, NamedText, PlanPreparation } from './loaded-definition.js';
import { STANDARD_INPUT } from './read-file.js';

interface PlanFile {
  /** The plan file as it was named; `-` is standard input. */
  readonly file: string;
  /** Its folder: the working directory for standard input. */
  readonly folder: string;
  readonly source: Source;
}

/** Reads the pipelines of a plan and checks all of it (D42, D46). */
export async function preparePlan(
  given: Given & { readonly fileRoots: readonly string[] },
  place: PlanFile,
  options: CheckOptions,
  context: CliContext,
): Promise<PlanPreparation> {
  const { checkPlanSource, readPipelines } = await context.services.plans();
  const { file, folder, source } = place;
  const planFile = file === STANDARD_INPUT ? undefined : resolve(context.cwd, file);
  const pipelines = await readPipelines(source, folder, planFile);
  const files = filesOf(pipelines.values(), place);
  const folders = [...files.keys()].map((name) => dirname(resolve(folder, name)));
  return {
    kind: 'plan',
    ...given,
    check: checkPlanSource(source, { ...options, pipelines }),
    fileRoots: [...new Set([...given.fileRoots, ...folders])],
    files,
  };
}

/** Named as the plan was, so that a terminal finds them from the working directory. */
function filesOf(pipelines: Iterable<GivenPipeline>, { file }: PlanFile): Map<string, NamedText> {
  const above = file === STANDARD_INPUT ? '' : dirname(file);
  const files = new Map<string, NamedText>();
  for (const pipeline of pipelines) {
    if (!('text' in pipeline) || pipeline.file === undefined) continue;
    files.set(pipeline.file, { name: join(above, pipeline.file), text: pipeline.text });
  }
  return files;
}
