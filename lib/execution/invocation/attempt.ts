import { ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json.js';
import { joinFirst } from '../../common/text.js';
import type { ToolBlackboard, ToolContext } from '../../tools/tool.js';
import { toJsonOutput } from '../json-output.js';
import type { CallingAttempt, InvocationServices } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';

const NO_WRITES: readonly Write[] = [];

/** Maximum number of declared stores in an error message. */
const MAX_LISTED_STORES = 20;

/**
 * One attempt of an invocation: the context that the tool receives. Blackboard writes stay here until the attempt has
 * succeeded, so that a failed attempt writes nothing.
 */
export class Attempt implements ToolContext, CallingAttempt {
  readonly run_id: string;
  readonly task_id: string;
  readonly item_index: number | null;
  readonly attempt: number;
  /** An error that fails the attempt even when the tool catches it. */
  permanentError: ToolError | undefined;
  #writes: Write[] | undefined;
  #controller: AbortController | undefined;
  #endListeners: Set<() => void> | undefined;
  #isOver = false;
  readonly #services: InvocationServices;

  constructor(services: InvocationServices, taskId: string, item: number | undefined, attempt: number) {
    this.#services = services;
    this.run_id = services.prepared.id;
    this.task_id = taskId;
    this.item_index = item ?? null;
    this.attempt = attempt;
  }

  // Created when first read: most tools never do, and a controller costs more than the rest of an attempt.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  // Closures instead of methods, so that a tool may destructure `{ log, blackboard }`.
  get blackboard(): ToolBlackboard {
    return {
      getAll: () => this.#services.session.readAll(),
      readMany: (keys) => this.#services.session.readMany(keys),
      write: (key, value, append = false) => this.#write(key, value, append),
    };
  }

  get log(): ToolContext['log'] {
    return (message) => this.#log(message);
  }

  get memory(): Map<string, unknown> {
    return this.#services.memory;
  }

  get clock(): ToolContext['clock'] {
    return this.#services.dependencies.clock;
  }

  get files(): ToolContext['files'] {
    return this.#services.dependencies.files;
  }

  get runPipeline(): ToolContext['runPipeline'] {
    return (call) => {
      const outcome = this.#services.nestedRuns.run(call, this);
      // A tool that does not await the outcome must not end the process; one that awaits it still gets the rejection.
      outcome.catch(() => undefined);
      return outcome;
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onEnd(listener: () => void): () => void {
    this.#endListeners ??= new Set();
    this.#endListeners.add(listener);
    return () => this.#endListeners?.delete(listener);
  }

  addWrites(writes: readonly Write[]): void {
    if (this.#isOver || writes.length === 0) return;
    this.#writes = [...(this.#writes ?? []), ...writes];
  }

  /** Sums the memory of the writes. A value that is also the output, as with the tool `store`, does not count again. */
  measureWrites(output: Json): number {
    let sum = 0;
    for (const { value, sizeBytes } of this.#writes ?? NO_WRITES) if (value !== output) sum += sizeBytes;
    return sum;
  }

  /** Ends the attempt and returns its writes. Later writes are dropped with a log message. */
  close(): readonly Write[] {
    this.#isOver = true;
    for (const listener of this.#endListeners ?? []) listener();
    this.#endListeners = undefined;
    return this.#writes ?? NO_WRITES;
  }

  /** Aborts the signal, whether the tool has read it already or reads it later. */
  abort(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }

  #write(key: string, value: unknown, append: boolean): void {
    if (this.#isOver) return this.#log(`dropped the write to "${key}": the attempt is over`);
    this.#assertDeclared(key);
    const output = toJsonOutput(value, {
      limitBytes: this.#services.dependencies.outputLimitBytes,
      artifactPath: () => key,
    });
    if (output.ok && output.artifacts.length > 0) {
      throw ToolError.nonRetryable(`"${key}" was not written: the blackboard cannot hold bytes`);
    }
    if (!output.ok) throw ToolError.nonRetryable(`"${key}" was not written: ${output.error}`);
    this.#writes ??= [];
    this.#writes.push({ key, value: output.value, append, sizeBytes: output.sizeBytes });
  }

  /** Rejects a key that the plan does not declare among the sub-pipeline's stores (D46). */
  #assertDeclared(key: string): void {
    const stores = this.#services.parent?.stores;
    if (stores === undefined || stores.keys.has(key)) return;
    const declared = stores.keys.size === 0 ? 'none' : joinFirst([...stores.keys], MAX_LISTED_STORES);
    this.permanentError ??= ToolError.nonRetryable(
      `"${key}" was not written: sub-pipeline "${stores.subPipeline}" may not store it; its stores are ${declared}`,
    );
    throw this.permanentError;
  }

  #log(message: string): void {
    const item = this.item_index === null ? {} : { item: this.item_index };
    this.#services.journal.write({ kind: 'log', task_id: this.task_id, ...item, message });
  }
}
