import { ToolError } from '../../../common/errors.js';
import { describeKind, type Json } from '../../../common/json/json.js';
import { MAX_LOG_LENGTH } from '../../../common/limits.js';
import { cutText, joinFirst, showValue } from '../../../common/text.js';
import type { ModelAnswer, ModelRequest, TokenCounts } from '../../../models/model.js';
import { measureRequest } from '../../../models/request-size.js';
import type { ToolBlackboard, ToolContext } from '../../../tools/tool.js';
import type { ArtifactContent } from '../../../tools/files/artifacts.js';
import { toJsonOutput } from '../json-output.js';
import { eventLoopBudget } from '../../run/event-loop-budget.js';
import type { CallingAttempt, InvocationServices, StoppableRun } from '../../run-context.js';
import { NO_WRITES, type Write } from '../../session/session-overrides.js';
import { ModelEvents } from './model-events.js';
import { findNameOwner } from '../files/artifact-names.js';
import type { Call } from '../call.js';
import { InvocationModels } from './invocation-models.js';
import { OutsideAccess } from './outside-access.js';
import { openArtifact } from '../files/open-artifact.js';
import { StagedFiles } from '../files/staged-files.js';

/** Memory of a write without its key and value. */
const WRITE_BYTES = 128;

/** Maximum number of declared stores in an error message. */
const MAX_LISTED_STORES = 20;

/** The context of a tool in one attempt. Blackboard writes stay here until the attempt succeeds: a failed one writes nothing. */
export class AttemptContext implements ToolContext, CallingAttempt {
  readonly attempt: number;
  readonly calls: number;
  /** An error that fails the attempt even when the tool catches it. */
  permanentError: ToolError | undefined;
  #writes: Write[] | undefined;
  #writtenBytes = 0;
  #heldBytes = 0;
  #controller: AbortController | undefined;
  #stagedFiles: StagedFiles | undefined;
  #nestedRuns: Set<StoppableRun> | undefined;
  #modelRequests = 0;
  #calls = 0;
  /** Stops the requests to models when the attempt is over, so that nobody pays for answers that nobody reads. */
  #modelController: AbortController | undefined;
  #isOver = false;
  readonly #services: InvocationServices;
  readonly #call: Call;

  /** @param call whose attempt begins */
  constructor(services: InvocationServices, call: Call) {
    this.#services = services;
    this.#call = call;
    this.attempt = ++call.attempts;
    this.calls = services.countCalls(call.task.tool.name, 1);
  }

  /** For subclasses. A protected property would be printed by a tool that prints its context, with the secrets of the run. */
  protected static servicesOf(attempt: AttemptContext): InvocationServices {
    return attempt.#services;
  }

  protected static callOf(attempt: AttemptContext): Call {
    return attempt.#call;
  }

  get run_id(): string {
    return this.#services.prepared.id;
  }

  get tenant_id(): string {
    return this.#services.prepared.tenantId;
  }

  get task_id(): string {
    return this.#call.task.id;
  }

  get item_index(): number | null {
    return this.#call.item ?? null;
  }

  // The key is made when it is read: most tools never read it.
  get invocation_key(): string {
    const item = this.item_index === null ? '' : `[${this.item_index}]`;
    return `${this.run_id}/${this.#services.keyPath}${this.task_id}${item}`;
  }

  // The controller is created when the signal is first read: it costs more than the rest of an attempt.
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
    return this.#outside.files;
  }

  get fetch(): ToolContext['fetch'] {
    return this.#outside.fetch;
  }

  get connect(): ToolContext['connect'] {
    return this.#outside.connect;
  }

  get authorities(): ToolContext['authorities'] {
    return this.#outside.authorities;
  }

  get connections(): ToolContext['connections'] {
    return this.#outside.connections;
  }

  get command(): ToolContext['command'] {
    return this.#outside.command;
  }

  get #outside(): OutsideAccess {
    return new OutsideAccess(this.#services, this);
  }

  get holdMemory(): ToolContext['holdMemory'] {
    return (bytes) => {
      if (this.#isOver) throw ToolError.nonRetryable('the attempt is over');
      this.#services.budget.reserve(bytes);
      this.#heldBytes += bytes;
    };
  }

  get llm(): ToolContext['llm'] {
    return {
      generate: (request) => {
        const answer = this.#generate(request);
        // As for nested runs: a tool that has failed meanwhile does not await its answer any more.
        answer.catch(() => undefined);
        return answer;
      },
    };
  }

  get #models(): InvocationModels {
    return (this.#call.models ??= new InvocationModels(this.#services.dependencies.models));
  }

  async #generate(request: ModelRequest): Promise<ModelAnswer> {
    const { tenant_id, clock, pauseTimeout, task_id, item_index: index } = this;
    const place = { task_id, ...(index !== null && { item: index }) };
    const events = new ModelEvents(this.#services, place, () => ++this.#modelRequests);
    const onUsage = (model: string, usage: TokenCounts): void => events.addUsage(model, usage);
    const onText = (part: string): void => {
      request.onText?.(part);
      events.add(part);
    };
    // Thousands of prompts may wait for the provider.
    const bytes = measureRequest(request);
    this.holdMemory(bytes);
    this.#modelController ??= new AbortController();
    const { signal } = this.#modelController;
    const onRequest = (): void => events.begin();
    const onWait = (model: string): (() => void) => events.waitFor(model);
    const caller = { tenant_id, clock, signal, pauseTimeout, onUsage, onRequest, onWait };
    try {
      return await this.#models.generate({ ...request, onText }, caller);
    } finally {
      events.flush();
      this.#releaseMemory(bytes);
    }
  }

  /** Returns held memory, unless the end of the attempt has returned it already. */
  #releaseMemory(bytes: number): void {
    if (this.#isOver) return;
    this.#services.budget.release(bytes);
    this.#heldBytes -= bytes;
  }

  get artifacts(): ToolContext['artifacts'] {
    return {
      write: async (file) => {
        this.#assertNoSecret(file);
        return this.stagedFiles.write(file);
      },
      open: (name) => {
        const { dependencies, prepared } = this.#services;
        return openArtifact(dependencies.artifacts, prepared.id, name);
      },
    };
  }

  /** The names of files are listed in the record, and are no texts that could be masked (D61). */
  #assertNoSecret({ name, media_type: mediaType }: ArtifactContent): void {
    const { masker } = this.#services.prepared.secrets;
    if (masker === undefined) return;
    for (const text of [name, mediaType]) {
      if (typeof text !== 'string' || masker.mask(text) === text) continue;
      throw ToolError.nonRetryable(
        'the file was not written: a secret is part of its name or its media type',
      );
    }
  }

  /** Created when first needed: most tools write no files. */
  get stagedFiles(): StagedFiles {
    if (this.#stagedFiles !== undefined) return this.#stagedFiles;
    const { dependencies, prepared, journal, parent } = this.#services;
    const { task_id: taskId, item_index: index } = this;
    const item = index ?? undefined;
    const { sub_pipeline, within } = journal.location;
    const folder = dependencies.artifacts.open(prepared.id, journal.budget);
    this.#stagedFiles = new StagedFiles(
      folder,
      findNameOwner(folder.names.namesOf(prepared), taskId, item, within),
      {
        ...(sub_pipeline !== undefined && { sub_pipeline }),
        task_id: taskId,
        ...(item !== undefined && { item }),
      },
      parent?.callingAttempt?.stagedFiles,
      eventLoopBudget.forTenant(prepared.tenantId),
    );
    if (this.#isOver) this.#stagedFiles.discard();
    return this.#stagedFiles;
  }

  /** True when files are to be published before the attempt has succeeded. */
  get hasFiles(): boolean {
    return this.#stagedFiles !== undefined;
  }

  get runPipeline(): ToolContext['runPipeline'] {
    return (call) => {
      const outcome = this.#services.nestedRuns.run(call, this, this.#models.within(this));
      // A tool that does not await the outcome must not end the process; one that awaits it still gets the rejection.
      outcome.catch(() => undefined);
      return outcome;
    };
  }

  get pauseTimeout(): ToolContext['pauseTimeout'] {
    // The limit of a call is that of its latest attempt.
    return () => (this.#isOver ? undefined : this.#call.timeLimit?.pause()) ?? (() => undefined);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  addNestedRun(run: StoppableRun): void {
    this.#nestedRuns ??= new Set();
    this.#nestedRuns.add(run);
    if (this.#isOver) run.cancel(true);
  }

  countCall(): number {
    return this.#calls++;
  }

  deleteNestedRun(run: StoppableRun): void {
    this.#nestedRuns?.delete(run);
  }

  /** Resolves when no nested run of the attempt is at work any more; undefined when none is. */
  get nestedRunsSettled(): Promise<unknown> | undefined {
    if (this.#nestedRuns === undefined) return undefined;
    const atWork = [...this.#nestedRuns].filter(({ isSettled }) => !isSettled);
    return atWork.length === 0 ? undefined : Promise.all(atWork.map(({ settled }) => settled));
  }

  addWrites(writes: readonly Write[]): void {
    if (this.#isOver) return;
    for (const write of writes) this.#addWrite(write);
  }

  /** Memory of the writes, taken from the run. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Returns true for a value that was also written, as by the tool `store`: its memory is taken already. */
  hasWritten(output: Json): boolean {
    return this.#writes?.some(({ value }) => value === output) ?? false;
  }

  /** Returns the memory of the writes of an attempt that has failed, and removes its files. */
  discardWrites(): void {
    this.#stagedFiles?.discard();
    this.#services.budget.release(this.#writtenBytes);
    this.#writtenBytes = 0;
  }

  /** @throws ToolError, not retryable, when the run has no memory left */
  #addWrite(write: Write): void {
    const bytes = WRITE_BYTES + write.key.length + write.sizeBytes;
    this.#services.budget.reserve(bytes);
    this.#writtenBytes += bytes;
    this.#writes ??= [];
    this.#writes.push(write);
  }

  get writes(): readonly Write[] {
    return this.#writes ?? NO_WRITES;
  }

  /** Ends the attempt and stops its nested runs and requests to models. Later writes are dropped with a log message. */
  close(): void {
    this.#isOver = true;
    this.#services.budget.release(this.#heldBytes);
    this.#heldBytes = 0;
    for (const run of this.#nestedRuns ?? []) run.cancel(true);
    this.#modelController?.abort(ToolError.nonRetryable('the attempt is over'));
  }

  /** Aborts the signal, whether the tool has read it already or reads it later. */
  abortSignal(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }

  #write(key: string, value: unknown, append: boolean): void {
    if (typeof key !== 'string') {
      throw ToolError.nonRetryable(
        `the key of a value on the blackboard must be a text, not ${describeKind(key)}`,
      );
    }
    if (this.#isOver) return this.#log(`dropped the write to "${key}": the attempt is over`);
    this.#assertDeclared(key);
    const { masker } = this.#services.prepared.secrets;
    const output = toJsonOutput(value, {
      masker,
      limitBytes: this.#services.dependencies.outputLimitBytes,
      artifactPath: () => key,
    });
    if (output.ok && output.artifacts.length > 0) {
      throw ToolError.nonRetryable(`"${key}" was not written: the blackboard cannot hold bytes`);
    }
    if (!output.ok) throw ToolError.nonRetryable(`"${key}" was not written: ${output.error}`);
    this.#addWrite({
      key: masker === undefined ? key : masker.mask(key),
      value: output.value,
      append,
      sizeBytes: output.sizeBytes,
    });
  }

  /** Rejects a key that the plan does not declare (D46). A templated `store` may write it unless others list it (D55). */
  #assertDeclared(key: string): void {
    const { parent, prepared } = this.#services;
    if (parent?.stores === undefined || parent.stores.keys.has(key)) return;
    const { subPipeline, keys, plan } = parent.stores;
    const isTemplated = prepared.pipeline.contract.templatedStores.has(this.task_id);
    const other = isTemplated ? plan.findOtherUser(key, subPipeline) : undefined;
    if (isTemplated && other === undefined) return;
    const reason = other === undefined ? '' : `, because "${other}" lists it`;
    const declared = keys.size === 0 ? 'none' : joinFirst([...keys], MAX_LISTED_STORES);
    this.permanentError ??= ToolError.nonRetryable(
      `"${key}" was not written: sub-pipeline "${subPipeline}" may not store it${reason}; its stores are ${declared}`,
    );
    throw this.permanentError;
  }

  /** A tool may be written in JavaScript, and log anything. */
  #log(value: unknown): void {
    if (!this.#services.journal.isObserved) return;
    const message = cutText(this.#services.prepared.secrets.mask(showValue(value)), MAX_LOG_LENGTH);
    const item = this.item_index === null ? {} : { item: this.item_index };
    this.#services.journal.write({ kind: 'log', task_id: this.task_id, ...item, message });
  }
}
