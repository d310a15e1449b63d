import type { Json, JsonObject } from '../common/json/json.js';
import { toIsoTime } from '../common/clock.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import type { RunSummary } from '../common/wire/run-summary.js';
import { ROOT_TENANT } from './list-files.js';
import type { FolderEntry } from './folder-entries.js';
import type {
  LastDueSchema,
  LastRunSchema,
  NamedPipelineSchema,
  ScheduleSchema,
} from '../common/wire/named-pipeline.js';
import type { Shape } from '../common/wire/shape.js';

/** The outcome of a time at which a schedule was due. */
export interface LastDue extends Shape<typeof LastDueSchema> {}

/** A schedule as the API shows it (D70). */
export interface ShownSchedule extends Shape<typeof ScheduleSchema> {}

/** One of the last runs of a named pipeline or plan. */
export interface LastRun extends Shape<typeof LastRunSchema> {}

/** A pipeline or a plan of the folder (D69). */
export interface NamedPipeline extends Shape<typeof NamedPipelineSchema> {}

/** One page of named pipelines and plans. */
export interface NamedPage {
  readonly pipelines: readonly NamedPipeline[];
  readonly next_cursor: string | null;
}

export interface ShownStart {
  readonly schedule: ShownSchedule | null;
  readonly isWebhookReady: boolean;
}

/** An entry, with what is kept elsewhere of it. */
export interface ShownEntry {
  readonly entry: FolderEntry;
  readonly start: ShownStart;
  /** The newest first. */
  readonly lastRuns: readonly LastRun[];
}

/** A text that changes with what is shown of an entry, its graph included. */
export function toShownVersion({ entry: { version }, start, lastRuns }: ShownEntry): string {
  return JSON.stringify([version, start, lastRuns]);
}

/** Bytes of what a file says of its entry, by entry: an entry is measured once, however often it is listed. */
const fileBytes = new WeakMap<FolderEntry, number>();

export function measureShown({ entry, start, lastRuns }: ShownEntry): number {
  let bytes = fileBytes.get(entry);
  if (bytes === undefined) {
    const alone = { entry, start: { schedule: null, isWebhookReady: false }, lastRuns: [] };
    bytes = Buffer.byteLength(JSON.stringify(toNamedPipeline(alone)));
    fileBytes.set(entry, bytes);
  }
  return bytes + Buffer.byteLength(JSON.stringify([start, lastRuns]));
}

export function toLastRun({ run_id, status, created_at, finished_at }: RunSummary): LastRun {
  return { run_id, status, created_at, finished_at };
}

export function toNamedPipeline({ entry, start, lastRuns }: ShownEntry): NamedPipeline {
  const { schedule, isWebhookReady } = start;
  const { id, kind, listed, good, isValid, problems } = entry;
  const { tenantId, file, changedAt } = listed;
  const definition = good?.definition;
  return {
    id,
    kind,
    tenant_id: tenantId,
    file,
    goal: definition?.goal ?? '',
    description: definition?.description ?? null,
    params: good?.kind === 'pipeline' ? showParams(good.definition.params) : {},
    inputs: (definition?.inputs ?? {}) as Record<string, Json>,
    ok: isValid,
    stale: !isValid && good !== undefined,
    problems,
    updated_at: toIsoTime(changedAt),
    schedule,
    webhook:
      definition?.webhook === undefined ? null : { path: webhookPath(tenantId, id), ready: isWebhookReady },
    last_runs: lastRuns,
  };
}

function showParams(declared: PipelineDefinition['params'] = {}): Record<string, JsonObject> {
  const shown = Object.entries(declared).map(([name, param]): [string, JsonObject] => [
    name,
    { ...(param as JsonObject), required: param.default === undefined },
  ]);
  return Object.fromEntries(shown);
}

function webhookPath(tenantId: string, id: string): string {
  const query = tenantId === ROOT_TENANT ? '' : `?tenant_id=${encodeURIComponent(tenantId)}`;
  return `/pipelines/${id}/webhook${query}`;
}
