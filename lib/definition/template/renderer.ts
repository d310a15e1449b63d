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
} from '../../common/json/json.js';
import { MAX_OUTPUT_LENGTH } from '../../common/limits.js';
import { formatMebibytes } from '../../common/text.js';
import { documentText, TOO_LONG } from '../text/document-text.js';
import { MemoizedOperand, type Operand, type Renderer, TemplateError } from './expressions/operand.js';
import { RenderMeter } from './render-meter.js';
import type { TemplateScope } from './scope.js';

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

/** Formats the path of a template when a message needs it. */
type PathSource = Pick<Operand, 'path'>;

const NO_PATH: PathSource = { path: '' };

/** A text with templates in it. */
class TextRenderer implements Renderer {
  readonly #parts: readonly (string | Operand)[];

  constructor(parts: readonly (string | Operand)[]) {
    this.#parts = parts;
  }

  render(scope: TemplateScope, item: Json | undefined): Json {
    let text = '';
    let last: PathSource = NO_PATH;
    for (const part of this.#parts) {
      const isPlain = typeof part === 'string';
      if (!isPlain) last = part;
      text = appendText(text, isPlain ? part : toText(part.render(scope, item), part, scope.meter), last);
    }
    scope.meter?.add(STRING_BYTES + text.length);
    const excess = scope.meter?.excess;
    if (excess !== undefined) throw new TemplateError(last.path, excess);
    return text;
  }

  bind(scope: TemplateScope): Renderer {
    const readsItem = this.#parts.some((part) => typeof part !== 'string' && part.readsItem);
    if (!readsItem) return new MemoizedOperand(scope, () => this.render(scope, undefined));
    return new TextRenderer(
      this.#parts.map((part) => (typeof part === 'string' ? part : bindTextOperand(part, scope))),
    );
  }
}

/** Returns the renderer of a text. If it is a `whole` template, the value keeps its type (D10). */
export function createTextRenderer(parts: readonly (string | Operand)[], whole: boolean): Renderer {
  const [first] = parts;
  if (whole && typeof first === 'object') return first;
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
  readonly #keys: readonly string[];
  readonly #members: readonly Renderer[];

  constructor(keys: readonly string[], members: readonly Renderer[]) {
    this.#keys = keys;
    this.#members = members;
  }

  render(scope: TemplateScope, item: Json | undefined): Json {
    scope.meter?.add(OBJECT_BYTES + MEMBER_BYTES * this.#members.length);
    const object: JsonObject = {};
    for (let index = 0; index < this.#keys.length; index++) {
      setOwn(object, this.#keys[index] as string, (this.#members[index] as Renderer).render(scope, item));
    }
    return Object.freeze(object);
  }

  bind(scope: TemplateScope): Renderer {
    return new ObjectRenderer(
      this.#keys,
      this.#members.map((member) => member.bind(scope)),
    );
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

/** Binds an operand within a text: keeps its text instead of its value. */
function bindTextOperand(operand: Operand, scope: TemplateScope): Operand {
  if (operand.readsItem) return operand;
  const evaluate = (): Json => {
    const value = operand.render(scope, undefined);
    const text = toText(value, operand, scope.meter);
    if (text !== value) scope.meter?.add(STRING_BYTES + text.length);
    return text;
  };
  return new MemoizedOperand(scope, evaluate, operand);
}

/**
 * Formats a value within a text (D10); of a document or its pages, their text (D64).
 *
 * @throws TemplateError that names the path of `source` when the value is too large or too deep
 */
export function toText(value: Json, source: PathSource, meter?: RenderMeter): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  const text = documentText(value);
  if (text === TOO_LONG) return failAtSize(source);
  return text ?? toJsonText(value, source, meter);
}

/** @throws TemplateError when the text would exceed the limit */
export function appendText(text: string, addition: string, source: PathSource): string {
  if (text.length + addition.length > MAX_OUTPUT_LENGTH) failAtSize(source);
  return text + addition;
}

/** Measures the value first: one that shares its parts may be small in memory and gigabytes long as JSON. */
function toJsonText(value: Json, source: PathSource, meter: RenderMeter = new RenderMeter()): string {
  const left = subtractJsonLength(meter.jsonTextLeft, value);
  if (left === TOO_DEEP) {
    throw new TemplateError(source.path, `the value is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  if (left < 0) throw new TemplateError(source.path, meter.tooMuchJsonText);
  meter.jsonTextLeft = left;
  return JSON.stringify(value);
}

function failAtSize(source: PathSource): never {
  throw new TemplateError(source.path, `the rendered text is over ${formatMebibytes(MAX_OUTPUT_LENGTH)}`);
}
