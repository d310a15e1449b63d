import { type Json, type JsonObject, setOwn } from '../../common/json.js';
import type { Expression } from './expression.js';
import { lookUp } from './lookup.js';
import { whyMissing } from './missing.js';
import { originOf } from './reference.js';
import type { Scope } from './scope.js';
import { spell, TemplateError } from './template-error.js';

/** One place of a compiled value. */
export interface Renderer {
  render(scope: Scope, item: Json | undefined): Json;
  /** The renderer for all items of one fan-out: what does not read the item is evaluated once (D15). */
  fix(scope: Scope): Renderer;
}

/** A frozen value, which all results share. */
export class LiteralRenderer implements Renderer {
  readonly value: Json;

  constructor(value: Json) {
    this.value = value;
  }

  render(): Json {
    return this.value;
  }

  fix(): Renderer {
    return this;
  }
}

/** A whole-string template: the value keeps its type (D10). */
export class ValueRenderer implements Renderer {
  readonly #operand: Operand;

  constructor(operand: Operand) {
    this.#operand = operand;
  }

  render(scope: Scope, item: Json | undefined): Json {
    return this.#operand.evaluate(scope, item);
  }

  fix(scope: Scope): Renderer {
    return new ValueRenderer(fixed(this.#operand, scope));
  }
}

/** A text with templates in it. */
export class TextRenderer implements Renderer {
  readonly #parts: readonly (string | Operand)[];

  constructor(parts: readonly (string | Operand)[]) {
    this.#parts = parts;
  }

  render(scope: Scope, item: Json | undefined): Json {
    let text = '';
    let path = '';
    for (const part of this.#parts) {
      if (typeof part !== 'string') path = part.path;
      text = joined(text, typeof part === 'string' ? part : textOf(part.evaluate(scope, item), path), path);
    }
    return text;
  }

  fix(scope: Scope): Renderer {
    if (this.#parts.some((part) => typeof part !== 'string' && part.readsItem)) {
      return new TextRenderer(
        this.#parts.map((part) => (typeof part === 'string' ? part : fixedText(part, scope))),
      );
    }
    const evaluate = once(() => this.render(scope, undefined));
    return new ValueRenderer({ evaluate, path: '', readsItem: false });
  }
}

export class ListRenderer implements Renderer {
  readonly #members: readonly Renderer[];

  constructor(members: readonly Renderer[]) {
    this.#members = members;
  }

  render(scope: Scope, item: Json | undefined): Json {
    return Object.freeze(this.#members.map((member) => member.render(scope, item))) as Json[];
  }

  fix(scope: Scope): Renderer {
    return new ListRenderer(this.#members.map((member) => member.fix(scope)));
  }
}

/** Keys are only names, never templates (D15). */
export class ObjectRenderer implements Renderer {
  readonly #members: readonly (readonly [string, Renderer])[];

  constructor(members: readonly (readonly [string, Renderer])[]) {
    this.#members = members;
  }

  render(scope: Scope, item: Json | undefined): Json {
    const object: JsonObject = {};
    for (const member of this.#members) setOwn(object, member[0], member[1].render(scope, item));
    return Object.freeze(object);
  }

  fix(scope: Scope): Renderer {
    return new ObjectRenderer(this.#members.map(([key, member]) => [key, member.fix(scope)] as const));
  }
}

/** A text that did not parse: the definition is invalid, and nothing should have rendered it. */
export class BrokenRenderer implements Renderer {
  readonly #error: () => TemplateError;

  constructor(text: string, reason: string) {
    this.#error = () => new TemplateError(text, reason);
  }

  render(): Json {
    throw this.#error();
  }

  fix(): Renderer {
    return this;
  }
}

/** A compiled expression at its place in a value. */
export interface Operand {
  readonly evaluate: Evaluate;
  /** The path it reads, as text, for messages. */
  readonly path: string;
  /** It changes with the item of a fan-out. */
  readonly readsItem: boolean;
}

export function operandOf(expression: Expression): Operand {
  return {
    evaluate: evaluatorOf(expression),
    path: spell(expression.root, expression.path),
    readsItem: expression.root === 'item',
  };
}

/** The operand for all items of one fan-out: evaluated at the first use, and once, unless it reads the item (D15). */
export function fixed(operand: Operand, scope: Scope): Operand {
  if (operand.readsItem) return operand;
  return { ...operand, evaluate: once(() => operand.evaluate(scope, undefined)) };
}

/** The same for an operand of a text: what is kept is its text. */
function fixedText(operand: Operand, scope: Scope): Operand {
  if (operand.readsItem) return operand;
  return { ...operand, evaluate: once(() => textOf(operand.evaluate(scope, undefined), operand.path)) };
}

/** Keeps what `evaluate` gives at the first call, or what it throws. */
export function once(evaluate: () => Json): () => Json {
  let outcome: (() => Json) | undefined;
  return () => {
    outcome ??= outcomeOf(evaluate);
    return outcome();
  };
}

function outcomeOf(evaluate: () => Json): () => Json {
  try {
    const value = evaluate();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Gives the value of an expression. Throws a TemplateError when there is none (D13). */
export type Evaluate = (scope: Scope, item: Json | undefined) => Json;

/** Compiles an expression: its fallback stands in for what is missing or null, wherever on the path (D11). */
export function evaluatorOf(expression: Expression): Evaluate {
  const origin = originOf(expression);
  const { path } = origin;
  const { fallback } = expression;
  if (fallback !== undefined) {
    return (scope, item) => lookUp(origin.read(scope, item), path) ?? fallback.value;
  }
  return (scope, item) => {
    const value = lookUp(origin.read(scope, item), path);
    if (value !== undefined) return value;
    throw new TemplateError(spell(origin.label, path), whyMissing(origin, scope, item));
  };
}

/** Most characters that a rendered text may have: 10 MiB. */
export const TEXT_LIMIT = 10 * 1024 * 1024;

const DEPTH_LIMIT = 1000;
const TOO_DEEP = -Infinity;

/** A value as part of a text (D10). Throws a TemplateError that names `path` when it is too large or too deep. */
export function textOf(value: Json, path: string): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return typeof value === 'object' ? jsonOf(value, path) : String(value);
}

/** `text` and `addition`, if they fit the limit together. */
export function joined(text: string, addition: string, path: string): string {
  if (text.length + addition.length > TEXT_LIMIT) failAtSize(path);
  return text + addition;
}

/**
 * Values are measured before they are written: as values are shared, a small one may be gigabytes of JSON.
 */
function jsonOf(value: Json, path: string): string {
  const left = remaining(TEXT_LIMIT, value, 0);
  if (left === TOO_DEEP) throw new TemplateError(path, `the value nests deeper than ${DEPTH_LIMIT} levels`);
  if (left < 0) failAtSize(path);
  return JSON.stringify(value);
}

function failAtSize(path: string): never {
  throw new TemplateError(path, 'the rendered text is over 10 MiB');
}

/** What is left of `limit` after the JSON of `value`, escapes not counted; negative as soon as it is too small. */
function remaining(limit: number, value: Json, depth: number): number {
  if (typeof value === 'string') return limit - value.length - 2;
  if (typeof value !== 'object' || value === null) return limit - 1;
  if (depth > DEPTH_LIMIT) return TOO_DEEP;
  return Array.isArray(value) ? afterList(limit, value, depth) : afterObject(limit, value, depth);
}

function afterList(limit: number, list: readonly Json[], depth: number): number {
  let left = limit - 2;
  for (const member of list) {
    if (left < 0) break;
    left = remaining(left - 1, member, depth + 1);
  }
  return left;
}

function afterObject(limit: number, object: { readonly [key: string]: Json }, depth: number): number {
  let left = limit - 2;
  for (const [key, member] of Object.entries(object)) {
    if (left < 0) break;
    left = remaining(left - key.length - 4, member, depth + 1);
  }
  return left;
}
