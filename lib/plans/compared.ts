import type { Path } from '../definition/problem.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { DraftSubPipeline } from './draft.js';

/** A sub-pipeline and the pipeline that it names. */
export interface Compared {
  readonly subPipeline: DraftSubPipeline;
  readonly pipeline: Pipeline;
  /** The file that it stands in; undefined when it stands elsewhere. */
  readonly file: string | undefined;
}

/** A task with the file that it stands in, as messages name it. */
export function taskName(task: string, { file }: Compared): string {
  return file === undefined ? `task "${task}"` : `task "${task}" of ${file}`;
}

/** The list of a sub-pipeline that is at fault; all of it when it has no such list. */
export function listPath({ path }: DraftSubPipeline, field: string, entries: readonly unknown[]): Path {
  return entries.length === 0 ? path : [...path, field];
}
