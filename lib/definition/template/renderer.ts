import {
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  MEMBER_BYTES,
  OBJECT_BYTES,
  setOwn,
  STRING_BYTES,
  subtractJsonLength,
  TOO_DEEP,
} from '../../common/json.js';
import { MAX_OUTPUT_LENGTH } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { documentText, TOO_LONG } from '../text/document-text.js';
import { type Expression, formatPath } from './expression.js';
import { lookUp } from './lookup.js';
import { explainMissing } from './missing-value.js';
import { RenderMeter, TOO_MUCH_JSON_TEXT } from './render-meter.js';
import { TemplateError, toValueSource, type ValueSource } from './reference.js';
import type { TemplateScope } from './scope.js';

/** Renders one part of a compiled value. */
export interface Renderer {
  render(scope: TemplateScope, item: Json | undefined): Json;
  /** Returns the renderer for all items of one fan-out; it evaluates the parts that do not read the item once (D15). */
  bind(scope: TemplateScope): Renderer;
}

/** A frozen value that all results share. */
export class LiteralRenderer implements Renderer {
  readonly value: Json;

  constructor(value: Json) {
    this.value = value;
  }

  render(): Json {
    return this.value;
  }

  bind(): Renderer {
    return this;
  }
}

/** A string that is exactly one template: the value keeps its type (D10). */
class ValueRenderer implements Renderer {
  readonly #operand: Operand;

  constructor(operand: Operand) {
    this.#operand = operand;
  }

  render(scope: TemplateScope, item: Json | undefined): Json {
    return this.#operand.evaluate(scope, item);
  }

  bind(scope: TemplateScope): Renderer {
    const operand = this.#operand;
    if (operand.readsItem) return this;
    const evaluate = memoize(scope, () => operand.evaluate(scope, undefined));
    return new ValueRenderer({ ...operand, evaluate });
  }
}

/** A text with templates in it. */
class TextRenderer implements Renderer {
  readonly #parts: readonly (string | Operand)[];

  constructor(parts: readonly (string | Operand)[]) {
    this.#parts = parts;
  }

  render(scope: TemplateScope, item: Json | undefined): Json {
    let text = '';
    let path = '';
    for (const part of this.#parts) {
      if (typeof part !== 'string') path = part.path;
      text = appendText(
        text,
        typeof part === 'string' ? part : toText(part.evaluate(scope, item), path, scope.meter),
        path,
      );
    }
    scope.meter?.add(STRING_BYTES + text.length);
    const excess = scope.meter?.excess;
    if (excess !== undefined) throw new TemplateError(path, excess);
    return text;
  }

  bind(scope: TemplateScope): Renderer {
    if (this.#parts.some((part) => typeof part !== 'string' && part.readsItem)) {
      return new TextRenderer(
        this.#parts.map((part) => (typeof part === 'string' ? part : bindTextOperand(part, scope))),
      );
    }
    const evaluate = memoize(scope, () => this.render(scope, undefined));
    return new ValueRenderer({ evaluate, path: '', readsItem: false });
  }
}

/** Returns the renderer of a text. If it is a `whole` template, the value keeps its type (D10). */
export function createTextRenderer(parts: readonly (string | Operand)[], whole: boolean): Renderer {
  const [first] = parts;
  if (whole && typeof first === 'object') return new ValueRenderer(first);
  return parts.every((part) => typeof part === 'string')
    ? new LiteralRenderer(parts.join(''))
    : new TextRenderer(parts);
}

export class ListRenderer implements Renderer {
  readonly #members: readonly Renderer[];

  constructor(members: readonly Renderer[]) {
    this.#members = members;
  }

  render(scope: TemplateScope, item: Json | undefined): Json {
    scope.meter?.add(OBJECT_BYTES + MEMBER_BYTES * this.#members.length);
    return Object.freeze(this.#members.map((member) => member.render(scope, item))) as Json[];
  }

  bind(scope: TemplateScope): Renderer {
    return new ListRenderer(this.#members.map((member) => member.bind(scope)));
  }
}

/** Keys are plain names, never templates (D15). */
export class ObjectRenderer implements Renderer {
  readonly #members: readonly (readonly [string, Renderer])[];

  constructor(members: readonly (readonly [string, Renderer])[]) {
    this.#members = members;
  }

  render(scope: TemplateScope, item: Json | undefined): Json {
    scope.meter?.add(OBJECT_BYTES + MEMBER_BYTES * this.#members.length);
    const object: JsonObject = {};
    for (const member of this.#members) setOwn(object, member[0], member[1].render(scope, item));
    return Object.freeze(object);
  }

  bind(scope: TemplateScope): Renderer {
    return new ObjectRenderer(this.#members.map(([key, member]) => [key, member.bind(scope)] as const));
  }
}

/** A text that is not a valid template. An invalid definition never runs, so only a bug in the checks renders it. */
export class FailingRenderer implements Renderer {
  readonly #text: string;
  readonly #reason: string;

  constructor(text: string, reason: string) {
    this.#text = text;
    this.#reason = reason;
  }

  render(): Json {
    throw new TemplateError(this.#text, this.#reason);
  }

  bind(): Renderer {
    return this;
  }
}

/** A compiled expression within a value. */
export interface Operand {
  readonly evaluate: EvaluateExpression;
  /** The path that it reads, as text, for messages. */
  readonly path: string;
  /** Its value depends on the item of a fan-out. */
  readonly readsItem: boolean;
}

/** Returns the value of an expression. @throws TemplateError when it has none (D13) */
type EvaluateExpression = (scope: TemplateScope, item: Json | undefined) => Json;

export function compileOperand(expression: Expression): Operand {
  return {
    evaluate: compileExpression(expression),
    path: formatPath(expression.root, expression.path),
    readsItem: expression.root === 'item',
  };
}

/** Compiles an expression. Its fallback replaces a value that is missing or null, anywhere on the path (D11). */
export function compileExpression(expression: Expression): EvaluateExpression {
  const source = toValueSource(expression);
  const { path } = source;
  const { fallback } = expression;
  if (fallback !== undefined) {
    return (scope, item) => lookUpWithin(scope, source, item) ?? fallback.value;
  }
  return (scope, item) => {
    const value = lookUpWithin(scope, source, item);
    if (value !== undefined) return value;
    throw new TemplateError(formatPath(source.label, path), explainMissing(source, scope, item));
  };
}

function lookUpWithin(scope: TemplateScope, source: ValueSource, item: Json | undefined): Json | undefined {
  const { path } = source;
  const from = source.read(scope, item);
  if (path.length === 0) return from;
  const value = lookUp(from, path, scope.meter);
  const excess = scope.meter?.excess;
  if (excess !== undefined) throw new TemplateError(formatPath(source.label, path), excess);
  return value;
}

/** Binds an operand within a text: keeps its text instead of its value. */
function bindTextOperand(operand: Operand, scope: TemplateScope): Operand {
  if (operand.readsItem) return operand;
  const evaluate = memoize(scope, () => {
    const value = operand.evaluate(scope, undefined);
    const text = toText(value, operand.path, scope.meter);
    if (text !== value) scope.meter?.add(STRING_BYTES + text.length);
    return text;
  });
  return { ...operand, evaluate };
}

/** Keeps what `evaluate` returns or throws at the first call, for all items of a fan-out. */
function memoize({ meter }: TemplateScope, evaluate: () => Json): () => Json {
  let result: (() => Json) | undefined;
  return () => {
    result ??= meter === undefined ? settle(evaluate) : meter.share(() => settle(evaluate));
    return result();
  };
}

function settle(evaluate: () => Json): () => Json {
  try {
    const value = evaluate();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/**
 * Formats a value within a text (D10); of a document or its pages, their text (D64).
 *
 * @throws TemplateError that names `path` when the value is too large or too deep
 */
export function toText(value: Json, path: string, meter?: RenderMeter): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  const text = documentText(value);
  if (text === TOO_LONG) return failAtSize(path);
  return text ?? toJsonText(value, path, meter);
}

/** @throws TemplateError when the text would exceed the limit */
export function appendText(text: string, addition: string, path: string): string {
  if (text.length + addition.length > MAX_OUTPUT_LENGTH) failAtSize(path);
  return text + addition;
}

/** Measures the value first: one that shares its parts may be small in memory and gigabytes long as JSON. */
function toJsonText(value: Json, path: string, meter: RenderMeter = new RenderMeter()): string {
  const left = subtractJsonLength(meter.jsonTextLeft, value);
  if (left === TOO_DEEP) {
    throw new TemplateError(path, `the value is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  if (left < 0) throw new TemplateError(path, TOO_MUCH_JSON_TEXT);
  meter.jsonTextLeft = left;
  return JSON.stringify(value);
}

function failAtSize(path: string): never {
  throw new TemplateError(path, `the rendered text is over ${formatMebibytes(MAX_OUTPUT_LENGTH)}`);
}
