import * as fc from 'fast-check';
import {
  DEFAULT,
  HANDLED_BY,
  MODEL_LISTS,
  type ModelCancel,
  type ModelCondition,
  type ModelList,
  type ModelRead,
  type ModelTask,
  predictRun,
} from './run-model.js';

/** A random pipeline, and what happens to its run. */
export interface ModelScenario {
  readonly tasks: readonly ModelTask[];
  readonly cancel: ModelCancel | undefined;
  /** After which commits the process of the run ends, one process after another. */
  readonly crashes: readonly number[];
}

/** Counts back through the tasks that may be read, mostly to one of the last; there may be none. */
const anyPick = fc.oneof(fc.nat(1), fc.nat(11));

const anyRead = fc.record({
  pick: anyPick,
  member: fc.constantFrom('output', 'output', 'output', 'output.x', 'status', 'error'),
  hasDefault: fc.constantFrom(false, false, true),
});

const anyCondition = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('param'),
      value: fc.constantFrom(true, true, false),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('missing') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('value'), read: anyRead }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('state'),
      pick: anyPick,
      is: fc.constantFrom('succeeded', 'failed', 'skipped'),
    }),
  },
);

const anyTask = fc.record({
  /** Orders the declarations: templates read forwards, too. */
  rank: fc.nat(9),
  reads: fc.array(anyRead, { maxLength: 2 }),
  awaits: fc.array(anyPick, { maxLength: 1 }),
  when: fc.oneof(
    { weight: 3, arbitrary: fc.array(anyCondition, { maxLength: 0 }) },
    { weight: 2, arbitrary: fc.array(anyCondition, { minLength: 1, maxLength: 2 }) },
  ),
  tolerates: fc.constantFrom(false, false, true),
  fails: fc.constantFrom('never', 'never', 'never', 'once', 'always'),
  value: fc.constantFrom(true, { x: 1 }, { x: false }, 5, 'text', null, false, 0, 'false', {}),
  // A turn of the spec may let one pass before it sees that the task is at work.
  ms: fc.integer({ min: 2, max: 4 }),
  items: fc.constantFrom(undefined, undefined, undefined, 1, 2, 3),
  skipsZero: fc.boolean(),
});

const anyHandler = fc.record({
  /** Most handlers stand in lists that run. */
  list: fc.constantFrom(
    'matching',
    'matching',
    'finally',
    'finally',
    'on_success',
    'on_failure',
    'on_cancel',
  ),
  task: anyTask,
});

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;
type DrawnTask = Drawn<typeof anyTask>;
type DrawnRead = Drawn<typeof anyRead>;
type DrawnCondition = Drawn<typeof anyCondition>;

/** Has a state that templates may read (D79). */
function hasState({ when, tolerates, skipsZero }: ModelTask): boolean {
  return when.length > 0 || tolerates || skipsZero;
}

/** Turns what was drawn for a task into a task that reads only what it may read. */
class TaskBuilder {
  readonly #readable: readonly ModelTask[];

  constructor(readable: readonly ModelTask[]) {
    this.#readable = readable;
  }

  build({ id, list, task: drawn }: Draft): ModelTask {
    const { reads, awaits, when, tolerates, fails, value, ms, items } = drawn;
    return {
      id,
      list,
      reads: reads.flatMap((read) => this.#toRead(read, items !== undefined)),
      awaits: [...new Set(awaits.flatMap((pick) => this.#pick(pick)?.id ?? []))],
      when: when.flatMap((condition) => this.#toCondition(condition)),
      tolerates,
      fails,
      value,
      ms,
      items,
      skipsZero: items !== undefined && drawn.skipsZero,
    };
  }

  #pick(pick: number): ModelTask | undefined {
    return this.#readable.at(-1 - (pick % Math.max(1, this.#readable.length)));
  }

  /** @param isFanOut its items would fail one by one where a value is missing */
  #toRead({ pick, member, hasDefault }: DrawnRead, isFanOut = false): ModelRead[] {
    const task = this.#pick(pick);
    if (task === undefined) return [];
    // Validation refuses a field of a list, unless the template has a default.
    const isField = hasDefault || (!isFanOut && task.items === undefined);
    const isPossible = member === 'output.x' ? isField : hasState(task);
    return [{ of: task.id, member: isPossible ? member : 'output', hasDefault }];
  }

  #toCondition(condition: DrawnCondition): ModelCondition[] {
    switch (condition.kind) {
      case 'param':
        return [{ kind: 'param', value: condition.value }];
      case 'missing':
        return [{ kind: 'missing' }];
      case 'value':
        // Validation refuses a status alone, of which a condition always holds.
        return this.#toRead(condition.read)
          .filter(({ member, hasDefault }) => member !== 'status' || hasDefault)
          .map((read) => ({ kind: 'value', read }));
      case 'state': {
        const task = this.#pick(condition.pick);
        return task !== undefined && hasState(task) ? [{ kind: 'state', of: task.id, is: condition.is }] : [];
      }
    }
  }
}

/** Handlers read tasks and earlier handlers of their list, those of `finally` also handlers of the other lists. */
function mayRead(list: ModelList, other: ModelList): boolean {
  return other === 'tasks' || other === list || list === 'finally';
}

interface Draft {
  readonly id: string;
  readonly list: ModelList;
  readonly task: DrawnTask;
}

function buildTasks(drafts: readonly Draft[]): ModelTask[] {
  const built: { readonly task: ModelTask; readonly rank: number }[] = [];
  for (const list of MODEL_LISTS) {
    for (const draft of drafts.filter((each) => each.list === list)) {
      const readable = built.flatMap(({ task }) => (mayRead(list, task.list) ? [task] : []));
      built.push({ task: new TaskBuilder(readable).build(draft), rank: draft.task.rank });
    }
  }
  return MODEL_LISTS.flatMap((list) =>
    built
      .filter(({ task }) => task.list === list)
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ task }) => task),
  );
}

export const anyScenario: fc.Arbitrary<ModelScenario> = fc
  .record({
    tasks: fc.array(anyTask, { minLength: 1, maxLength: 8 }),
    handlers: fc.array(anyHandler, { maxLength: 4 }),
    cancel: fc.constantFrom(undefined, undefined, undefined, 'queue', 'task', 'task', 'handler', 'handler'),
    during: fc.nat(7),
    force: fc.boolean(),
    crashes: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
  })
  .map(({ tasks, handlers, cancel: when, during, force, crashes }) => {
    const drafts = tasks.map((task, index): Draft => ({ id: `t${index}`, list: 'tasks', task }));
    const task = `t${during % tasks.length}`;
    const moments = { queue: undefined, task, handler: `h${during % Math.max(1, handlers.length)}` };
    const cancel = when && { during: moments[when], force };
    const { status } = predictRun(buildTasks(drafts), cancel);
    const matching = HANDLED_BY[status];
    for (const [index, { list, task }] of handlers.entries()) {
      drafts.push({ id: `h${index}`, list: list === 'matching' ? matching : list, task });
    }
    return { tasks: buildTasks(drafts), cancel, crashes };
  });

/** The definition of tasks, in flow style. */
export function toDefinition(tasks: readonly ModelTask[]): { readonly head: string; readonly tasks: string } {
  const listed = (list: ModelList): string =>
    tasks
      .filter((task) => task.list === list)
      .map(toText)
      .join(',\n  ');
  const handlers = MODEL_LISTS.slice(1).flatMap((list) => {
    const text = listed(list);
    return text === '' ? [] : [`${list}: [\n  ${text}],`];
  });
  const params = ['true', 'false'].map(
    (value) => `is_${value}: {type: boolean, description: d, default: ${value}}`,
  );
  return { head: [`params: {${params.join(', ')}},`, ...handlers].join('\n'), tasks: listed('tasks') };
}

function toText({
  id,
  list,
  reads,
  awaits,
  when,
  tolerates,
  fails,
  value,
  ms,
  items,
  skipsZero,
}: ModelTask): string {
  const conditions = when.map(toConditionText);
  if (skipsZero) conditions.push('"{{item}}"');
  const isFanOut = items !== undefined;
  const fields = [
    `id: ${id}, tool: script`,
    ...(awaits.length > 0 ? [`await: [${awaits.join(', ')}]`] : []),
    ...(conditions.length > 0 ? [`when: [${conditions.join(', ')}]`] : []),
    ...(tolerates ? ['on_error: continue'] : []),
    ...(fails === 'once' ? ['retry: 1, retry_delay: 0.001'] : []),
    ...(isFanOut ? [`parallel_over: "{{pipeline.inputs.items${items}}}"`] : []),
  ];
  const failing = fails === 'always' && isFanOut ? '"{{item}}"' : fails === 'never' ? 0 : 1;
  const inputs = [
    `ms: ${ms}, fails: ${failing}, value: ${JSON.stringify(value)}`,
    ...(isFanOut ? ['item: "{{item}}"'] : []),
    ...reads.map((read, index) => `r${index}: ${toTemplate(read)}`),
    ...(list === 'tasks'
      ? []
      : ['status: "{{run.status}}", error: "{{run.error}}", failed: "{{run.failed_task}}"']),
  ];
  return `{${fields.join(', ')}, inputs: {${inputs.join(', ')}}}`;
}

function toTemplate({ of, member, hasDefault }: ModelRead): string {
  return `"{{${of}.${member}${hasDefault ? ` ?? ${DEFAULT}` : ''}}}"`;
}

function toConditionText(condition: ModelCondition): string {
  if (condition.kind === 'param') return `"{{params.is_${condition.value}}}"`;
  if (condition.kind === 'missing') return '"{{pipeline.inputs.items1[9]}}"';
  if (condition.kind === 'value') return toTemplate(condition.read);
  return `{value: "{{${condition.of}.status}}", const: ${condition.is}}`;
}
