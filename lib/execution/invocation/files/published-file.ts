import type { RunArtifact } from '../../results.js';

/** The task and the item that a file belongs to. */
export type ArtifactSource = Pick<RunArtifact, 'sub_pipeline' | 'task_id' | 'item'>;

/** A file of a run, and where it is. */
export interface PublishedFile {
  readonly artifact: RunArtifact;
  readonly path: string;
}

/** Groups files by task, and by task and item. */
export function groupBySource(files: Iterable<PublishedFile>): Map<string, PublishedFile[]> {
  const groups = new Map<string, PublishedFile[]>();
  for (const file of files) {
    const { item, ...task } = file.artifact;
    const keys = [toSourceKey(task), ...(item === undefined ? [] : [toSourceKey(file.artifact)])];
    for (const key of keys) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [file]);
      else group.push(file);
    }
  }
  return groups;
}

export function toSourceKey({ sub_pipeline: subPipeline, task_id: taskId, item }: ArtifactSource): string {
  return JSON.stringify([subPipeline, taskId, item]);
}
