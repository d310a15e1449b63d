import type { LiveEvent } from '../../execution/events/event.js';
import type { OpenInspection } from '../../runs/inspection/inspection.js';
import type { RunRecord } from '../../runs/record.js';
import type { QueriesApi, RegistryApi } from '../context.js';
import type { StopSignals } from '../process-events.js';
import type { TaskReader } from './run-end.js';
import type { WrittenFiles } from './written-files.js';

/** Executes a run, by the registry of this process or on a server. */
export interface RunBackend extends Pick<RegistryApi, 'cancel'>, Pick<QueriesApi, 'settled'> {
  /** Shows the tasks and the items of the run. */
  readonly reader: TaskReader & Pick<QueriesApi, 'items'>;
  /** The record of the run, and its calls that have failed; undefined for a run of a server. */
  readonly queries?: Pick<QueriesApi, 'record' | 'failedCalls'> | undefined;
  /** Lets a paused run go on. Rejects with `run_not_paused`. */
  resume(runId: string, by: 'continue' | 'step'): Promise<void>;
  /** Starts the run. Resolves with the run id. */
  start(options: StartOptions): Promise<string>;
  /**
   * Finds the files of a settled run, or downloads them. Call before `release`.
   *
   * @param signals the first one ends a download
   */
  writtenFiles(record: RunRecord, signals: Pick<StopSignals, 'first'>): Promise<WrittenFiles>;
  /** Call when nobody needs the run any more. Resolves when the process may end. */
  release(runId: string): Promise<void>;
}

export interface StartOptions {
  /** Receives each event; undefined when nobody wants them, so that the run need not create any. */
  readonly onEvent: ((event: LiveEvent) => void) | undefined;
  /** Receives what the actors do, for a recording; undefined when nobody wants it. Only in this process. */
  readonly onInspection?: ((inspection: OpenInspection, record: RunRecord) => void) | undefined;
  /** Prints a line among the events. */
  readonly print: (line: string) => void;
}
