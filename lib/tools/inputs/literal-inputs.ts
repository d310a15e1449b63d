import { describeViolation, formatValuePath, type Violation } from '../../common/json-schema/violation.js';
import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { PROVIDER_NAMES } from '../../common/config/model-config.js';
import { joinFirst } from '../../common/text.js';
import type { Path, ProblemCode } from '../../definition/problems/problem.js';
import { type Hint, hintRename } from '../../definition/problems/hint.js';
import { nearest } from '../../definition/did-you-mean.js';
import { findFieldProblems } from '../builtin/models/extraction/field-problems.js';
import { findTypeProblems } from '../document-formats/csv-cells.js';
import type { Bindings } from '../expressions/check-names.js';
import { localEvaluator } from '../expressions/evaluate.js';
import { findFileNameProblems } from '../files/file-name.js';
import { findRangeProblems } from '../builtin/select/page-ranges.js';
import type { FormatProblem, Tool } from '../tool.js';
import { applyDeclarations, INPUT_NOUNS } from './validate.js';

/** A problem in the inputs of a task that is certain before the run. */
export interface LiteralInputProblem {
  readonly code: Extract<ProblemCode, 'unknown_input' | 'missing_input' | 'invalid_input'>;
  readonly input: string;
  /** Path within the task's `inputs`; empty for a missing input. */
  readonly path: Path;
  readonly message: string;
  readonly hint?: Hint;
  /** Where the mistake begins within the value, which is a text. */
  readonly at?: number;
}

/**
 * Checks the inputs of a task as written: unknown and missing names, and every value that no template can change.
 * Values with templates are unknown until the run, where `validateInputs` checks them.
 *
 * @throws WavetrainError `bad_tool_file` when the declarations are not a valid JSON Schema
 */
export function* findLiteralInputProblems(tool: Tool, inputs: JsonObject): Generator<LiteralInputProblem> {
  const { violations } = applyDeclarations(tool, inputs);
  const templates = new TemplateFinder(inputs, verbatimInputs(tool));
  for (const violation of violations) if (!templates.canResolve(violation)) yield toProblem(violation, tool);
  yield* findFormatProblems(tool, inputs);
  yield* findArgumentProblems(tool, inputs);
}

/** Checks the arguments of the function or source that an input names; without a template, its name is certain. */
function* findArgumentProblems(tool: Tool, inputs: JsonObject): Generator<LiteralInputProblem> {
  for (const [input, { registry }] of Object.entries(tool.inputs)) {
    if (registry !== 'functions' && registry !== 'sources') continue;
    const name = Object.hasOwn(inputs, input) ? inputs[input] : undefined;
    const called = typeof name === 'string' ? tool.registries?.[registry].get(name) : undefined;
    if (called === undefined) continue;
    const args = Object.entries(inputs).filter(([argument]) => !Object.hasOwn(tool.inputs, argument));
    yield* findLiteralInputProblems(called, Object.fromEntries(args));
  }
}

/** Checks the formats of inputs, as far as no template can change them. */
function* findFormatProblems(tool: Tool, inputs: JsonObject): Generator<LiteralInputProblem> {
  const label = `${tool.kind ?? 'tool'} "${tool.name}"`;
  for (const [input, { format }] of Object.entries(tool.inputs)) {
    const value = format !== undefined && Object.hasOwn(inputs, input) ? inputs[input] : undefined;
    if (value === undefined) continue;
    if (format === 'jsonata') {
      yield* findExpressionProblems(tool, inputs, input, value, label);
      continue;
    }
    // The rules of pipelines look at statements.
    if (format === 'sql' || format === 'bindings') continue;
    for (const { path: inner, message, hint } of FORMATS[format ?? 'page-ranges'](value)) {
      const path = [input, ...inner];
      const name = formatValuePath(path);
      yield { code: 'invalid_input', input, path, message: `input "${name}" ${message} (${label})`, hint };
    }
  }
}

const FORMATS = {
  'page-ranges': findRangeProblems,
  model: findModelNameProblems,
  fields: findFieldProblems,
  'period-end': findPeriodProblems,
  'file-name': findFileNameProblems,
  'column-types': function* (value: Json): Generator<FormatProblem> {
    for (const { message, ...problem } of findTypeProblems(value)) {
      if (!(isObject(value) && isTemplate(value[String(problem.path[0])])))
        yield { ...problem, message: `has ${message}, which does not exist` };
    }
  },
} as const;

function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && value.includes('{{');
}

function* findExpressionProblems(
  tool: Tool,
  inputs: JsonObject,
  input: string,
  value: Json,
  label: string,
): Generator<LiteralInputProblem> {
  if (typeof value !== 'string' || value === '' || isTemplate(value)) return;
  for (const { message, at, hint, rename } of localEvaluator.findProblems(
    value,
    readBindings(tool, inputs),
  )) {
    const problem = {
      code: 'invalid_input' as const,
      input,
      path: [input],
      at,
      message: `input "${input}" ${message} (${label})`,
    };
    yield withHint(problem, rename === undefined ? hint : hintRename(rename.from, rename.to));
  }
}

/** A tool that declares no bindings may evaluate expressions as it likes. */
function readBindings(tool: Tool, inputs: JsonObject): Bindings {
  const name = Object.keys(tool.inputs).find((input) => tool.inputs[input]?.format === 'bindings');
  if (name === undefined) return 'any';
  const bindings = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  if (bindings === undefined || bindings === null) return new Set();
  return isObject(bindings) ? new Set(Object.keys(bindings)) : 'unknown';
}

/** In a hint. */
const MAX_LISTED_SOURCES = 20;

const NONE: ReadonlySet<string> = new Set();

const cache = new WeakMap<Tool, ReadonlySet<string>>();

/** Names the inputs of a tool whose lists and objects are passed on as written, templates unresolved. */
export function verbatimInputs(tool: Tool | undefined): ReadonlySet<string> {
  if (tool === undefined) return NONE;
  const cached = cache.get(tool);
  if (cached !== undefined) return cached;
  const names = new Set(Object.keys(tool.inputs).filter((name) => tool.inputs[name]?.verbatim === true));
  cache.set(tool, names);
  return names;
}

function toProblem(violation: Violation, tool: Tool): LiteralInputProblem {
  const { path, wanted } = violation;
  const name = String(path[0] ?? (typeof wanted === 'string' ? wanted : ''));
  const label = `${tool.kind ?? 'tool'} "${tool.name}"`;
  if (path.length > 0) {
    const { registry } = tool.inputs[name] ?? {};
    if (violation.keyword === 'enum' && (registry === 'functions' || registry === 'sources'))
      return toUnknownCallee(violation, name, tool, registry);
    const message = `${describeViolation(violation, INPUT_NOUNS)} (${label})`;
    return withHint({ code: 'invalid_input', input: name, path, message }, hintForValue(violation));
  }
  if (violation.keyword === 'required') {
    const message = `${label} needs the input "${name}"`;
    const description = tool.inputs[name]?.description ?? '';
    const hint = description === '' ? undefined : `${name}: ${description}`;
    return withHint({ code: 'missing_input', input: name, path: [], message }, hint);
  }
  const message = `${label} has no input "${name}"`;
  return withHint({ code: 'unknown_input', input: name, path: [name], message }, hintForUnknown(name, tool));
}

function toUnknownCallee(
  violation: Violation,
  input: string,
  tool: Tool,
  registry: 'functions' | 'sources',
): LiteralInputProblem {
  const noun = registry === 'functions' ? 'function' : 'source';
  const message = `there is no ${noun} ${JSON.stringify(violation.value)} (tool "${tool.name}")`;
  const names = [...(tool.registries?.[registry].keys() ?? [])].sort();
  const list =
    registry === 'sources'
      ? `the sources are ${joinFirst(names, MAX_LISTED_SOURCES)}`
      : `\`wavetrain tools ${tool.name}\` lists the functions`;
  const hint = hintForValue(violation) ?? `${list}; --tools adds your own`;
  return { code: 'invalid_input', input, path: [input], message, hint };
}

function withHint(problem: LiteralInputProblem, hint: Hint | undefined): LiteralInputProblem {
  return hint === undefined ? problem : { ...problem, hint };
}

function hintForValue({ keyword, wanted, value }: Violation): Hint | undefined {
  if (keyword !== 'enum' || typeof value !== 'string' || !Array.isArray(wanted)) return undefined;
  const meant = nearest(
    value,
    wanted.filter((allowed) => typeof allowed === 'string'),
  );
  return meant === undefined ? undefined : hintRename(value, meant);
}

function hintForUnknown(name: string, tool: Tool): Hint {
  const names = Object.keys(tool.inputs);
  const meant = nearest(name, names);
  if (meant !== undefined) return hintRename(name, meant);
  return names.length === 0 ? 'it takes no inputs' : `it takes ${names.join(', ')}`;
}

/** Rules about the shape of a list or an object, which templates inside it cannot change: keys are never templates (D15). */
const SHAPE_RULES = new Set(
  'type required additionalProperties minItems maxItems minProperties maxProperties'.split(' '),
);

/** Finds which values of the inputs are templates, and which lists and objects contain one. */
class TemplateFinder {
  /** The inputs whose templates are replaced. */
  readonly #resolved: JsonObject;
  readonly #known = new Map<object, boolean>();

  /** @param verbatim names of inputs whose lists and objects contain no templates */
  constructor(inputs: JsonObject, verbatim: ReadonlySet<string>) {
    this.#resolved = Object.fromEntries(
      Object.entries(inputs).filter(([name, value]) => typeof value === 'string' || !verbatim.has(name)),
    );
  }

  /** Returns true if the value of a template may make the violation disappear. */
  canResolve({ path, keyword, branch }: Violation): boolean {
    const value = this.#find(path);
    if (typeof value === 'string' && this.#contains(value)) return true;
    if (branch === true && this.#contains(this.#find(path.slice(0, 1)))) return true;
    return !SHAPE_RULES.has(keyword) && this.#contains(value);
  }

  #find(path: Path): unknown {
    let value: unknown = this.#resolved;
    for (const key of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string | number, unknown>)[key];
    }
    return value;
  }

  /** Returns true if the value is or contains a template. */
  #contains(value: unknown): boolean {
    if (typeof value === 'string') return value.includes('{{');
    if (typeof value !== 'object' || value === null) return false;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const found = Object.values(value).some((member) => this.#contains(member));
    this.#known.set(value, found);
    return found;
  }
}

const MAX_SHOWN_LENGTH = 100;

/** Finds what is wrong with the name of a language model as it is written (D50). Only a provider knows its models. */
function* findModelNameProblems(value: Json): Generator<FormatProblem> {
  if (typeof value !== 'string' || value.includes('{{')) return;
  const slash = value.indexOf('/');
  const provider = slash < 0 ? '' : value.slice(0, slash);
  const model = value.slice(slash + 1);
  const isKnown = PROVIDER_NAMES.some((known) => known === provider) && model !== '';
  if (isKnown && (provider !== 'mock' || model === 'echo' || model === 'recorded')) return;
  const hint = hintForModel(provider, model);
  yield {
    path: [],
    message: `is ${JSON.stringify(value.slice(0, MAX_SHOWN_LENGTH))}, which is no model`,
    hint,
  };
}

function hintForModel(provider: string, model: string): string {
  if (provider === 'mock') return 'use mock/echo or mock/recorded';
  const meant = nearest(provider, PROVIDER_NAMES);
  if (meant !== undefined && meant !== provider)
    return `did you mean "${meant}/${model.slice(0, MAX_SHOWN_LENGTH)}"?`;
  return `write provider/model, such as openai/gpt-4o-mini; the providers are ${PROVIDER_NAMES.join(', ')}`;
}

/** Finds the end of a period that is no date: words such as "next year" mean another date each time, and none to a model. */
function* findPeriodProblems(value: Json): Generator<FormatProblem> {
  if (typeof value !== 'string' || value.includes('{{') || /\d/.test(value)) return;
  const hint = 'write the date on which the period ends, such as 2024-12-31, or a template that gives it';
  yield { path: [], message: `is ${JSON.stringify(value.slice(0, 50))}, which is no date`, hint };
}
