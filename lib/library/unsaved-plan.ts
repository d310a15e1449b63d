import type { Steps } from '../common/scheduling/steps.js';
import type { Source } from '../definition/text/source.js';
import type { PipelineInput } from '../plans/plan.js';
import type { KnownFile } from './folder-entries.js';
import { LIBRARY_LIMITS } from './limits.js';
import { findPlanFiles, type TenantFiles } from './plan-files.js';

/** The files of one tenant, as the server has them in use. */
interface FilesInUse {
  readonly files: TenantFiles;
  /** The last version without errors of a file of the tenant; undefined when there is none. */
  readonly find: (path: string) => KnownFile['good'];
}

/**
 * The pipelines of a plan that was changed and is not saved: those of the files that it would name if it were, as the
 * server has them in use (D69), in steps. Nothing is read. The pipelines may be as long together as those of a plan in
 * the folder.
 *
 * @param planFile the place of the plan, relative to the folder
 */
export function* findPipelinesInUse(
  source: Pick<Source, 'value'>,
  planFile: string,
  { files, find }: FilesInUse,
): Steps<ReadonlyMap<string, PipelineInput>> {
  const pipelines = new Map<string, PipelineInput>();
  let bytes = 0;
  for (const part of yield* findPlanFiles(source, planFile, files)) {
    if ('missing' in part) {
      pipelines.set(part.id, part);
      continue;
    }
    const good = find(part.listed.file);
    bytes += good?.bytes ?? 0;
    pipelines.set(part.id, toInput(part, good, bytes));
  }
  return pipelines;
}

function toInput(
  { id, name }: { readonly id: string; readonly name: string },
  good: KnownFile['good'],
  bytes: number,
): PipelineInput {
  const unreadable = (reason: string): PipelineInput => ({
    unreadable: { message: `sub-pipeline "${id}": ${reason}` },
  });
  if (good === undefined) return unreadable(`the file "${name}" has errors`);
  if (good.kind === 'plan') return unreadable(`the file "${name}" has a plan, and not a pipeline`);
  if (bytes > LIBRARY_LIMITS.planBytes) {
    const limit = `${LIBRARY_LIMITS.planBytes / 2 ** 20} MiB`;
    return unreadable(`with "${name}", the files of the plan are longer than ${limit} together`);
  }
  return { value: good.definition };
}
