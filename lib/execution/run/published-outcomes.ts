import { type Json, setOwn } from '../../common/json/json.js';

import type { PreparedRun } from '../prepare/prepare-run.js';
import type { TaskOutcome } from '../results.js';
import { NO_WRITES, type Write } from '../session/session-overrides.js';

/** The memory of a smaller outcome, which has an output only, is not remembered. */
const SMALL_OUTCOME_BYTES = 1024;

/** The outcomes that the tasks of one pipeline have published. */
export class PublishedOutcomes {
  /** Task id to output (rule 4), in the order in which tasks begin: undefined until the task has succeeded. */
  readonly outputs: Record<string, Json> = {};
  /** By task id, in the order of their publication; only large ones, and those with more than an output. */
  #outcomes: Map<string, TaskOutcome> | undefined;

  begin(taskId: string): void {
    setOwn(this.outputs, taskId, undefined);
  }

  fail(taskId: string): void {
    delete this.outputs[taskId];
  }

  add(taskId: string, outcome: TaskOutcome): void {
    setOwn(this.outputs, taskId, outcome.output);
    const { sizeBytes, writes, collected } = outcome;
    if (sizeBytes <= SMALL_OUTCOME_BYTES && writes.length === 0 && collected === undefined) return;
    this.#outcomes ??= new Map();
    this.#outcomes.set(taskId, outcome);
  }

  /** Undefined unless the task has succeeded. */
  get(taskId: string): TaskOutcome | undefined {
    const output = Object.hasOwn(this.outputs, taskId) ? this.outputs[taskId] : undefined;
    if (output === undefined) return undefined;
    return this.#outcomes?.get(taskId) ?? { output, writes: NO_WRITES, sizeBytes: SMALL_OUTCOME_BYTES };
  }

  /** Returns the writes of each task of the waves before this one, in the order of their publication. */
  writesBefore(wave: number, pipeline: PreparedRun['pipeline']): readonly (readonly Write[])[] {
    const lists: (readonly Write[])[] = [];
    for (const [taskId, { writes }] of this.#outcomes ?? []) {
      if ((pipeline.allTasks.get(taskId)?.wave ?? 0) < wave) lists.push(writes);
    }
    return lists;
  }

  /** The outputs of tasks or of handlers: all of them are in one map, which templates read. */
  outputsOf({ handlers }: PreparedRun['pipeline'], part: 'tasks' | 'handlers'): Record<string, Json> {
    if (handlers === undefined) return part === 'tasks' ? this.outputs : {};
    const isHandler = part === 'handlers';
    return Object.fromEntries(
      Object.entries(this.outputs).filter(([taskId]) => handlers.tasks.has(taskId) === isHandler),
    );
  }
}
