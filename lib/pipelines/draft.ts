import { isObject, type Json, type JsonObject, toList } from '../common/json/json.js';
import { MAX_GOAL_LENGTH } from '../common/limits.js';
import { ellipsize, formatNumber } from '../common/text.js';
import type { Diagnostic } from '../definition/problems/diagnostic.js';
import { MAX_PROBLEMS, type Path } from '../definition/problems/problem.js';
import type { Steps } from '../common/scheduling/steps.js';
import { compileGoal, type Goal, GOAL_HINT } from '../definition/template/goal.js';
import type { Suggestions } from '../definition/did-you-mean.js';
import type { Expression, TemplateProblem } from '../definition/template/expressions/expression.js';
import { ExpressionTable, MAX_EXPRESSIONS } from '../definition/template/expressions/expression-table.js';
import {
  type KnownNames,
  type Reference,
  resolveReference,
  resolveThis,
  THIS,
} from '../definition/template/reference.js';
import {
  compileInSteps,
  type LocatedText,
  pathOfText,
  type Template,
} from '../definition/template/template.js';
import { textAt } from '../definition/problems/fix.js';
import type { Catalog } from '../tools/catalog.js';
import type { Tool } from '../tools/tool.js';
import { verbatimInputs } from '../tools/inputs/literal-inputs.js';
import { HANDLER_LISTS } from '../definition/schema/fields.js';
import {
  hintForBrokenCondition,
  listConditions,
  listUntil,
  type WrittenCondition,
} from './flow/conditions.js';
import type { TaskList } from './flow/handlers.js';
import type { Upstream } from './flow/waves.js';

/** A reference of a template, and its path in the definition. The references of one text share their path. */
export interface LocatedReference {
  /** The same object for equal templates of the definition. */
  readonly reference: Reference;
  /** The first name of the expression. */
  readonly root: string;
  /** The text between the braces, for messages. */
  readonly source: string;
  readonly expression: Expression;
  /** True when the template has a `??` fallback. */
  readonly hasFallback: boolean;
  /** True when a `$` stands directly before the template. */
  readonly afterDollar: boolean;
  readonly path: Path;
  /** Where the template opens in the text at the path. */
  readonly at: number;
}

/** A condition of a task, with the references of its template (D77). */
interface DraftCondition extends WrittenCondition {
  readonly template: Template;
  readonly references: readonly LocatedReference[];
}

/** A task as far as it can be read, so that the check finds all problems of a broken definition at once. */
export interface DraftTask {
  readonly id: string;
  /** The list in which the task stands: it is a handler in any but `tasks` (D80). */
  readonly list: TaskList;
  readonly tool: string | undefined;
  /** The tool when it is a built-in one; undefined for own tools, also those that replace a built-in one (D58). */
  readonly builtin: string | undefined;
  /** The `usesModel` of the task's tool. */
  readonly usesModel: Tool['usesModel'];
  readonly path: Path;
  /** The fields of the task as they are declared. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly inputs: Template;
  readonly literalInputs: JsonObject;
  /** True when the task has `parallel_over`, of any type. */
  readonly fansOut: boolean;
  readonly parallelOver: Template | undefined;
  readonly parallelOverText: string | undefined;
  readonly awaits: readonly string[];
  readonly conditions: readonly DraftCondition[];
  /** The conditions of `repeat.until` (D83). */
  readonly until: readonly DraftCondition[];
  /** References of the inputs. */
  readonly references: readonly LocatedReference[];
  readonly parallelOverReferences: readonly LocatedReference[];
}

export interface PipelineDraft {
  /** The tasks, then the handlers, list by list. */
  readonly tasks: readonly DraftTask[];
  readonly taskIds: ReadonlySet<string>;
  /** Tasks with `when` or `on_error: continue`. */
  readonly uncertain: ReadonlySet<string>;
  /** The tasks that must run before each task. */
  readonly upstream: Upstream;
  /** Keys of the declared inputs. */
  readonly inputKeys: ReadonlySet<string>;
  /** Keys of the inputs that are declared or that tasks read. */
  readonly usedInputs: ReadonlySet<string>;
  readonly paramNames: ReadonlySet<string>;
  readonly reads: ReadonlySet<string>;
  readonly goal: Goal;
  readonly goalReferences: readonly LocatedReference[];
  /** Memory of the compiled templates, in bytes. */
  readonly compiledBytes: number;
  /** Syntax errors of templates, and too many of them. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads what can be read of a definition; the schema reports wrong types. Some tools have inputs without templates. */
export function readDraft(
  definition: unknown,
  catalog: Catalog,
  suggestions: Suggestions,
): Steps<PipelineDraft> {
  return new DraftReader(isObject(definition) ? definition : {}, catalog, suggestions).read();
}

/** Longest template in a message. */
const MAX_SHOWN = 200;

const REFERENCES_PER_STEP = 200;

const TOO_MANY_EXPRESSIONS: Diagnostic = {
  code: 'too_large',
  message: `the templates of the pipeline are more than ${formatNumber(MAX_EXPRESSIONS)} different ones`,
  path: ['tasks'],
  hint: 'read whole lists and maps instead of each of their members, or divide the pipeline',
};

interface Compiled {
  readonly template: Template;
  readonly texts: readonly LocatedText[];
}

class DraftReader {
  readonly #root: Record<string, unknown>;
  readonly #catalog: Catalog;
  readonly #taskIds: ReadonlySet<string>;
  readonly #names: KnownNames & { readonly uncertain: ReadonlySet<string> };
  readonly #diagnostics: Diagnostic[] = [];
  readonly #table = new ExpressionTable();
  readonly #references = new Map<Expression, Reference>();
  #compiledBytes = 0;

  constructor(root: Record<string, unknown>, catalog: Catalog, suggestions: Suggestions) {
    this.#root = root;
    this.#catalog = catalog;
    const tasks = listWritten(root).map(({ value }) => value);
    this.#taskIds = new Set(tasks.flatMap((task) => (isObject(task) ? (toText(task['id']) ?? []) : [])));
    const uncertain = findUncertain(tasks);
    this.#names = { params: toKeys(root['params']), inputs: toKeys(root['inputs']), uncertain, suggestions };
  }

  *read(): Steps<PipelineDraft> {
    const goal = this.#readGoal();
    const tasks: DraftTask[] = [];
    const upstream = new Map<string, ReadonlySet<string>>();
    const { params: paramNames, inputs: inputKeys } = this.#names;
    const usedInputs = new Set(inputKeys);
    for (const { value, list, index } of listWritten(this.#root)) {
      yield;
      const task = yield* this.#readTask(value, list, [list, index]);
      if (task === undefined) continue;
      tasks.push(task);
      upstream.set(task.id, findUpstream(task, this.#taskIds));
      for (const { reference } of listReferences(task)) {
        if (reference.kind === 'input') usedInputs.add(reference.key);
      }
    }
    if (this.#table.isOverfull) this.#diagnostics.push(TOO_MANY_EXPRESSIONS);
    return {
      tasks,
      taskIds: this.#taskIds,
      uncertain: this.#names.uncertain,
      upstream,
      inputKeys,
      usedInputs,
      paramNames,
      reads: new Set(toTexts(this.#root['reads'])),
      goal,
      goalReferences: this.#resolveGoal(goal),
      compiledBytes: goal.sizeBytes + this.#compiledBytes + this.#table.sizeBytes,
      diagnostics: this.#diagnostics,
    };
  }

  *#readTask(value: unknown, list: TaskList, path: Path): Steps<DraftTask | undefined> {
    if (!isObject(value) || typeof value['id'] !== 'string') return undefined;
    const literalInputs = isObject(value['inputs']) ? (value['inputs'] as JsonObject) : {};
    const tool = toText(value['tool']);
    const registered = tool === undefined ? undefined : this.#catalog.get(tool);
    const verbatim = verbatimInputs(registered);
    const inputsPath = [...path, 'inputs'];
    const { template: inputs, texts } = yield* this.#compile(literalInputs, inputsPath, verbatim);
    const overPath = [...path, 'parallel_over'];
    const overText = toText(value['parallel_over']);
    const over = overText === undefined ? undefined : yield* this.#compile(overText, overPath);
    const conditions = yield* this.#readConditions(listConditions(value['when'], [...path, 'when']));
    return {
      id: value['id'],
      list,
      tool,
      builtin: tool !== undefined && this.#catalog.isBuiltin(tool) ? tool : undefined,
      usesModel: registered?.usesModel,
      path,
      fields: value,
      inputs,
      literalInputs,
      fansOut: Object.hasOwn(value, 'parallel_over'),
      parallelOver: over?.template,
      parallelOverText: overText,
      awaits: toTexts(value['await']),
      conditions,
      until: yield* this.#readConditions(listUntil(value['repeat'], [...path, 'repeat', 'until']), true),
      references: yield* this.#resolveReferences(texts, inputsPath),
      parallelOverReferences: over === undefined ? [] : yield* this.#resolveReferences(over.texts, overPath),
    };
  }

  /** @param isOfRound the conditions read the output of a round as `this` */
  *#readConditions(
    written: readonly WrittenCondition[],
    isOfRound = false,
  ): Steps<readonly DraftCondition[]> {
    const conditions: DraftCondition[] = [];
    for (const condition of written) {
      const { template, texts } = yield* this.#compile(
        condition.value,
        condition.path,
        undefined,
        hintForBrokenCondition,
      );
      const references = yield* this.#resolveReferences(texts, condition.path, isOfRound);
      conditions.push({ ...condition, template, references });
    }
    return conditions;
  }

  /** @param hintFor a text that is no template */
  *#compile(
    value: unknown,
    path: Path,
    verbatim?: ReadonlySet<string>,
    hintFor?: (value: unknown) => string | undefined,
  ): Steps<Compiled> {
    const maxProblems = MAX_PROBLEMS + 1 - this.#diagnostics.length;
    const options = { table: this.#table, verbatim, maxProblems };
    const compilation = yield* compileInSteps((value ?? null) as Json, options);
    const hint = compilation.problems.length === 0 ? undefined : hintFor?.(value);
    for (const problem of compilation.problems) {
      this.#diagnostics.push(describeSyntaxError(problem, [...path, ...problem.path], hint));
    }
    this.#compiledBytes += compilation.sizeBytes;
    return compilation;
  }

  /** The schema reports a goal that is too long to be read. */
  #readGoal(): Goal {
    const text = toText(this.#root['goal']) ?? '';
    const goal = compileGoal(text.length > MAX_GOAL_LENGTH ? '' : text);
    for (const problem of goal.problems) {
      const message = `${problem.message}: the template stays text in the goal`;
      const diagnostic = describeSyntaxError({ ...problem, message, hint: GOAL_HINT }, ['goal']);
      this.#diagnostics.push({ ...diagnostic, severity: 'warning' });
    }
    return goal;
  }

  *#resolveReferences(
    texts: readonly LocatedText[],
    base: Path,
    isOfRound = false,
  ): Steps<LocatedReference[]> {
    const references: LocatedReference[] = [];
    for (const located of texts) {
      for (const { expression, offset } of located.expressions) {
        if (references.length % REFERENCES_PER_STEP === REFERENCES_PER_STEP - 1) yield;
        const isOwn = isOfRound && expression.root === THIS;
        const reference = isOwn ? resolveThis(expression.path) : this.#resolve(expression);
        references.push(new ReferenceInText(reference, expression, offset, base, located));
      }
    }
    return references;
  }

  #resolveGoal({ expressions }: Goal): LocatedReference[] {
    const text = { container: ['goal'], key: undefined, text: textAt(this.#root, ['goal']), expressions };
    return expressions.map(({ expression, offset }) => {
      return new ReferenceInText(this.#resolve(expression), expression, offset, [], text);
    });
  }

  #resolve(expression: Expression): Reference {
    const known = this.#references.get(expression);
    if (known !== undefined) return known;
    const reference = resolveReference(expression, this.#taskIds, this.#names);
    this.#references.set(expression, reference);
    return reference;
  }
}

/** A task as it stands in a list of the definition. */
interface WrittenTask {
  readonly value: unknown;
  readonly list: TaskList;
  readonly index: number;
}

function listWritten(root: Record<string, unknown>): WrittenTask[] {
  const lists: TaskList[] = ['tasks', ...HANDLER_LISTS];
  return lists.flatMap((list) => toList(root[list]).map((value, index) => ({ value, list, index })));
}

/** Finds the tasks that must run before a task: those whose outputs it reads, and those in `await` (rules 5 and 6). */
function findUpstream(task: DraftTask, taskIds: ReadonlySet<string>): ReadonlySet<string> {
  const read = listReferences(task).flatMap(({ reference }) =>
    reference.kind === 'task' ? reference.taskId : [],
  );
  return new Set([...read, ...task.awaits].filter((id) => id !== task.id && taskIds.has(id)));
}

/** A reference of a text. Its path is made when it is read: most are not, and may be long. */
class ReferenceInText implements LocatedReference {
  readonly reference: Reference;
  readonly at: number;
  readonly expression: Expression;
  readonly #base: Path;
  readonly #text: LocatedText;

  constructor(reference: Reference, expression: Expression, at: number, base: Path, text: LocatedText) {
    this.reference = reference;
    this.at = at;
    this.expression = expression;
    this.#base = base;
    this.#text = text;
  }

  get root(): string {
    return this.expression.root;
  }

  get source(): string {
    return ellipsize(this.expression.source, MAX_SHOWN);
  }

  get hasFallback(): boolean {
    return this.expression.fallback !== undefined;
  }

  get afterDollar(): boolean {
    return this.#text.text[this.at - 1] === '$';
  }

  get path(): Path {
    return [...this.#base, ...pathOfText(this.#text)];
  }
}

/** @param hint says how to write the value at the path; default: the hint of the problem */
export function describeSyntaxError(
  problem: TemplateProblem,
  path: Path,
  hint: string | undefined = problem.hint,
): Diagnostic {
  return { code: 'template_syntax', message: problem.message, path, hint, at: problem.start };
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function toTexts(value: unknown): string[] {
  return toList(value).filter((entry) => typeof entry === 'string');
}

function toKeys(value: unknown): ReadonlySet<string> {
  return new Set(isObject(value) ? Object.keys(value) : []);
}

/** Finds the tasks that may be skipped, or fail without their run, by themselves. */
function findUncertain(tasks: readonly unknown[]): ReadonlySet<string> {
  const isUncertain = (task: unknown): task is Record<string, unknown> =>
    isObject(task) && (task['on_error'] === 'continue' || (task['when'] ?? null) !== null);
  return new Set(tasks.filter(isUncertain).flatMap(({ id }) => toText(id) ?? []));
}

/** Lists the references of a task: those of its inputs, of `parallel_over`, of its conditions and of `repeat.until`. */
export function listReferences(task: DraftTask): LocatedReference[] {
  const { references, parallelOverReferences, conditions, until } = task;
  if (conditions.length + until.length === 0) return [...references, ...parallelOverReferences];
  const ofConditions = [...conditions, ...until].flatMap((each) => each.references);
  return [...references, ...parallelOverReferences, ...ofConditions];
}
