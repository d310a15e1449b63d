import type { RunRecord } from '../../runs/record.js';
import type { Terminal } from '../terminal.js';
import { namesLine } from './failures.js';

/** What became of the sub-pipelines of a plan that did not succeed; nothing for a pipeline. */
export function courseLines({ sub_pipelines: statuses }: RunRecord, terminal: Terminal): string[] {
  const those = (wanted: string | null): string[] =>
    Object.entries(statuses ?? {}).flatMap(([id, status]) => (status === wanted ? [id] : []));
  return [
    ...namesLine('succeeded before', those('succeeded'), terminal),
    ...namesLine('cancelled', those('cancelled'), terminal),
    ...namesLine('not started', those(null), terminal),
  ];
}
