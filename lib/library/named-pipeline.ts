import type { Json, JsonObject } from '../common/json/json.js';
import type { RunStatus } from '../../machines/types.js';
import { toIsoTime } from '../common/clock.js';
import type { Problem } from '../definition/problems/problem.js';
import type { DefinitionKind } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import type { RunSummary } from '../runs/record.js';
import { ROOT_TENANT } from './list-files.js';
import type { FolderEntry } from './folder-entries.js';

/** The outcome of a time at which a schedule was due. */
export interface LastDue {
  readonly due_at: string;
  /** Null when no run was started. */
  readonly run_id: string | null;
  readonly outcome: 'started' | 'skipped' | 'queued' | 'missed' | 'failed';
  /** Why no run was started, or not in time. */
  readonly reason?: string;
  /** How many times were missed, this one included; 100 stands for all above. */
  readonly missed?: number;
}

/** A schedule as the API shows it (D70). */
export interface ShownSchedule {
  readonly cron: readonly string[];
  readonly timezone: string;
  readonly overlap: 'skip' | 'queue' | 'allow';
  readonly catch_up: boolean;
  /** True when the times of the schedule start nothing, and are not missed. */
  readonly paused: boolean;
  /** The next three times, in ISO 8601; none while the schedule is paused. */
  readonly next_runs: readonly string[];
  /** Null before the first time since the schedule is known. */
  readonly last: LastDue | null;
}

/** One of the last runs of a named pipeline or plan. */
export interface LastRun {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly created_at: string;
  readonly finished_at: string | null;
}

/** A pipeline or a plan of the folder (D69). */
export interface NamedPipeline {
  readonly id: string;
  readonly kind: DefinitionKind;
  readonly tenant_id: string;
  /** Relative to the folder. */
  readonly file: string;
  readonly goal: string;
  readonly description: string | null;
  /** As the definition declares them, each with `required`. */
  readonly params: Readonly<Record<string, JsonObject>>;
  /** The default values. */
  readonly inputs: Readonly<Record<string, Json>>;
  /** The file as it is now can run. */
  readonly ok: boolean;
  /** True when the file as it is now cannot run, and an earlier version stays in use. */
  readonly stale: boolean;
  /** Of the file as it is now. */
  readonly problems: readonly Problem[];
  /** When the file has changed, in ISO 8601. */
  readonly updated_at: string;
  readonly schedule: ShownSchedule | null;
  readonly webhook: {
    readonly path: string /** The server has its secret. */;
    readonly ready: boolean;
  } | null;
  /** The newest first. */
  readonly last_runs: readonly LastRun[];
}

/** One page of named pipelines and plans. */
export interface NamedPage {
  readonly pipelines: readonly NamedPipeline[];
  readonly next_cursor: string | null;
}

/** The schedule and the webhook that start an entry. */
export interface ShownStart {
  /** Null when the entry has no schedule. */
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

/** Bytes of an entry as the API shows it. */
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

/** Shows an entry as the API does. */
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
