import type { Json, JsonObject } from '../../../../lib/common/json/json.js';

/**
 * A model of a run, written from the reference and from nothing of the product: which tasks and handlers run, are skipped,
 * fail or are not reached, what their calls are given, and how the run ends.
 */
export const MODEL_LISTS = ['tasks', 'on_success', 'on_failure', 'on_cancel', 'finally'] as const;

export type ModelList = (typeof MODEL_LISTS)[number];

/** A template that reads another task, such as `{{t0.output.x ?? 7}}`. */
export interface ModelRead {
  readonly of: string;
  readonly member: 'output' | 'output.x' | 'status' | 'error';
  readonly hasDefault: boolean;
}

export type ModelCondition =
  | { readonly kind: 'param'; readonly value: boolean }
  /** Reads what nobody has given. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'value'; readonly read: ModelRead }
  | { readonly kind: 'state'; readonly of: string; readonly is: ModelState };

export interface ModelTask {
  readonly id: string;
  readonly list: ModelList;
  /** The templates of its inputs. */
  readonly reads: readonly ModelRead[];
  readonly awaits: readonly string[];
  readonly when: readonly ModelCondition[];
  /** Its failure fails no run. */
  readonly tolerates: boolean;
  /** The attempts of a call that fail; of a fan-out, `always` is about the items after the first. */
  readonly fails: 'never' | 'once' | 'always';
  /** Each call returns this. */
  readonly value: Json;
  /** How long an attempt takes. */
  readonly ms: number;
  /** The number of items of a fan-out over 0, 1, 2 …; undefined for a task that calls its tool once. */
  readonly items: number | undefined;
  /** A condition of the fan-out skips its item 0. */
  readonly skipsZero: boolean;
}

/** A cancel before the run begins, or as soon as a task or a handler is at work. */
export interface ModelCancel {
  readonly during: string | undefined;
  readonly force: boolean;
}

export type ModelState = 'succeeded' | 'failed' | 'skipped' | 'not reached';

export interface ModelFailure {
  readonly task_id: string;
  readonly item?: number;
  readonly error: string;
  readonly attempts: number;
  readonly tolerated?: true;
}

export interface ModelWave {
  readonly wave: number;
  readonly list: ModelList;
  readonly ids: readonly string[];
}

export interface Prediction {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly error: string | null;
  readonly failedTask: string | null;
  readonly states: Readonly<Record<string, ModelState>>;
  readonly outputs: JsonObject | null;
  readonly handlers: JsonObject | undefined;
  readonly failures: readonly ModelFailure[];
  readonly handlerFailures: readonly ModelFailure[] | undefined;
  readonly skipped: readonly string[];
  /** Inputs of the attempts, by task, item and attempt. */
  readonly calls: Readonly<Record<string, JsonObject>>;
  /** The waves that began, in their order. */
  readonly waves: readonly ModelWave[];
  readonly progress: JsonObject;
}

export const DEFAULT = 7;
const BROKE = 'broke';
const STOPPED = 'stopped by force';
/** Stands for every text about a value that is missing. */
export const MISSING = 'missing';

/** The list of handlers that an end runs, before `finally` (D80). */
export const HANDLED_BY = { succeeded: 'on_success', failed: 'on_failure', cancelled: 'on_cancel' } as const;

/** Returns the name of a call: `t0`, `t0[2]`. */
export function nameOf(id: string, item: number | null | undefined): string {
  return item === undefined || item === null ? id : `${id}[${item}]`;
}

/** The tasks that must have ended before a task: those that it reads (rule 5), and awaits (rule 6). */
function needsOf({ reads, awaits, when }: ModelTask): string[] {
  const conditions = when.flatMap((condition) => {
    if (condition.kind === 'value') return [condition.read.of];
    return condition.kind === 'state' ? [condition.of] : [];
  });
  return [...reads.map(({ of }) => of), ...awaits, ...conditions];
}

/** The outputs without which a task is skipped (D78). */
function outputsNeeded({ reads, when }: ModelTask): string[] {
  const all = [...reads, ...when.flatMap((each) => (each.kind === 'value' ? [each.read] : []))];
  return all.flatMap(({ of, member, hasDefault }) =>
    member.startsWith('output') && !hasDefault ? [of] : [],
  );
}

/** The waves of one list (rule 1): a task is in the first wave after all that it needs of the same list. */
function layer(tasks: readonly ModelTask[]): ModelTask[][] {
  const waveOf = new Map<string, number>();
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const place = (task: ModelTask): number => {
    const known = waveOf.get(task.id);
    if (known !== undefined) return known;
    const needs = needsOf(task).flatMap((id) => byId.get(id) ?? []);
    const wave = Math.max(-1, ...needs.map(place)) + 1;
    waveOf.set(task.id, wave);
    return wave;
  };
  const waves: ModelTask[][] = [];
  for (const task of tasks) (waves[place(task)] ??= []).push(task);
  return waves;
}

/** Returns true unless the value is one of those with which a condition does not hold (D77). */
function holds(value: Json): boolean {
  if (value === null || value === false || value === 0 || value === '' || value === 'false') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** The end of a run, as templates of its handlers read it. */
interface ModelEnd {
  readonly status: Prediction['status'];
  readonly error: string | null;
  readonly failed: string | null;
}

class RunModel {
  readonly #tasks: readonly ModelTask[];
  readonly #cancel: ModelCancel | undefined;
  readonly #states = new Map<string, 'succeeded' | 'failed' | 'skipped'>();
  readonly #outputs = new Map<string, Json>();
  readonly #errors = new Map<string, string>();
  readonly #failures: ModelFailure[] = [];
  readonly #handlerFailures: ModelFailure[] = [];
  readonly #skipped: string[] = [];
  readonly #calls: Record<string, JsonObject> = {};
  readonly #waves: ModelWave[] = [];
  #invocations = 0;
  #end: ModelEnd | undefined;

  constructor(tasks: readonly ModelTask[], cancel: ModelCancel | undefined) {
    this.#tasks = tasks;
    this.#cancel = cancel;
  }

  run(): Prediction {
    const hasBegun = this.#cancel === undefined || this.#cancel.during !== undefined;
    const status = hasBegun ? this.#runTasks() : 'cancelled';
    const cause =
      status === 'failed' ? this.#failures.find(({ tolerated }) => tolerated !== true) : undefined;
    this.#end = {
      status,
      error: cause?.error ?? null,
      failed: cause === undefined ? null : nameOf(cause.task_id, cause.item),
    };
    if (hasBegun && this.#runHandlers(HANDLED_BY[status])) this.#runHandlers('finally');
    return this.#toPrediction(this.#end);
  }

  #listed(list: ModelList): ModelTask[] {
    return this.#tasks.filter((task) => task.list === list);
  }

  /** Runs wave after wave, until a task has failed (D16) or the run is cancelled (rule 12). */
  #runTasks(): Prediction['status'] {
    for (const [wave, tasks] of layer(this.#listed('tasks')).entries()) {
      const { hasFailed, isCancelled } = this.#runWave(wave, tasks);
      if (isCancelled) return 'cancelled';
      if (hasFailed) return 'failed';
    }
    return 'succeeded';
  }

  /** Runs a list until a handler fails (D80). Returns false when no other list may run: the handlers were stopped by force. */
  #runHandlers(list: ModelList): boolean {
    const first = MODEL_LISTS.slice(0, MODEL_LISTS.indexOf(list))
      .map((earlier) => layer(this.#listed(earlier)).length)
      .reduce((sum, waves) => sum + waves, 0);
    for (const [wave, handlers] of layer(this.#listed(list)).entries()) {
      const { hasFailed, isStopped } = this.#runWave(first + wave, handlers);
      if (isStopped) return false;
      if (hasFailed) break;
    }
    return true;
  }

  #runWave(
    wave: number,
    tasks: readonly ModelTask[],
  ): { readonly hasFailed: boolean; readonly isCancelled: boolean; readonly isStopped: boolean } {
    const [{ list } = { list: 'tasks' as const }] = tasks;
    this.#waves.push({ wave, list, ids: tasks.map(({ id }) => id) });
    const calling = tasks.filter((task) => this.#begin(task));
    const isCancelled = calling.some(
      (task) => task.id === this.#cancel?.during && this.#itemsCalled(task).length > 0,
    );
    const isStopped = isCancelled && this.#cancel?.force === true;
    // All begin at once and end one after another, unless they are stopped.
    const ending = isStopped ? calling : calling.toSorted((a, b) => a.ms - b.ms);
    for (const task of ending) this.#call(task, isStopped);
    const hasFailed = tasks.some(({ id, tolerates }) => this.#states.get(id) === 'failed' && !tolerates);
    return { hasFailed, isCancelled, isStopped };
  }

  /** Decides whether a task calls its tool: it may be skipped (D77, D78), or lack a value (D13). */
  #begin(task: ModelTask): boolean {
    if (outputsNeeded(task).some((id) => !this.#outputs.has(id))) return this.#skip(task);
    for (const condition of task.when) {
      const value = this.#look(condition);
      if (value === undefined) return this.#refuse(task);
      if (!holds(value)) return this.#skip(task);
    }
    return task.reads.some((read) => this.#read(read) === undefined) ? this.#refuse(task) : true;
  }

  #skip({ id }: ModelTask): false {
    this.#states.set(id, 'skipped');
    this.#skipped.push(id);
    return false;
  }

  #refuse(task: ModelTask): false {
    this.#fail(task, undefined, MISSING, 0);
    return false;
  }

  #fail({ id, list, tolerates }: ModelTask, item: number | undefined, error: string, attempts: number): void {
    this.#states.set(id, 'failed');
    if (!this.#errors.has(id)) this.#errors.set(id, error);
    (list === 'tasks' ? this.#failures : this.#handlerFailures).push({
      task_id: id,
      ...(item !== undefined && { item }),
      error,
      attempts,
      ...(tolerates && { tolerated: true }),
    });
  }

  #look(condition: ModelCondition): Json | undefined {
    if (condition.kind === 'param') return condition.value;
    if (condition.kind === 'missing') return undefined;
    if (condition.kind === 'value') return this.#read(condition.read);
    return this.#read({ of: condition.of, member: 'status', hasDefault: false }) === condition.is;
  }

  /** The value of a template; undefined when it is missing. A default takes the place of null, too. */
  #read({ of, member, hasDefault }: ModelRead): Json | undefined {
    const value = this.#member(of, member);
    return hasDefault ? (value ?? DEFAULT) : value;
  }

  #member(of: string, member: ModelRead['member']): Json | undefined {
    // Of a task that has not begun, handlers read that it was skipped.
    if (member === 'status') return this.#states.get(of) ?? 'skipped';
    if (member === 'error') return this.#errors.get(of) ?? null;
    const output = this.#outputs.get(of);
    if (member === 'output') return output;
    const isMap = typeof output === 'object' && output !== null && !Array.isArray(output);
    return isMap ? output['x'] : undefined;
  }

  /** The items for which the tool is called; for a task that is no fan-out, undefined in their place. */
  #itemsCalled({ items, skipsZero }: ModelTask): (number | undefined)[] {
    if (items === undefined) return [undefined];
    return Array.from({ length: items }, (_, item) => item).slice(skipsZero ? 1 : 0);
  }

  #call(task: ModelTask, isStopped: boolean): void {
    const { id, list, items, skipsZero, fails, value } = task;
    if (!this.#states.has(id)) this.#states.set(id, 'succeeded');
    for (const item of this.#itemsCalled(task)) {
      if (list === 'tasks') this.#invocations++;
      const attempts = fails === 'once' && !isStopped ? 2 : 1;
      for (let attempt = 1; attempt <= attempts; attempt++) {
        this.#calls[`${nameOf(id, item)}#${attempt}`] = this.#inputsOf(task, item);
      }
      if (isStopped) this.#fail(task, item, STOPPED, 1);
      else if (fails === 'always' && item !== 0) this.#fail(task, item, BROKE, 1);
    }
    if (this.#states.get(id) === 'failed') return;
    const values = Array.from({ length: items ?? 0 }, (_, item) => (skipsZero && item === 0 ? null : value));
    this.#outputs.set(id, items === undefined ? value : values);
  }

  #inputsOf({ list, reads }: ModelTask, item: number | undefined): JsonObject {
    const values = reads.map((read, index) => [`r${index}`, this.#read(read) ?? null] as const);
    const run = list === 'tasks' ? {} : { ...this.#end };
    return { ...Object.fromEntries(values), ...run, ...(item !== undefined && { item }) };
  }

  #toPrediction({ status, error, failed }: ModelEnd): Prediction {
    const waves = layer(this.#listed('tasks'));
    const tasks = this.#listed('tasks');
    const hasHandlers = tasks.length < this.#tasks.length;
    const begun = this.#waves.filter(({ list }) => list === 'tasks');
    const executed = begun.filter(({ ids }) => ids.some((id) => this.#states.get(id) !== 'skipped'));
    return {
      status,
      error,
      failedTask: failed,
      states: Object.fromEntries(this.#tasks.map(({ id }) => [id, this.#states.get(id) ?? 'not reached'])),
      outputs: status === 'succeeded' ? this.#outputsOf(tasks) : null,
      handlers: hasHandlers ? this.#outputsOf(this.#tasks.filter(({ list }) => list !== 'tasks')) : undefined,
      failures: this.#failures,
      handlerFailures: hasHandlers ? this.#handlerFailures : undefined,
      skipped: this.#skipped,
      calls: this.#calls,
      waves: this.#waves,
      progress: {
        waves: waves.length,
        waves_executed: executed.length,
        tasks: tasks.length,
        tasks_settled: begun.flatMap(({ ids }) => ids).length,
        invocations: this.#invocations,
      },
    };
  }

  #outputsOf(tasks: readonly ModelTask[]): JsonObject {
    return Object.fromEntries(
      tasks.flatMap(({ id }) => (this.#outputs.has(id) ? [[id, this.#outputs.get(id) ?? null]] : [])),
    );
  }
}

/** Says how a run ends, by the reference. @param tasks in the order of their declaration, list by list */
export function predictRun(tasks: readonly ModelTask[], cancel: ModelCancel | undefined): Prediction {
  return new RunModel(tasks, cancel).run();
}
