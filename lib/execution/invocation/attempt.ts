import { ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json.js';
import type { ToolBlackboard, ToolContext } from '../../tools/tool.js';
import { toOutput } from '../json-output.js';
import type { CallingAttempt, InvocationServices } from '../run-context.js';
import type { Write } from '../session/given-values.js';

const NO_WRITES: readonly Write[] = [];

/**
 * One try of an invocation, and what surrounds the tool meanwhile. Its blackboard writes stay here until the
 * attempt has succeeded, so that a failed or repeated one writes nothing.
 */
export class Attempt implements ToolContext, CallingAttempt {
  readonly run_id: string;
  readonly task_id: string;
  readonly item_index: number | null;
  readonly attempt: number;
  /** Why it cannot succeed any more, whatever the tool makes of the error it was given. */
  refusal: ToolError | undefined;
  #writes: Write[] | undefined;
  #controller: AbortController | undefined;
  /** What is to end with it. */
  #ends: Set<() => void> | undefined;
  #isOver = false;
  readonly #services: InvocationServices;

  constructor(services: InvocationServices, taskId: string, item: number | undefined, attempt: number) {
    this.#services = services;
    this.run_id = services.runId;
    this.task_id = taskId;
    this.item_index = item ?? null;
    this.attempt = attempt;
  }

  // Made when a tool asks for it: most never do, and a controller costs more than the rest of an attempt.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  // Closures and not methods, so that a tool may take `{ log, blackboard }` apart.
  get blackboard(): ToolBlackboard {
    return {
      get_all: () => this.#services.session.readAll(),
      read_many: (keys) => this.#services.session.readMany(keys),
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
    return this.#services.clock;
  }

  get files(): ToolContext['files'] {
    return this.#services.files;
  }

  get run_pipeline(): ToolContext['run_pipeline'] {
    return (call) => {
      const outcome = this.#services.runPipeline(call, this);
      // A tool that does not wait for it must not end the process; one that waits is told all the same.
      outcome.catch(() => undefined);
      return outcome;
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  whenOver(end: () => void): () => void {
    this.#ends ??= new Set();
    this.#ends.add(end);
    return () => this.#ends?.delete(end);
  }

  take(writes: readonly Write[]): void {
    if (this.#isOver || writes.length === 0) return;
    this.#writes = [...(this.#writes ?? []), ...writes];
  }

  /** What its writes take in memory beside its output, which `store` writes as it is. */
  weightBeside(output: Json): number {
    let sum = 0;
    for (const { value, weight } of this.#writes ?? NO_WRITES) if (value !== output) sum += weight;
    return sum;
  }

  /** Ends the attempt and gives what it wrote; what it writes from now on is dropped, and its log says so. */
  close(): readonly Write[] {
    this.#isOver = true;
    for (const end of this.#ends ?? []) end();
    this.#ends = undefined;
    return this.#writes ?? NO_WRITES;
  }

  #write(key: string, value: unknown, append: boolean): void {
    if (this.#isOver) return this.#log(`"${key}" was written after the attempt was over, and dropped`);
    this.#refuseUndeclared(key);
    const json = toOutput(value, { limitBytes: this.#services.outputLimitBytes, artifactPath: () => key });
    if (json.ok && json.artifacts.length > 0) {
      throw new ToolError(`"${key}" was not written: the blackboard holds no bytes`, { retryable: false });
    }
    if (!json.ok) throw new ToolError(`"${key}" was not written: ${json.error}`, { retryable: false });
    this.#writes ??= [];
    this.#writes.push({ key, value: json.value, append, weight: json.weight });
  }

  /** A sub-pipeline writes what its plan says, and nothing else (D46). */
  #refuseUndeclared(key: string): void {
    const { stores } = this.#services;
    if (stores === undefined || stores.keys.has(key)) return;
    const among = stores.keys.size === 0 ? 'none' : [...stores.keys].slice(0, 20).join(', ');
    this.refusal ??= new ToolError(
      `"${key}" was not written: sub-pipeline "${stores.subPipeline}" may not store it; its stores are ${among}`,
      { retryable: false },
    );
    throw this.refusal;
  }

  #log(message: string): void {
    const item = this.item_index === null ? {} : { item: this.item_index };
    this.#services.journal.write({ kind: 'log', task_id: this.task_id, ...item, message });
  }

  /** Tells a tool to stop, whether it listens already or asks for the signal only later. */
  stop(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}
