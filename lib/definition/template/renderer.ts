import { type Json, type JsonObject, setOwn } from '../../common/json.js';
import { fixed, fixedText, once, type Operand } from './operand.js';
import type { Scope } from './scope.js';
import { TemplateError } from './template-error.js';
import { joined, textOf } from './text.js';

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
