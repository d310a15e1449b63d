import { type Json, type JsonObject, setOwn } from '../../common/json.js';
import { ellipsize } from '../../common/text.js';
import type { Path } from '../problem.js';
import { runToEnd, type Steps } from '../../common/steps.js';
import type { Expression, TemplatePart, TemplateProblem } from './expression.js';
import { parseInSteps, parseTemplate } from './parser.js';
import {
  FailingRenderer,
  ListRenderer,
  LiteralRenderer,
  ObjectRenderer,
  type Operand,
  compileOperand,
  type Renderer,
  createTextRenderer,
} from './renderer.js';
import type { TemplateScope } from './scope.js';

/** An expression and its path in the compiled value. */
interface LocatedExpression {
  readonly expression: Expression;
  readonly path: Path;
}

type LocatedTemplateProblem = TemplateProblem & { readonly path: Path };

/** A compiled JSON value with templates in its strings: compiled once, rendered often (D15). */
export interface Template {
  /** In the order of the value. */
  readonly expressions: readonly LocatedExpression[];
  /**
   * Replaces every template and returns the frozen value. Creates only the lists and objects that contain templates;
   * all results share the other parts. Values of the scope are not copied.
   *
   * @throws TemplateError when a path leads nowhere (D13) or a text would be over 10 MiB
   */
  render(scope: TemplateScope): Json;
  /**
   * Returns the renderer for the items of one fan-out. At the first item, it evaluates the parts that do not read
   * `item`, and keeps their values for the other items (D15). `bind` itself evaluates nothing and never throws.
   */
  bind(scope: TemplateScope): (item: Json, index: number) => Json;
}

interface CompileOptions {
  /** Keys of the value whose lists and objects contain no templates. */
  readonly verbatim?: ReadonlySet<string> | undefined;
  /** Most problems to report; texts after them are not parsed. Default: all. */
  readonly maxProblems?: number;
}

interface Compilation {
  readonly template: Template;
  readonly problems: readonly LocatedTemplateProblem[];
}

/** Compiles a copy of a value. A string that is not a valid template is reported as a problem, and rendering it throws. */
export function compileTemplate(value: Json, options: CompileOptions = {}): Compilation {
  return runToEnd(compileInSteps(value, options));
}

/** Compiles like `compileTemplate`. */
export function* compileInSteps(
  value: Json,
  { verbatim, maxProblems = Infinity }: CompileOptions,
): Steps<Compilation> {
  const compiler = new TemplateCompiler(verbatim, maxProblems);
  const root = yield* compiler.compile(value);
  return { template: new CompiledTemplate(root, compiler.expressions), problems: compiler.problems };
}

class CompiledTemplate implements Template {
  readonly expressions: readonly LocatedExpression[];
  readonly #root: Renderer;

  constructor(root: Renderer, expressions: readonly LocatedExpression[]) {
    this.#root = root;
    this.expressions = expressions;
  }

  render(scope: TemplateScope): Json {
    return this.#root.render(scope, scope.item);
  }

  bind(scope: TemplateScope): (item: Json, index: number) => Json {
    const root = this.#root.bind(scope);
    return (item) => root.render(scope, item);
  }
}

type MutablePath = (string | number)[];

/** Maximum nesting of lists and objects in one value. */
const MAX_DEPTH = 500;

const PARTS_PER_STEP = 200;

/** Longer texts, in characters, are compiled in steps. */
const LONG_TEXT = 4096;

/** Compiles one value to renderers and collects its expressions and problems. */
class TemplateCompiler {
  readonly expressions: { readonly expression: Expression; readonly path: MutablePath }[] = [];
  readonly problems: (TemplateProblem & { readonly path: MutablePath })[] = [];
  readonly #path: MutablePath = [];
  readonly #verbatim: ReadonlySet<string> | undefined;
  readonly #maxProblems: number;
  readonly #isLiteral: boolean;
  /** A YAML alias puts the same object in several places, or into itself. */
  readonly #seen = new Map<object, LiteralRenderer | 'open'>();
  #compiled = 0;

  /** With `verbatim`, the lists and objects at these keys are literal; with `isLiteral`, the whole value is. */
  constructor(verbatim: ReadonlySet<string> | undefined, maxProblems: number, isLiteral = false) {
    this.#verbatim = verbatim;
    this.#maxProblems = maxProblems;
    this.#isLiteral = isLiteral;
  }

  *compile(value: Json): Steps<Renderer> {
    if (typeof value === 'string')
      return value.length > LONG_TEXT ? yield* this.#compileLongText(value) : this.#compileText(value);
    if (typeof value !== 'object' || value === null) return new LiteralRenderer(value);
    if (this.#path.length === MAX_DEPTH) return this.#failValue(`is nested deeper than ${MAX_DEPTH} levels`);
    return yield* this.#compileContainer(value);
  }

  *#compileContainer(value: Json[] | JsonObject): Steps<Renderer> {
    const seen = this.#seen.get(value);
    if (seen === 'open') return this.#failValue('contains itself');
    if (seen !== undefined) return seen;
    this.#seen.set(value, 'open');
    const renderer = Array.isArray(value)
      ? yield* this.#compileList(value)
      : yield* this.#compileObject(value);
    if (isLiteral(renderer)) this.#seen.set(value, renderer);
    else this.#seen.delete(value);
    return renderer;
  }

  *#compileLongText(text: string): Steps<Renderer> {
    if (this.#isPlain(text) || this.problems.length >= this.#maxProblems) return this.#compileText(text);
    const parsed = yield* parseInSteps(text);
    const parts: (string | Operand)[] = [];
    for (const part of parsed?.parts ?? []) {
      if (this.#isStepDone()) yield;
      parts.push(this.#compilePart(part));
    }
    return this.#toRenderer(text, parsed, parts);
  }

  #compileText(text: string): Renderer {
    if (this.#isPlain(text)) return new LiteralRenderer(text);
    if (this.problems.length >= this.#maxProblems) return this.#fail(text, []);
    const parsed = parseTemplate(text);
    const parts = parsed?.parts.map((part) => this.#compilePart(part)) ?? [];
    return this.#toRenderer(text, parsed, parts);
  }

  #isPlain(text: string): boolean {
    return this.#isLiteral || !text.includes('{{');
  }

  #toRenderer(
    text: string,
    parsed: ReturnType<typeof parseTemplate>,
    parts: readonly (string | Operand)[],
  ): Renderer {
    if (parsed === undefined) return new LiteralRenderer(text);
    if (!parsed.ok) return this.#fail(text, parsed.problems);
    return createTextRenderer(parts, parsed.whole);
  }

  #compilePart(part: TemplatePart): string | Operand {
    if (typeof part === 'string') return part;
    this.expressions.push({ expression: part, path: [...this.#path] });
    return compileOperand(part);
  }

  *#compileList(list: readonly Json[]): Steps<Renderer> {
    const members: Renderer[] = [];
    for (const [index, member] of list.entries()) {
      if (this.#isStepDone()) yield;
      members.push(this.#compileScalar(index, member) ?? (yield* this.#compileAt(index, member)));
    }
    if (!members.every(isLiteral)) return new ListRenderer(members);
    const literal = members.map((member) => member.value);
    Object.freeze(literal);
    return new LiteralRenderer(literal);
  }

  *#compileObject(object: JsonObject): Steps<Renderer> {
    const members: (readonly [string, Renderer])[] = [];
    for (const key of Object.keys(object)) {
      if (this.#isStepDone()) yield;
      const member = object[key] as Json;
      members.push([key, this.#compileScalar(key, member) ?? (yield* this.#compileAt(key, member))]);
    }
    const literal: JsonObject = {};
    for (const [key, member] of members) {
      if (!isLiteral(member)) return new ObjectRenderer(members);
      setOwn(literal, key, member.value);
    }
    Object.freeze(literal);
    return new LiteralRenderer(literal);
  }

  #isStepDone(): boolean {
    return ++this.#compiled % PARTS_PER_STEP === 0;
  }

  /** Compiles what takes no steps, which most values are; undefined for the others. */
  #compileScalar(key: string | number, value: Json): Renderer | undefined {
    if (typeof value === 'object' && value !== null) return undefined;
    if (typeof value !== 'string') return new LiteralRenderer(value);
    if (value.length > LONG_TEXT) return undefined;
    this.#path.push(key);
    const renderer = this.#compileText(value);
    this.#path.pop();
    return renderer;
  }

  *#compileAt(key: string | number, value: Json): Steps<Renderer> {
    this.#path.push(key);
    const renderer = this.#isVerbatim(key, value)
      ? yield* this.#compileLiterally(value)
      : yield* this.compile(value);
    this.#path.pop();
    return renderer;
  }

  #isVerbatim(key: string | number, value: Json): boolean {
    const { length } = this.#path;
    return length === 1 && typeof value === 'object' && this.#verbatim?.has(String(key)) === true;
  }

  /** Uses a second compiler: an alias may also put the same object where its templates are rendered. */
  *#compileLiterally(value: Json): Steps<Renderer> {
    const literally = new TemplateCompiler(undefined, this.#maxProblems, true);
    const renderer = yield* literally.compile(value);
    for (const problem of literally.problems) {
      this.problems.push({ ...problem, path: [...this.#path, ...problem.path] });
    }
    return renderer;
  }

  #fail(text: string, problems: readonly TemplateProblem[]): Renderer {
    const path = [...this.#path];
    for (const problem of problems) this.problems.push({ ...problem, path });
    return new FailingRenderer(ellipsize(text, 80), problems[0]?.message ?? 'it is not a valid template');
  }

  #failValue(reason: string): Renderer {
    return this.#fail('…', [{ message: `the value ${reason}`, offset: 0, start: 0 }]);
  }
}

function isLiteral(renderer: Renderer): renderer is LiteralRenderer {
  return renderer instanceof LiteralRenderer;
}
