import { type Path, pointerOf } from '../definition/problem.js';
import { isObject, type JsonObject } from '../common/json.js';
import type { Violation } from '../common/json-schema/violation.js';

/** Rules about the shape of a list or an object, which no template inside it can change: keys are never templates (D15). */
const SHAPE_RULES = new Set([
  'type',
  'required',
  'additionalProperties',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]);

/** The places of some inputs that hold a template, and those that have one further down. */
export class TemplatePlaces {
  readonly #at = new Set<string>();
  readonly #above = new Set<string>();

  /** @param verbatim inputs whose lists and objects hold no templates */
  constructor(inputs: JsonObject, verbatim: ReadonlySet<string>) {
    const resolved = Object.entries(inputs).filter(
      ([name, value]) => typeof value === 'string' || !verbatim.has(name),
    );
    this.#visit(Object.fromEntries(resolved), []);
  }

  /** False when a template may still make the violation go away. */
  leaveCertain({ path, keyword, branch }: Violation): boolean {
    const pointer = pointerOf(path);
    if (this.#at.has(pointer)) return false;
    if (branch === true && this.#touches(path[0])) return false;
    return !this.#above.has(pointer) || SHAPE_RULES.has(keyword);
  }

  #touches(input: string | number | undefined): boolean {
    const pointer = input === undefined ? '' : pointerOf([input]);
    return this.#at.has(pointer) || this.#above.has(pointer);
  }

  /** True when a template stands at the place or below it. */
  #visit(value: unknown, path: Path): boolean {
    if (typeof value === 'string') {
      const found = value.includes('{{');
      if (found) this.#at.add(pointerOf(path));
      return found;
    }
    let found = false;
    for (const [key, member] of membersOf(value)) found = this.#visit(member, [...path, key]) || found;
    if (found) this.#above.add(pointerOf(path));
    return found;
  }
}

function membersOf(value: unknown): Iterable<[string | number, unknown]> {
  if (Array.isArray(value)) return value.entries();
  return isObject(value) ? Object.entries(value) : [];
}
