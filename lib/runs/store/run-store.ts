import type { AuditLimits, AuditStore } from '../../audit/audit-store.js';
import type { Labels } from '../../common/wire/labels.js';
import type { RunTrigger, StartedBy } from '../../common/wire/started-by.js';
import type { JsonObject } from '../../common/json/json.js';
import type { Fact } from '../../execution/history/fact.js';
import type { FactLog } from '../../execution/history/run-history.js';
import type { Breakpoints, ExecutionOptions } from '../../execution/prepare/run-inputs.js';
import type { RunGroup } from '../../execution/prepare/run-group.js';
import type { SubmittedKeys } from '../../execution/prepare/prepare-run.js';
import type { SourcePart } from '../rerun/source-parts.js';
import type { ForgottenKey, IdempotencyKey, KeyStore } from '../idempotency.js';
import type { RunArchive, StoredRunHead } from './run-archive.js';

/** The command line of a run of the shell, as far as a rerun needs it. Its paths are absolute. */
export interface SavedCommand {
  /** The process that runs it, or has run it. */
  readonly pid: number;
  readonly cwd: string;
  /** Undefined when the definition came from standard input. */
  readonly file?: string;
  readonly tools?: string[];
  readonly mcp?: string;
  readonly model?: string;
  readonly output_folder: string;
}

/** The request with which a run was accepted, as JSON: enough to create the run again. */
export interface StoredSubmission {
  readonly kind: 'pipeline' | 'plan';
  /** Of the pipeline or the plan. */
  readonly definition: JsonObject;
  /** Of a plan: the definitions of its pipelines, by sub-pipeline id. */
  readonly pipelines?: Readonly<Record<string, JsonObject>>;
  /** The text of the definition, when it was submitted as one; earlier versions have kept none. */
  readonly submitted_text?: string;
  readonly params?: JsonObject;
  readonly inputs?: JsonObject;
  readonly session?: JsonObject;
  readonly options?: ExecutionOptions;
  readonly breakpoints?: Breakpoints;
  /** Without those of the definition; earlier versions have kept none. */
  readonly labels?: Labels;
  readonly collect_events?: boolean;
  readonly plan_concurrency?: number;
  readonly tenant_id: string;
  /** The params and inputs that were submitted: the others have their defaults. */
  readonly submitted_keys: SubmittedKeys;
  readonly idempotency?: IdempotencyKey;
  /** The schedule or webhook that has started the run; none for a request or a person, or from an earlier version. */
  readonly trigger?: RunTrigger;
  /** The caller, or the part of Wavetrain, that has started the run; earlier versions have kept none. */
  readonly started_by?: StartedBy;
  /** The definition is one of the folder of the server; earlier versions have kept nothing of that. */
  readonly is_of_folder?: boolean;
  /** Of a run that is held to the `max_running` of its definition (D81). */
  readonly group?: RunGroup;
  /** The version and the catalog that have checked the definition; earlier versions have kept none. */
  readonly checked_by?: string;
  /** The run that this one repeats in part (D35). The parts of it that may be reused are kept after the submission. */
  readonly rerun?: { readonly run_id: string };
  /** Of a run of the shell. */
  readonly command?: SavedCommand;
}

export interface StoredRun extends Pick<StoredRunHead, 'id' | 'number' | 'createdAt'> {
  readonly submission: StoredSubmission;
}

/** The parts that a rerun may reuse: they are kept with the submission. */
export interface KeptSource {
  /** About as many as all parts take. */
  readonly bytes: number;
  readonly parts: Iterable<SourcePart>;
}

/** The items of a fan-out that somebody looks at: they follow each other. */
export interface WantedItems {
  /** Empty for the submitted pipeline; a sub-pipeline of a plan. */
  readonly place: string;
  readonly task: string;
  readonly first: number;
  readonly last: number;
}

/** An entry of a run, in the order in which they are kept: the parts that a rerun may reuse, then the facts. */
export type StoredFact = SourcePart | Fact;

/** How facts are read. */
export interface FactsReading {
  /** Whose turn it is to read: the tenant of the run. */
  readonly tenantId?: string | undefined;
  /** Facts of other items of the same fan-out may be left out. */
  readonly only?: WantedItems | undefined;
  /** Is called before a part is parsed, with about as many bytes as that takes; what it throws ends the reading. */
  readonly take?: ((bytes: number) => void) | undefined;
}

/**
 * Keeps runs for another process (D68). Facts are kept in the order in which a run appends them, each as a whole or not
 * at all; a promise about a run waits until its facts are kept.
 */
export interface RunStore extends KeyStore {
  /** Where the runs are kept, for people: `wavetrain.db`. */
  readonly place: string;
  /** The folder for the files of its runs, absolute; undefined when they have none that outlives the process. */
  readonly filesFolder?: string;
  /** Runs go on when they cannot be kept any more: nothing was promised to others. */
  readonly isOptional: boolean;
  /** The number of the run that was added last; 0 before the first. */
  readonly lastNumber: number;
  /** When the run was accepted that was added last, in milliseconds since 1970, UTC; 0 before the first. */
  readonly lastCreatedAt: number;
  /** Undefined for a store whose settled runs are read into memory when it is opened. */
  readonly archive?: RunArchive;
  /** Opens the audit of a server (D95), once. Undefined for a store that keeps none. */
  readonly openAudit?: (limits: AuditLimits) => Promise<AuditStore>;
  /** Adds a run, before the first of its facts. @param source of a rerun */
  add(run: StoredRun, source?: KeptSource): void;
  /** The facts of a run that was added. @param tenantId of the run */
  log(runId: string, tenantId: string): FactLog;
  /** Deletes a run with its facts. */
  remove(runId: string): void;
  /** Resolves when everything so far is kept, or never will be. */
  idle(): Promise<void>;
  /** Calls the listener, once, when something could not be kept: the store keeps nothing from then on. */
  onFailure(listener: (error: Error) => void): void;
  /**
   * Lists the runs that are kept, in the order in which they were accepted: with an archive, those whose end is not in it.
   * Takes little time for each.
   */
  heads(): AsyncIterable<StoredRunHead>;
  /** Reads what a run was accepted with; undefined when the run is not kept any more. */
  submission(runId: string, reading?: Pick<FactsReading, 'tenantId'>): Promise<StoredSubmission | undefined>;
  /** Reads the keys of runs that are no longer kept (D36), in the order in which they expire. */
  keys(): Promise<readonly ForgottenKey[]>;
  /** Reads what is kept of a run besides its submission, in order. */
  facts(runId: string, reading?: FactsReading): Promise<readonly StoredFact[]>;
  /** Resolves when everything so far is kept, and nobody else is kept from opening the store. */
  close(): Promise<void>;
}
