import { isObject, type Json } from '../../common/json/json.js';
import type { FieldPlace, Hint } from '../problems/hint.js';
import type { Path } from '../problems/problem.js';
import type { DefinitionKind } from './root.js';

/** The fields that a kind of definition has. */
export interface DefinitionFields {
  readonly kind: DefinitionKind | 'test';
  /** The field that lists the parts of the definition: `tasks`. */
  readonly parts: string;
  /** The fields allowed in the object at a path, for hints. */
  readonly fieldsAt: (path: Path) => readonly string[];
}

/** The value written where a field is missing: it makes the definition valid, and its author replaces it. */
interface Filling {
  readonly hint: string;
  readonly value: Json;
  readonly place?: FieldPlace;
}

type Fillings = Readonly<Record<string, Filling>>;

const FIRST_TASK = { id: 'task_1', tool: 'mock' };

/** By kind, the required fields of a definition. */
const OF_WHOLE: Readonly<Record<DefinitionFields['kind'], Fillings>> = {
  pipeline: {
    id: { hint: 'write id: NAME', value: 'my_pipeline', place: 'first' },
    goal: { hint: 'say under "goal" what it is for', value: 'Say what this pipeline does' },
    tasks: {
      hint: 'list the tasks under "tasks", each with an "id" and a "tool"',
      value: [FIRST_TASK],
      place: 'last',
    },
  },
  plan: { id: { hint: 'write id: NAME', value: 'my_plan', place: 'first' } },
  test: {
    cases: {
      hint: 'list the cases under "cases", each with a "name"',
      value: [{ name: 'succeeds' }],
      place: 'last',
    },
  },
};

const TOOL: Filling = { hint: 'write tool: NAME; `wavetrain tools` lists them', value: 'mock' };

const UNTIL: Filling = {
  hint: 'say under "until" what ends it, as in until: "{{this.output.done}}"',
  value: '{{this.output}}',
  place: 'first',
};

/** Keys with which other products join conditions. */
const ALTERNATIVES = ['any', 'or', 'anyOf', 'any_of', 'oneOf', 'one_of'];
const CONJUNCTIONS = ['all', 'and', 'allOf', 'all_of'];

/** Returns the hint for a condition that is a map without a template: one of conditions, or one of keywords alone. */
function hintForCondition(owner: unknown): string {
  const has = (keys: readonly string[]): boolean =>
    isObject(owner) && keys.some((key) => Object.hasOwn(owner, key));
  if (has(ALTERNATIVES))
    return 'conditions have no "or": let a task with the tool transform compute it, or write a task for each; for one value write {value: "{{params.NAME}}", enum: [A, B]}';
  if (has(CONJUNCTIONS)) return 'write the conditions as a list: all must hold';
  return 'write the template under "value", as in {value: "{{params.NAME}}", const: VALUE}';
}

/** Suggests what to write for the fields that a definition and its tasks must have (D8). */
export class MissingFields {
  readonly #definition: unknown;
  readonly #shape: DefinitionFields;
  #ids: ReadonlySet<unknown> | undefined;
  /** No number below this one is free. */
  #nextNumber = 1;

  constructor(definition: unknown, shape: DefinitionFields) {
    this.#definition = definition;
    this.#shape = shape;
  }

  /** @param owner the map at the path, which lacks the field */
  hintFor(field: string, path: Path, owner: unknown): Hint | undefined {
    if (field === 'value') return hintForCondition(owner);
    const filling = this.#fillingOf(field, path);
    if (filling === undefined) return undefined;
    const { hint: text, ...rest } = filling;
    // A field that nobody knows may be the missing one under another name.
    const known = this.#shape.fieldsAt(path);
    if (!isObject(owner) || Object.keys(owner).some((key) => !known.includes(key))) return text;
    return { text, change: { kind: 'set', path: [...path, field], ...rest } };
  }

  #fillingOf(field: string, path: Path): Filling | undefined {
    const { kind, parts } = this.#shape;
    if (path.length === 0) return OF_WHOLE[kind][field];
    const [list, index] = path;
    if (kind !== 'pipeline' || list !== parts || typeof index !== 'number') return undefined;
    if (field === 'until') return UNTIL;
    if (field === 'tool') return TOOL;
    if (field !== 'id') return undefined;
    return { hint: 'write id: NAME, the key of its output', value: this.#freeId(index + 1), place: 'first' };
  }

  #freeId(number: number): string {
    this.#ids ??= this.#listIds();
    let free = Math.max(number, this.#nextNumber);
    while (this.#ids.has(`task_${free}`)) free++;
    this.#nextNumber = free + 1;
    return `task_${free}`;
  }

  #listIds(): ReadonlySet<unknown> {
    const parts = isObject(this.#definition) ? this.#definition[this.#shape.parts] : undefined;
    return new Set(
      Array.isArray(parts) ? parts.map((part: unknown) => (isObject(part) ? part['id'] : part)) : [],
    );
  }
}
