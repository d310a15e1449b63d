import type { Violation } from '../../common/json-schema/violation.js';
import { isObject, type JsonObject } from '../../common/json.js';
import { type Path, pointerOf, type ProblemCode } from '../../definition/problem.js';
import { nearest } from '../../definition/suggest.js';
import type { Tool } from '../tool.js';
import { inspectInputs } from './inspect-inputs.js';
import { describeViolation } from './inspection.js';
import { verbatimInputs } from './verbatim.js';

/** What is wrong with the inputs of a task, as far as it can be told before the run. */
export interface LiteralProblem {
  readonly code: Extract<ProblemCode, 'unknown_input' | 'missing_input' | 'invalid_input'>;
  /** The input's name. */
  readonly input: string;
  /** Where in the task's `inputs`; empty for an input that is missing. */
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Checks the inputs of a task as they are written: unknown and missing names, and every value that no template
 * can change. A place that holds a template may turn out as anything, so it is left to {@link checkInputs}.
 *
 * @throws WavetrainError `bad_tool_file` when the tool's declarations make no JSON Schema.
 */
export function literalInputProblems(tool: Tool, inputs: JsonObject): LiteralProblem[] {
  const { violations } = inspectInputs(tool, inputs);
  if (violations.length === 0) return [];
  const templates = new TemplatePlaces(inputs, verbatimInputs(tool));
  return violations
    .filter((violation) => templates.leaveCertain(violation))
    .map((found) => problemOf(found, tool));
}

function problemOf(violation: Violation, tool: Tool): LiteralProblem {
  const { path, wanted } = violation;
  const name = String(path[0] ?? (typeof wanted === 'string' ? wanted : ''));
  if (violation.path.length > 0) {
    const message = `${describeViolation(violation)} (tool "${tool.name}")`;
    return withHint(
      { code: 'invalid_input', input: name, path: violation.path, message },
      hintForValue(violation),
    );
  }
  if (violation.keyword === 'required') {
    const message = `tool "${tool.name}" needs the input "${name}"`;
    return withHint({ code: 'missing_input', input: name, path: [], message }, hintForMissing(name, tool));
  }
  const message = `tool "${tool.name}" has no input "${name}"`;
  return withHint({ code: 'unknown_input', input: name, path: [name], message }, hintForUnknown(name, tool));
}

function withHint(problem: LiteralProblem, hint: string | undefined): LiteralProblem {
  return hint === undefined ? problem : { ...problem, hint };
}

function hintForValue({ keyword, wanted, value }: Violation): string | undefined {
  if (keyword !== 'enum' || typeof value !== 'string' || !Array.isArray(wanted)) return undefined;
  const meant = nearest(
    value,
    wanted.filter((allowed) => typeof allowed === 'string'),
  );
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

function hintForMissing(name: string, tool: Tool): string | undefined {
  const description = tool.inputs[name]?.description;
  return description === undefined || description === '' ? undefined : `${name}: ${description}`;
}

function hintForUnknown(name: string, tool: Tool): string {
  const known = Object.keys(tool.inputs);
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  return known.length === 0 ? 'it takes no inputs' : `it takes ${known.join(', ')}`;
}

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
class TemplatePlaces {
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
