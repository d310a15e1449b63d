import type { Path } from '../definition/problem.js';
import type { Finding } from '../definition/schema/structure.js';
import { type Reference, referenceOf } from '../definition/template/reference.js';
import { compileTemplate, type PlacedProblem, type Template } from '../definition/template/template.js';
import { isObject, type Json, type JsonObject } from '../common/json.js';
import type { Catalog } from '../tools/catalog.js';
import { verbatimInputs } from '../tools/inputs/verbatim.js';

/** A reference of a template, and where it stands in the definition. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly source: string;
  /** `??` gives a value when the path has none. */
  readonly hasFallback: boolean;
  readonly path: Path;
}

/** A task as far as it can be understood, so that all problems of a broken definition are found at once. */
export interface DraftTask {
  readonly id: string;
  readonly tool: string | undefined;
  readonly path: Path;
  readonly inputs: Template;
  readonly literalInputs: JsonObject;
  /** It has `parallel_over`, of whatever kind. */
  readonly fansOut: boolean;
  readonly over: Template | undefined;
  readonly overText: string | undefined;
  readonly awaits: readonly string[];
  /** Of the inputs, then of `parallel_over`. */
  readonly references: readonly PlacedReference[];
  readonly overReferences: readonly PlacedReference[];
}

export interface Draft {
  readonly tasks: readonly DraftTask[];
  readonly taskIds: ReadonlySet<string>;
  readonly inputKeys: ReadonlySet<string>;
  readonly paramNames: ReadonlySet<string>;
  readonly reads: ReadonlySet<string>;
  readonly goal: Template;
  readonly goalReferences: readonly PlacedReference[];
  /** What is wrong with the templates themselves. */
  readonly findings: readonly Finding[];
}

/** Past this many unknown names, no nearest one is looked for: each costs a look at every task. */
const MOST_SUGGESTIONS = 50;

/**
 * Reads whatever of a definition can be read; shapes that are wrong are the schema's to report.
 *
 * @param catalog says which inputs are taken as they are written
 */
export function draftOf(definition: unknown, catalog: Catalog): Draft {
  const root = isObject(definition) ? definition : {};
  return new Drafting(root, catalog).draft();
}

/** Keys of `pipeline.inputs` that its tasks read. */
export function inputsReadBy({ tasks }: Draft): string[] {
  return tasks.flatMap(({ references, overReferences }) =>
    [...references, ...overReferences].flatMap(({ reference }) =>
      reference.kind === 'input' ? [reference.key] : [],
    ),
  );
}

class Drafting {
  readonly #root: Record<string, unknown>;
  readonly #catalog: Catalog;
  readonly #taskIds: ReadonlySet<string>;
  readonly #findings: Finding[] = [];
  #suggestions = 0;

  constructor(root: Record<string, unknown>, catalog: Catalog) {
    this.#root = root;
    this.#catalog = catalog;
    this.#taskIds = new Set(
      listOf(root['tasks']).flatMap((task) => (isObject(task) ? textOf(task['id']) : [])),
    );
  }

  draft(): Draft {
    const goal = this.#compile(this.#root['goal'], ['goal']);
    return {
      tasks: listOf(this.#root['tasks']).flatMap((task, index) => this.#task(task, ['tasks', index])),
      taskIds: this.#taskIds,
      inputKeys: keysOf(this.#root['inputs']),
      paramNames: keysOf(this.#root['params']),
      reads: new Set(listOf(this.#root['reads']).flatMap(textOf)),
      goal,
      goalReferences: this.#references(goal, ['goal']),
      findings: this.#findings,
    };
  }

  #task(value: unknown, path: Path): DraftTask[] {
    if (!isObject(value) || typeof value['id'] !== 'string') return [];
    const literalInputs = isObject(value['inputs']) ? (value['inputs'] as JsonObject) : {};
    const tool = textOf(value['tool'])[0];
    const verbatim = verbatimInputs(tool === undefined ? undefined : this.#catalog.get(tool));
    const inputs = this.#compile(literalInputs, [...path, 'inputs'], verbatim);
    const overText = textOf(value['parallel_over'])[0];
    const over = overText === undefined ? undefined : this.#compile(overText, [...path, 'parallel_over']);
    return [
      {
        id: value['id'],
        tool,
        path,
        inputs,
        literalInputs,
        fansOut: Object.hasOwn(value, 'parallel_over'),
        over,
        overText,
        awaits: listOf(value['await']).flatMap(textOf),
        references: this.#references(inputs, [...path, 'inputs']),
        overReferences: over === undefined ? [] : this.#references(over, [...path, 'parallel_over']),
      },
    ];
  }

  #compile(value: unknown, path: Path, verbatim?: ReadonlySet<string>): Template {
    const { template, problems } = compileTemplate((value ?? null) as Json, verbatim);
    for (const problem of problems) this.#findings.push(syntaxFinding(problem, path));
    return template;
  }

  #references(template: Template, base: Path): PlacedReference[] {
    return template.expressions.map(({ expression, path }) => ({
      reference: this.#reference(expression),
      source: expression.source,
      hasFallback: expression.fallback !== undefined,
      path: [...base, ...path],
    }));
  }

  #reference(expression: Parameters<typeof referenceOf>[0]): Reference {
    const known = this.#taskIds.has(expression.root) || this.#suggestions < MOST_SUGGESTIONS;
    const reference = referenceOf(expression, known ? this.#taskIds : new Set());
    if (reference.kind === 'unknown') this.#suggestions++;
    return reference;
  }
}

function syntaxFinding({ message, hint, path }: PlacedProblem, base: Path): Finding {
  return {
    code: 'template_syntax',
    message,
    path: [...base, ...path],
    ...(hint === undefined ? {} : { hint }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string[] {
  return typeof value === 'string' ? [value] : [];
}

function keysOf(value: unknown): ReadonlySet<string> {
  return new Set(isObject(value) ? Object.keys(value) : []);
}
