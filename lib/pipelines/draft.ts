import { isObject, type Json, type JsonObject, toList } from '../common/json.js';
import type { Diagnostic } from '../definition/diagnostic.js';
import type { Path } from '../definition/problem.js';
import type { Expression } from '../definition/template/expression.js';
import { type Reference, resolveReference } from '../definition/template/reference.js';
import {
  compileTemplate,
  type LocatedTemplateProblem,
  type Template,
} from '../definition/template/template.js';
import type { Catalog } from '../tools/catalog.js';
import { verbatimInputs } from '../tools/inputs/literal-inputs.js';
import type { Upstream } from './waves.js';

/** A reference of a template, and its path in the definition. */
export interface LocatedReference {
  readonly reference: Reference;
  readonly source: string;
  /** It has a `??` fallback. */
  readonly hasFallback: boolean;
  readonly path: Path;
}

/** A task as far as it can be read, so that the check finds all problems of a broken definition at once. */
export interface DraftTask {
  readonly id: string;
  readonly tool: string | undefined;
  readonly path: Path;
  readonly inputs: Template;
  readonly literalInputs: JsonObject;
  /** It has `parallel_over`, of any type. */
  readonly fansOut: boolean;
  readonly parallelOver: Template | undefined;
  readonly parallelOverText: string | undefined;
  readonly awaits: readonly string[];
  /** References of the inputs. */
  readonly references: readonly LocatedReference[];
  readonly parallelOverReferences: readonly LocatedReference[];
}

export interface PipelineDraft {
  readonly tasks: readonly DraftTask[];
  readonly taskIds: ReadonlySet<string>;
  /** The tasks that must run before each task. */
  readonly upstream: Upstream;
  /** Keys of the declared inputs. */
  readonly inputKeys: ReadonlySet<string>;
  /** Keys of the inputs that are declared or that tasks read. */
  readonly usedInputs: ReadonlySet<string>;
  readonly paramNames: ReadonlySet<string>;
  readonly reads: ReadonlySet<string>;
  readonly goal: Template;
  readonly goalReferences: readonly LocatedReference[];
  /** Syntax errors of templates. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads what can be read of a definition; the schema reports wrong types.
 *
 * @param catalog determines which inputs contain no templates
 */
export function readDraft(definition: unknown, catalog: Catalog): PipelineDraft {
  return new DraftReader(isObject(definition) ? definition : {}, catalog).read();
}

/** How many unknown names get a suggestion: each is compared with every task id. */
const MAX_SUGGESTIONS = 50;

class DraftReader {
  readonly #root: Record<string, unknown>;
  readonly #catalog: Catalog;
  readonly #taskIds: ReadonlySet<string>;
  readonly #diagnostics: Diagnostic[] = [];
  #suggestions = 0;

  constructor(root: Record<string, unknown>, catalog: Catalog) {
    this.#root = root;
    this.#catalog = catalog;
    this.#taskIds = new Set(
      toList(root['tasks']).flatMap((task) => (isObject(task) ? (toText(task['id']) ?? []) : [])),
    );
  }

  read(): PipelineDraft {
    const goal = this.#compile(this.#root['goal'], ['goal']);
    const tasks = toList(this.#root['tasks']).flatMap((task, index) =>
      this.#readTask(task, ['tasks', index]),
    );
    const inputKeys = toKeys(this.#root['inputs']);
    return {
      tasks,
      taskIds: this.#taskIds,
      upstream: new Map(tasks.map((task) => [task.id, findUpstream(task, this.#taskIds)])),
      inputKeys,
      usedInputs: new Set([...inputKeys, ...tasks.flatMap(listReadInputs)]),
      paramNames: toKeys(this.#root['params']),
      reads: new Set(toTexts(this.#root['reads'])),
      goal,
      goalReferences: this.#resolveReferences(goal, ['goal']),
      diagnostics: this.#diagnostics,
    };
  }

  #readTask(value: unknown, path: Path): DraftTask[] {
    if (!isObject(value) || typeof value['id'] !== 'string') return [];
    const literalInputs = isObject(value['inputs']) ? (value['inputs'] as JsonObject) : {};
    const tool = toText(value['tool']);
    const verbatim = verbatimInputs(tool === undefined ? undefined : this.#catalog.get(tool));
    const inputsPath = [...path, 'inputs'];
    const inputs = this.#compile(literalInputs, inputsPath, verbatim);
    const overPath = [...path, 'parallel_over'];
    const overText = toText(value['parallel_over']);
    const over = overText === undefined ? undefined : this.#compile(overText, overPath);
    return [
      {
        id: value['id'],
        tool,
        path,
        inputs,
        literalInputs,
        fansOut: Object.hasOwn(value, 'parallel_over'),
        parallelOver: over,
        parallelOverText: overText,
        awaits: toTexts(value['await']),
        references: this.#resolveReferences(inputs, inputsPath),
        parallelOverReferences: over === undefined ? [] : this.#resolveReferences(over, overPath),
      },
    ];
  }

  #compile(value: unknown, path: Path, verbatim?: ReadonlySet<string>): Template {
    const { template, problems } = compileTemplate((value ?? null) as Json, verbatim);
    for (const problem of problems) this.#diagnostics.push(syntaxError(problem, path));
    return template;
  }

  #resolveReferences(template: Template, base: Path): LocatedReference[] {
    return template.expressions.map(({ expression, path }) => ({
      reference: this.#resolve(expression),
      source: expression.source,
      hasFallback: expression.fallback !== undefined,
      path: [...base, ...path],
    }));
  }

  #resolve(expression: Expression): Reference {
    const mayCompare = this.#taskIds.has(expression.root) || this.#suggestions < MAX_SUGGESTIONS;
    const reference = resolveReference(expression, mayCompare ? this.#taskIds : new Set());
    if (reference.kind === 'unknown') this.#suggestions++;
    return reference;
  }
}

/** Finds the tasks that must run before a task: those whose outputs it reads, and those in `await` (rules 5 and 6). */
function findUpstream(task: DraftTask, taskIds: ReadonlySet<string>): ReadonlySet<string> {
  const read = listReferences(task).flatMap(({ reference }) =>
    reference.kind === 'task' ? [reference.taskId] : [],
  );
  return new Set([...read, ...task.awaits].filter((id) => id !== task.id && taskIds.has(id)));
}

function listReadInputs(task: DraftTask): string[] {
  return listReferences(task).flatMap(({ reference }) => (reference.kind === 'input' ? [reference.key] : []));
}

function syntaxError({ message, hint, path }: LocatedTemplateProblem, base: Path): Diagnostic {
  return { code: 'template_syntax', message, path: [...base, ...path], hint };
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

/** Lists the references of a task: those of its inputs, then those of `parallel_over`. */
export function listReferences({ references, parallelOverReferences }: DraftTask): LocatedReference[] {
  return [...references, ...parallelOverReferences];
}
