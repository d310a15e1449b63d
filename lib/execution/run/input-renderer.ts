import { errorMessage } from '../../common/errors.js';
import { type Json, type JsonObject, toList } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { Expression } from '../../definition/template/expressions/expression.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { TaskMembers, TemplateScope } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { copyToJson } from '../invocation/json-output.js';
import type { Write } from '../session/session-overrides.js';
import { StoredValues } from '../session/stored-values.js';
import { readState } from './task-trace.js';
import type { ReadablePipelineRun, ReadableSubRun } from './readable-run.js';

const WRITES_PER_STEP = 5000;
const EXPRESSIONS_PER_STEP = 5000;

/** So many writes that are looked through count as a byte that was rendered, so that a page ends. */
const WRITES_PER_BYTE = 4;

/** A value that was rendered again, or why it cannot be. */
type Rendered<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

export type RenderedInputs = Rendered<JsonObject>;

/** A fan-out that was rendered again. */
export interface RenderedItems {
  readonly items: readonly Json[];
  render(item: number): RenderedInputs;
}

/** A run of a pipeline, of which the inputs of tasks are rendered. */
type RenderedRun = Pick<ReadablePipelineRun, 'prepared' | 'work'>;

/** The values that other runs stored before a sub-pipeline began; none for a pipeline by itself. */
export interface EarlierStores {
  readonly session: JsonObject;
  /** The writes of each task, in order. */
  readonly writes: readonly (readonly Write[])[];
}

/** Renders the inputs of tasks again from what their run keeps: storing them would take memory, and few are looked at (D59). */
export class InputRenderer {
  /** Memory of what was rendered so far, in bytes. */
  renderedBytes = 0;
  readonly #run: RenderedRun;
  readonly #findEarlier: () => EarlierStores;
  readonly #hold: (bytes: number) => void;
  /** The part of the session that the tasks of a wave have read: the keys that their templates name. */
  #session: { readonly wave: number; readonly values: JsonObject } | undefined;

  /** @param findEarlier is called when a task has read the session @param hold takes memory for what was rendered; may throw */
  constructor(run: RenderedRun, findEarlier: () => EarlierStores, hold: (bytes: number) => void) {
    this.#run = run;
    this.#findEarlier = findEarlier;
    this.#hold = hold;
  }

  /** Call before the inputs of a task, or its items, are rendered: what it read from the session may be very much. */
  *prepare({ wave, inputs, parallelOver }: Task): Steps<void> {
    const { templates } = this.#run.prepared.pipeline;
    // The templates of a run that waits are dropped.
    if (templates.needsSteps) yield* templates.compile();
    const isReader = readsSession(inputs) || readsSession(parallelOver);
    if (!isReader || this.#session?.wave === wave || !this.#run.prepared.ownsBlackboard) return;
    const { session, writes } = this.#findEarlier();
    const values = new StoredValues(session, yield* this.#listKeysReadIn(wave));
    let count = 0;
    for (const list of [...writes, ...this.#run.work.writesBefore(wave)]) {
      for (const write of list) {
        values.apply(write);
        if (++count % WRITES_PER_STEP === 0) yield;
      }
    }
    this.renderedBytes += Math.floor(count / WRITES_PER_BYTE);
    this.#count(values.bytes);
    this.#session = { wave, values: values.values };
  }

  /** The keys of the session that the tasks of a wave read. */
  *#listKeysReadIn(wave: number): Steps<ReadonlySet<string>> {
    const { allTasks, allWaves } = this.#run.prepared.pipeline;
    const keys = new Set<string>();
    for (const taskId of allWaves[wave] ?? []) {
      const task = allTasks.get(taskId);
      for (const template of [task?.inputs, task?.parallelOver]) {
        let count = 0;
        for (const { expression } of template?.operands ?? []) {
          const key = findSessionKey(expression);
          if (key !== undefined) keys.add(key);
          if (++count % EXPRESSIONS_PER_STEP === 0) yield;
        }
      }
      yield;
    }
    return keys;
  }

  /** Renders the inputs of a task that calls its tool once. */
  renderInputs(task: Task): RenderedInputs {
    const scope = this.#createScope(task);
    const rendered = this.#attempt(() => this.#complete(task, task.inputs.render(scope)));
    this.#count(scope.meter.ownBytes);
    return rendered;
  }

  /** Renders the list of a fan-out, and on request the inputs of its items. */
  renderItems(task: Task): Rendered<RenderedItems> {
    const scope = this.#createScope(task);
    const { meter } = scope;
    const list = this.#renderList(task, scope);
    this.#count(meter.ownBytes);
    if (!list.ok) return list;
    const items = toList(list.value) as readonly Json[];
    const shown = toList(this.#mask(list.value)) as readonly Json[];
    const renderItem = task.inputs.bind(scope);
    const render = (item: number): RenderedInputs => {
      const { sharedBytes } = meter;
      meter.start();
      const rendered = this.#attempt(() => this.#complete(task, renderItem(items[item] ?? null, item)));
      this.#count(meter.ownBytes + meter.sharedBytes - sharedBytes);
      return rendered;
    };
    return { ok: true, value: { items: shown, render } };
  }

  /** Renders the list of a fan-out as its run has read it, also with secrets that it was given in another way. */
  *renderList(task: Task): Steps<Rendered<Json>> {
    yield* this.prepare(task);
    const scope = this.#createScope(task);
    const list = this.#renderList(task, scope);
    this.#count(scope.meter.ownBytes);
    return list;
  }

  #renderList(task: Task, scope: TaskScope): Rendered<Json> {
    return this.#attempt(() => task.parallelOver?.render(scope) ?? null);
  }

  #attempt<T>(render: () => T): Rendered<T> {
    try {
      return { ok: true, value: render() };
    } catch (error) {
      return { ok: false, error: errorMessage(error, this.#run.prepared.secrets.masker?.mask) };
    }
  }

  #count(bytes: number): void {
    this.renderedBytes += bytes;
    this.#hold(bytes);
  }

  /** Adds the tool's defaults, unless the inputs are invalid, and masks secrets that the run was given in another way. */
  #complete({ tool }: Task, rendered: Json): JsonObject {
    const validated = validateInputs(tool, rendered as JsonObject);
    return this.#mask(validated.ok ? validated.inputs : rendered) as JsonObject;
  }

  #mask(value: Json): Json {
    const { masker } = this.#run.prepared.secrets;
    return masker === undefined ? value : copyToJson(value, masker).json;
  }

  #createScope({ wave }: Task): TaskScope {
    return new TaskScope(this.#run, this.#session?.wave === wave ? this.#session.values : {});
  }
}

/** The values that the templates of a task read when it began. */
class TaskScope implements TemplateScope {
  readonly meter = new RenderMeter();
  readonly inputs: JsonObject;
  readonly params: JsonObject;
  readonly goal: string;
  readonly secrets: Readonly<Record<string, string>> | undefined;
  readonly #run: RenderedRun;
  readonly #session: JsonObject;
  #namespace: JsonObject | undefined;

  constructor(run: RenderedRun, session: JsonObject) {
    this.inputs = run.prepared.inputs;
    this.params = run.prepared.params;
    this.goal = run.prepared.goal;
    this.secrets = run.prepared.secrets.maskedValues;
    this.#run = run;
    this.#session = session;
  }

  /** @throws Error when nobody knows what the session was */
  get session(): JsonObject {
    if (this.#run.prepared.ownsBlackboard) return this.#session;
    throw new Error('it read the session, whose blackboard others may have written to since');
  }

  stateOf(taskId: string): TaskMembers | undefined {
    const { prepared, work } = this.#run;
    return readState(prepared.pipeline.allTasks.get(taskId), work.getTrace(taskId));
  }

  get run(): JsonObject | undefined {
    return (this.#namespace ??= this.#run.work.runNamespace);
  }

  output(taskId: string): Json | undefined {
    return this.#run.work.getOutcome(taskId)?.output;
  }
}

function readsSession(template: Task['inputs'] | undefined): boolean {
  return template?.operands.some(({ expression }) => findSessionKey(expression) !== undefined) ?? false;
}

/** The key of the session that an expression reads; undefined when it reads something else. */
function findSessionKey({ root, path: [key] }: Expression): string | undefined {
  return root === 'session' ? (key?.name ?? key?.index?.toString()) : undefined;
}

/** The session of a plan as a sub-pipeline found it: a sub-pipeline that it reads from had ended before (D45). */
export function earlierStores(
  session: JsonObject,
  begun: Iterable<ReadableSubRun>,
  reader: ReadableSubRun,
): EarlierStores {
  const { startedAt } = reader;
  const ended = [...begun].filter(
    ({ finishedAt }) => finishedAt !== null && startedAt !== null && finishedAt <= startedAt,
  );
  ended.sort((a, b) => (a.finishedAt ?? 0) - (b.finishedAt ?? 0));
  return {
    session,
    writes: ended
      .filter((run) => run !== reader)
      .flatMap(({ work }) => work.writesBefore(Number.POSITIVE_INFINITY)),
  };
}
