import type { Json } from '../../../common/json/json.js';
import { RenderMeter } from '../../../definition/template/render-meter.js';
import type { TemplateScope } from '../../../definition/template/scope.js';
import { startsWithState } from '../../../definition/template/reference.js';
import type { Template } from '../../../definition/template/template.js';
import type { Pipeline, Task } from '../../../pipelines/pipeline.js';
import {
  type RunDefinition,
  type ItemOutcomes,
  type RerunSource,
  toItemOutcomes,
} from '../../prepare/rerun-source.js';
import type { Tool } from '../../../tools/tool.js';
import type { TaskOutcome } from '../../results.js';
import { Comparison, EqualPairs, isEqualJson } from './comparison.js';
import { isUncertain } from '../task-trace.js';
import { countDefined, findListedTask, ReusableItems } from './reusable-items.js';

type TaskDefinition = Pipeline['definition']['tasks'][number];

/** The fields of a task that determine its output. Other fields say how often and for how long its tool is called. */
const FIELDS_OF_ITEMS = ['tool', 'inputs', 'when', 'await', 'on_item_error'] as const;
const FIELDS_OF_LIST = ['parallel_over'] as const;

/** Namespaces that no task of a run changes. */
export const GIVEN_NAMESPACES: ReadonlySet<string> = new Set(['params', 'pipeline']);

/** Decides what a rerun reuses (D60): tasks and items whose definition, tool and reads are as they were when the task begins. */
export class Reuse {
  readonly #now: RunDefinition;
  readonly #source: RerunSource;
  readonly #published: (taskId: string) => TaskOutcome | undefined;
  readonly #inherited = new Map<string, TaskOutcome>();
  readonly #equalPairs = new EqualPairs();
  /** Created when first needed, like `#writers`. */
  #definitions: { readonly before: Definitions; readonly now: Definitions } | undefined;
  #writers: ReadonlyMap<string, readonly string[]> | undefined;

  /** @param published returns what a task of the rerun has published */
  constructor(
    now: RunDefinition,
    source: RerunSource,
    published: (taskId: string) => TaskOutcome | undefined,
  ) {
    this.#now = now;
    this.#source = source;
    this.#published = published;
  }

  /** Returns the earlier outcome of a task that is as it was. */
  find(task: Task): TaskOutcome | undefined {
    // Handlers do their work for each run anew (D80).
    if (task.handlerOf !== undefined) return undefined;
    const outcome = this.#source.outcomes.get(task.id);
    // Each item with a condition is decided anew (D78).
    if (outcome === undefined || task.itemConditions.length > 0) return undefined;
    if (this.findChange(task) !== undefined) return undefined;
    const { inputs, parallelOver } = task;
    const isAsItWas =
      this.#readsTheSame(task, inputs) &&
      (parallelOver === undefined || this.#readsTheSame(task, parallelOver)) &&
      this.#repeatsTheSame(task) &&
      this.#awaitsTheSame(task);
    return isAsItWas ? outcome : undefined;
  }

  /** Returns what the items of a fan-out can reuse; undefined when they have to run. @param list of the items now */
  findItems(task: Task, list: readonly Json[]): ReusableItems | undefined {
    if (task.handlerOf !== undefined) return undefined;
    const earlier = this.#earlierItems(task);
    const before = this.#source.given?.pipeline.tasks.get(task.id)?.parallelOver;
    if (earlier === undefined || before === undefined || this.#findItemChange(task) !== undefined)
      return undefined;
    if (!this.#readsTheSame(task, task.inputs) || !this.#awaitsTheSame(task)) return undefined;
    const isSameList =
      this.#findListChange(task) === undefined && this.#readsTheSame(task, task.parallelOver);
    const meter = new RenderMeter();
    const earlierList = isSameList ? list : this.#renderEarlier(before, meter);
    const bytes = meter.ownBytes;
    const templates = task.itemConditions.map(({ template }) => template);
    const conditions = templates.every((each) => this.#readsTheSame(task, each)) ? templates : undefined;
    return earlierList && new ReusableItems(task.inputs, conditions, earlier, earlierList, list, bytes);
  }

  /** Call when a task has published its outcome. */
  onPublished(taskId: string, outcome: TaskOutcome): void {
    const before = this.#source.outcomes.get(taskId);
    if (before === outcome) return;
    const changed = this.#compare().findChangedKeys(before?.writes ?? [], outcome.writes);
    for (const key of changed) this.#source.changedKeys.add(key);
  }

  /** Returns the outcome of a task that the rerun has not reached, for its own rerun. Call after those that the task depends on. */
  inherit(task: Task): TaskOutcome | undefined {
    const outcome = this.find(task);
    if (outcome !== undefined) this.#inherited.set(task.id, outcome);
    return outcome;
  }

  /** Returns the outcomes of the items of a task that the rerun has not reached, as `inherit` does. */
  inheritItems(task: Task): ItemOutcomes | undefined {
    const isAsItWas =
      this.findChange(task) === undefined &&
      this.#readsTheSame(task, task.inputs) &&
      this.#readsTheSame(task, task.parallelOver) &&
      this.#awaitsTheSame(task);
    return isAsItWas ? this.#source.items.get(task.id) : undefined;
  }

  /** Returns how many items of a fan-out can be reused, if what is read of them is as it was. */
  countReusableItems(task: Task): number {
    if (task.parallelOver === undefined || this.#findItemChange(task) !== undefined) return 0;
    if (this.findFollowed(task) !== undefined && !this.#isForeseen(task)) return 0;
    return countDefined(this.#earlierItems(task)?.outputs ?? []);
  }

  /** Returns why a task runs again whatever the others do, as the end of a sentence: its definition, tool or given values. */
  findChange(task: Task): string | undefined {
    return this.#findItemChange(task) ?? this.#findListChange(task);
  }

  /** Returns the task whose named items run again, of a fan-out over its output; undefined for any other task. */
  findFollowed({ id, parallelOver }: Task): string | undefined {
    const { named } = this.#source;
    const listed = parallelOver && findListedTask(parallelOver);
    return listed !== undefined && named.has(listed) && named.has(id) ? listed : undefined;
  }

  /** Returns true when nothing that all items of a task read comes from a task that runs. */
  #isForeseen(task: Task): boolean {
    const { tasks } = this.#now.pipeline;
    const isKnown = task.inputs.operands.every(
      ({ expression: { root } }) => !tasks.has(root) || this.#outcomeOf(root) !== undefined,
    );
    return isKnown && this.#readsTheSame(task, task.inputs) && this.#awaitsTheSame(task);
  }

  /** Returns why no item of a task can be reused, whatever the list is. */
  #findItemChange(task: Task): string | undefined {
    const { forced, given } = this.#source;
    const before = given?.pipeline.tasks.get(task.id);
    if (before === undefined) return forced.get(task.id) ?? 'is new';
    return (
      forced.get(task.id) ??
      (isSameTool(before.tool, task.tool) ? undefined : 'calls another tool') ??
      this.#findDefinitionChange(task, before, FIELDS_OF_ITEMS) ??
      this.#findUntilChange(task, before) ??
      this.#findSecretChange(task) ??
      this.#findValueChange(task.inputs) ??
      this.#findConditionChange(task)
    );
  }

  #findListChange(task: Task): string | undefined {
    const before = this.#source.given?.pipeline.tasks.get(task.id);
    return (
      this.#findDefinitionChange(task, before, FIELDS_OF_LIST) ??
      (task.parallelOver && this.#findValueChange(task.parallelOver))
    );
  }

  #findDefinitionChange(
    task: Task,
    before: Task | undefined,
    fields: readonly (keyof TaskDefinition)[],
  ): string | undefined {
    if (task === before) return undefined;
    const definitions = this.#getDefinitions();
    const [earlier, now] = [definitions.before.get(task.id), definitions.now.get(task.id)];
    const changed = fields.filter((field) => !isEqualJson(toJson(earlier?.[field]), toJson(now?.[field])));
    return changed.length === 0 ? undefined : `has changed ${changed.join(', ')}`;
  }

  /** Finds a secret that has another value now, also of a pipeline that the task runs. */
  #findSecretChange({ id }: Task): string | undefined {
    const { contract } = this.#now.pipeline;
    for (const [name, { tasks }] of contract.secrets) {
      const before = this.#source.given?.secretDigests?.get(name);
      if (tasks.has(id) && before !== this.#now.secretDigests?.get(name))
        return `reads the secret "${name}", which has changed`;
    }
    return undefined;
  }

  /** Finds a template that reads another value of what the run was given. */
  #findValueChange({ operands }: Template): string | undefined {
    const { given } = this.#source;
    if (given === undefined) return undefined;
    const [before, now] = [toScope(given), toScope(this.#now)];
    const comparison = this.#compare();
    for (const operand of operands) {
      const { root, source } = operand.expression;
      const isGiven = GIVEN_NAMESPACES.has(root) || root === 'session';
      if (isGiven && !comparison.readsTheSame(operand, before, now))
        return `reads {{${source}}}, which has changed`;
    }
    return undefined;
  }

  /** Finds another condition that ends the rounds (D83); how many rounds there may be makes no difference. */
  #findUntilChange({ id, repeat }: Task, before: Task): string | undefined {
    if (repeat === undefined && before.repeat === undefined) return undefined;
    const { before: earlier, now } = this.#getDefinitions();
    const [a, b] = [earlier.get(id)?.repeat?.until, now.get(id)?.repeat?.until];
    return isEqualJson(toJson(a), toJson(b)) ? undefined : 'has changed repeat.until';
  }

  /** Returns true when the conditions that end the rounds read what they read before from other tasks. */
  #repeatsTheSame(task: Task): boolean {
    return task.repeat?.until.every(({ template }) => this.#readsTheSame(task, template)) ?? true;
  }

  #findConditionChange({ conditions, itemConditions, repeat }: Task): string | undefined {
    for (const { template } of [...conditions, ...itemConditions, ...(repeat?.until ?? [])]) {
      const change = this.#findValueChange(template);
      if (change !== undefined) return change;
    }
    return undefined;
  }

  /** Begins the comparisons for one task. */
  #compare(): Comparison {
    return new Comparison(this.#equalPairs);
  }

  /** Returns true when a template reads what it read before from other tasks, and from keys that they store. */
  #readsTheSame(task: Task, template: Template | undefined): boolean {
    if (template === undefined) return true;
    const before: TemplateScope = toScope(this.#source.given ?? this.#now, (id) =>
      this.#source.outcomes.get(id),
    );
    const now: TemplateScope = toScope(this.#now, (id) => this.#outcomeOf(id));
    const comparison = this.#compare();
    const keys = new Set<string>();
    for (const operand of template.operands) {
      const { root, path } = operand.expression;
      if (root === 'item' || GIVEN_NAMESPACES.has(root)) continue;
      if (root !== 'session') {
        if (startsWithState(path) && isUncertain(this.#now.pipeline.tasks.get(root))) return false;
        if (!comparison.readsTheSame(operand, before, now)) return false;
      } else if (path[0] !== undefined) keys.add(path[0].name ?? String(path[0].index));
    }
    return [...keys].every((key) => this.#isKeyAsItWas(key, task));
  }

  /** Returns true when the tasks in `await` have published the same as before. */
  #awaitsTheSame({ id, upstream }: Task): boolean {
    if (upstream.length === 0) return true;
    const awaited = this.#getDefinitions().now.get(id)?.await ?? [];
    const comparison = this.#compare();
    return awaited.every((other) => {
      const [before, now] = [this.#source.outcomes.get(other), this.#outcomeOf(other)];
      if (before === undefined || now === undefined) return false;
      return before === now || comparison.isEqualOutcome(before, now);
    });
  }

  /** Returns true when a key of the blackboard has the value that the task read. */
  #isKeyAsItWas(key: string, { id }: Task): boolean {
    const { changedKeys, given } = this.#source;
    if (changedKeys.has(key)) return false;
    const wave = given?.pipeline.tasks.get(id)?.wave ?? 0;
    const writers = this.#getWriters().get(key) ?? [];
    return writers.every((writer) => {
      const isEarlier = (given?.pipeline.tasks.get(writer)?.wave ?? 0) < wave;
      return !isEarlier || this.#outcomeOf(writer) !== undefined;
    });
  }

  #outcomeOf(taskId: string): TaskOutcome | undefined {
    return this.#published(taskId) ?? this.#inherited.get(taskId);
  }

  #earlierItems({ id }: Task): ItemOutcomes | undefined {
    const { items, outcomes } = this.#source;
    const outcome = outcomes.get(id);
    return outcome === undefined ? items.get(id) : toItemOutcomes(outcome);
  }

  /** Renders the list that a fan-out had. Returns undefined when the list is not known any more. */
  #renderEarlier(template: Template, meter: RenderMeter): readonly Json[] | undefined {
    const { given, outcomes, items, named } = this.#source;
    if (given === undefined) return undefined;
    const listed = findListedTask(template);
    // Of a task whose named items run again, the others are known: a follower has nothing to reuse for those that run.
    if (listed !== undefined && named.has(listed))
      return items.get(listed)?.outputs.map((output) => output ?? null);
    const scope = { ...toScope(given, (id) => outcomes.get(id)), meter };
    try {
      const list = template.render(scope);
      return Array.isArray(list) ? list : undefined;
    } catch {
      // The template read what was on the blackboard, or its run failed because of it: then every item runs.
      return undefined;
    }
  }

  #getDefinitions(): { readonly before: Definitions; readonly now: Definitions } {
    this.#definitions ??= {
      before: toDefinitions(this.#source.given?.pipeline),
      now: toDefinitions(this.#now.pipeline),
    };
    return this.#definitions;
  }

  /** Returns the tasks that wrote each key, by key. */
  #getWriters(): ReadonlyMap<string, readonly string[]> {
    if (this.#writers !== undefined) return this.#writers;
    const writers = new Map<string, string[]>();
    for (const [id, outcome] of this.#source.outcomes) {
      for (const { key } of outcome.writes) {
        const ids = writers.get(key);
        if (ids === undefined) writers.set(key, [id]);
        else if (ids.at(-1) !== id) ids.push(id);
      }
    }
    this.#writers = writers;
    return writers;
  }
}

type Definitions = ReadonlyMap<string, TaskDefinition>;

function toDefinitions(pipeline: Pipeline | undefined): Definitions {
  return new Map(pipeline?.definition.tasks.map((task) => [task.id, task]));
}

/** A field of a definition, which is JSON. */
function toJson(value: unknown): Json | undefined {
  return value as Json | undefined;
}

function toScope(
  { params, inputs, session, goal }: RunDefinition,
  find: (taskId: string) => TaskOutcome | undefined = () => undefined,
): TemplateScope {
  return { params, inputs, session, goal, output: (taskId) => find(taskId)?.output };
}

/** A reload loads tools again, of which most are as they were. */
function isSameTool(before: Tool, now: Tool): boolean {
  if (before === now) return true;
  if (before.name !== now.name || before.version !== now.version) return false;
  return now.version !== undefined || before.run === now.run;
}
