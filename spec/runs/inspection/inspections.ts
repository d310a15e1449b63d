import type { InspectionEntry } from '../../../lib/runs/inspection/entry.js';
import type { InspectionLog } from '../../../lib/runs/inspection/inspection-log.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';

/** Runs that are observed know the times of their tasks. */
export const KEPT = { eventBuffer: 1000 };

/** The sub-pipelines of a plan, for `ControlledPlans`. */
export const EXTRACT_AND_LOAD = [
  subPipelineText('extract', '{id: a, tool: controlled}'),
  subPipelineText('load', '{id: b, tool: controlled}'),
];

/** Every entry that a log has. */
export function entriesOf(log: InspectionLog): InspectionEntry[] {
  return log.readAfter(0, Number.POSITIVE_INFINITY).events.map(({ json }) => JSON.parse(json));
}

/** Entries as short lines: `run begin: queued > running`. */
export function toLines(entries: readonly InspectionEntry[]): string[] {
  return entries.map(({ actor, event, from, state }) => `${actor} ${event}: ${from ?? ''} > ${state}`);
}
