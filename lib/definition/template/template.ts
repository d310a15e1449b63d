import { type Json, type JsonObject, MEMBER_BYTES, OBJECT_BYTES, setOwn } from '../../common/json/json.js';
import { ellipsize } from '../../common/text.js';
import type { Path } from '../problems/problem.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import type { PlacedExpression, TemplatePart, TemplateProblem } from './expressions/expression.js';
import { ExpressionTable } from './expressions/expression-table.js';
import type { ExpressionOperand, Operand, Renderer } from './expressions/operand.js';
import { parseInSteps, parseTemplate } from './parsing/parser.js';
import {
  createTextRenderer,
  FailingRenderer,
  ListRenderer,
  LiteralRenderer,
  ObjectRenderer,
} from './renderer.js';
import type { TemplateScope } from './scope.js';

/** The templates of one text of the compiled value. */
export interface LocatedText {
  /** Path of the list or the object that contains the text, which all of its texts share. */
  readonly container: Path;
  /** Key of the text in the container; undefined for a value that is a text. */
  readonly key: string | number | undefined;
  readonly text: string;
  readonly expressions: readonly PlacedExpression[];
}

/** A compiled JSON value with templates in its strings: compiled once, rendered often (D15). */
export interface Template {
  /** The different expressions in the value, each once, in the order of the value. */
  readonly operands: readonly ExpressionOperand[];
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
  /** The expressions of the whole definition. Default: those of this value. */
  readonly table?: ExpressionTable;
  /** Keys of the value whose lists and objects contain no templates. */
  readonly verbatim?: ReadonlySet<string> | undefined;
  /** Most problems to report; texts after them are not parsed. Default: all. */
  readonly maxProblems?: number;
}

interface Compilation {
  readonly template: Template;
  /** Memory that the template takes besides the expressions of the table, in bytes. */
  readonly sizeBytes: number;
  /** In the order of the value. */
  readonly texts: readonly LocatedText[];
  readonly problems: readonly (TemplateProblem & { readonly path: Path })[];
}

/** Compiles a copy of a value. A string that is not a valid template is reported as a problem, and rendering it throws. */
export function compileTemplate(value: Json, options: CompileOptions = {}): Compilation {
  return runToEnd(compileInSteps(value, options));
}

/** Compiles like `compileTemplate`. */
export function* compileInSteps(
  value: Json,
  { table = new ExpressionTable(), verbatim, maxProblems = Infinity }: CompileOptions,
): Steps<Compilation> {
  const compiler = new TemplateCompiler(table, verbatim, maxProblems);
  const root = yield* compiler.compile(value);
  const { operands, texts, problems } = compiler;
  const sizeBytes = TEMPLATE_BYTES + compiler.sizeBytes + POINTER_BYTES * operands.size;
  return { template: new CompiledTemplate(root, [...operands]), sizeBytes, texts, problems };
}

class CompiledTemplate implements Template {
  readonly operands: readonly ExpressionOperand[];
  readonly #root: Renderer;

  constructor(root: Renderer, operands: readonly ExpressionOperand[]) {
    this.#root = root;
    this.operands = operands;
  }

  render(scope: TemplateScope): Json {
    return this.#root.render(scope, scope.item);
  }

  bind(scope: TemplateScope): (item: Json, index: number) => Json {
    const root = this.#root.bind(scope);
    return (item) => root.render(scope, item);
  }
}

export function pathOfText({ container, key }: LocatedText): Path {
  return key === undefined ? container : [...container, key];
}

type MutablePath = (string | number)[];

type Part = string | Operand;

/** Maximum nesting of lists and objects in one value. */
const MAX_DEPTH = 500;

const PARTS_PER_STEP = 200;

/** Longer texts, in characters, are compiled in steps. */
const LONG_TEXT = 4096;

/** Measured memory of what is compiled, in bytes: a template, a literal, a text or one of its parts, a list or an object. */
const TEMPLATE_BYTES = 120;
const LITERAL_BYTES = 32;
const TEXT_BYTES = 80;
const LIST_BYTES = 80;
const PLAIN_TEXT_BYTES = 24;
const POINTER_BYTES = 8;

/** Compiles one value to renderers and collects its expressions and problems. */
class TemplateCompiler {
  sizeBytes = 0;
  readonly operands = new Set<ExpressionOperand>();
  readonly texts: LocatedText[] = [];
  readonly problems: (TemplateProblem & { readonly path: MutablePath })[] = [];
  readonly #table: ExpressionTable;
  readonly #path: MutablePath = [];
  readonly #verbatim: ReadonlySet<string> | undefined;
  readonly #maxProblems: number;
  readonly #isLiteral: boolean;
  /** A YAML alias puts the same object in several places, or into itself. */
  readonly #seen = new Map<object, LiteralRenderer | 'open'>();
  #compiled = 0;

  /** With `verbatim`, the lists and objects at these keys are literal; with `isLiteral`, the whole value is. */
  constructor(
    table: ExpressionTable,
    verbatim: ReadonlySet<string> | undefined,
    maxProblems: number,
    isLiteral = false,
  ) {
    this.#table = table;
    this.#verbatim = verbatim;
    this.#maxProblems = maxProblems;
    this.#isLiteral = isLiteral;
  }

  *compile(value: Json): Steps<Renderer> {
    if (typeof value === 'string')
      return value.length > LONG_TEXT ? yield* this.#compileLongText(value) : this.#compileText(value);
    if (typeof value !== 'object' || value === null) return this.#createLiteral(value);
    if (this.#path.length === MAX_DEPTH) return this.#failValue(`is nested deeper than ${MAX_DEPTH} levels`);
    return yield* this.#compileContainer(value);
  }

  *#compileContainer(value: Json[] | JsonObject): Steps<Renderer> {
    const seen = this.#seen.get(value);
    if (seen === 'open') return this.#failValue('contains itself');
    if (seen !== undefined) return seen;
    this.#seen.set(value, 'open');
    const renderer = yield* Array.isArray(value) ? this.#compileList(value) : this.#compileObject(value);
    if (isLiteral(renderer)) this.#seen.set(value, renderer);
    else this.#seen.delete(value);
    return renderer;
  }

  *#compileLongText(text: string): Steps<Renderer> {
    if (this.#isPlain(text) || this.#isFull()) return this.#compileText(text);
    const parsed = yield* parseInSteps(text, this.#table);
    const parts: Part[] = [];
    for (const part of parsed?.parts ?? []) {
      if (this.#isStepDone()) yield;
      parts.push(this.#compilePart(part));
    }
    return this.#toRenderer(text, parsed, parts.slice());
  }

  #compileText(text: string): Renderer {
    if (this.#isPlain(text)) return this.#createLiteral(text);
    if (this.#isFull()) return this.#fail(text, []);
    const parsed = parseTemplate(text, this.#table);
    const parts = parsed?.parts.map((part) => this.#compilePart(part)) ?? [];
    return this.#toRenderer(text, parsed, parts);
  }

  /** True when further templates are not worth parsing, because the definition is refused. */
  #isFull(): boolean {
    return this.problems.length >= this.#maxProblems || this.#table.isOverfull;
  }

  #isPlain(text: string): boolean {
    return this.#isLiteral || !text.includes('{{');
  }

  #toRenderer(text: string, parsed: ReturnType<typeof parseTemplate>, parts: readonly Part[]): Renderer {
    if (parsed === undefined) return this.#createLiteral(text);
    this.#addText(text, parsed.parts);
    if (!parsed.ok) return this.#fail(text, parsed.problems);
    if (!parsed.whole) this.sizeBytes += TEXT_BYTES + measureParts(parts);
    return createTextRenderer(parts, parsed.whole);
  }

  #addText(text: string, parts: readonly TemplatePart[]): void {
    const expressions = parts.filter((part) => typeof part !== 'string');
    if (expressions.length === 0) return;
    const container = this.#path.slice(0, -1);
    const last = this.texts.at(-1)?.container;
    const isSame = last?.length === container.length && container.every((key, at) => key === last[at]);
    this.texts.push({ container: isSame ? last : container, key: this.#path.at(-1), text, expressions });
  }

  #createLiteral(value: Json): LiteralRenderer {
    this.sizeBytes += LITERAL_BYTES;
    return new LiteralRenderer(value);
  }

  #compilePart(part: TemplatePart): Part {
    if (typeof part === 'string') return part;
    const operand = this.#table.operandOf(part.expression);
    this.operands.add(operand);
    return operand;
  }

  *#compileList(list: readonly Json[]): Steps<Renderer> {
    const members: Renderer[] = [];
    for (const [index, member] of list.entries()) {
      if (this.#isStepDone()) yield;
      members.push(this.#compileScalar(index, member) ?? (yield* this.#compileAt(index, member)));
    }
    this.sizeBytes += LIST_BYTES + POINTER_BYTES * list.length;
    // A list that grew by pushing has room for more.
    if (!members.every(isLiteral)) return new ListRenderer(members.slice());
    this.sizeBytes -= LITERAL_BYTES * list.length;
    const literal = members.map((member) => member.value);
    Object.freeze(literal);
    return this.#createLiteral(literal);
  }

  *#compileObject(object: JsonObject): Steps<Renderer> {
    const keys = Object.keys(object);
    const members: Renderer[] = [];
    for (const key of keys) {
      if (this.#isStepDone()) yield;
      const member = object[key] as Json;
      members.push(this.#compileScalar(key, member) ?? (yield* this.#compileAt(key, member)));
    }
    if (!members.every(isLiteral)) {
      this.sizeBytes += 2 * LIST_BYTES + 2 * POINTER_BYTES * keys.length;
      return new ObjectRenderer(keys, members.slice());
    }
    this.sizeBytes += OBJECT_BYTES + (MEMBER_BYTES - LITERAL_BYTES) * keys.length;
    const literal: JsonObject = {};
    for (const [index, member] of members.entries()) setOwn(literal, keys[index] as string, member.value);
    Object.freeze(literal);
    return this.#createLiteral(literal);
  }

  #isStepDone(): boolean {
    return ++this.#compiled % PARTS_PER_STEP === 0;
  }

  /** Compiles what takes no steps, which most values are; undefined for the others. */
  #compileScalar(key: string | number, value: Json): Renderer | undefined {
    if (typeof value === 'object' && value !== null) return undefined;
    if (typeof value !== 'string') return this.#createLiteral(value);
    if (value.length > LONG_TEXT) return undefined;
    this.#path.push(key);
    const renderer = this.#compileText(value);
    this.#path.pop();
    return renderer;
  }

  *#compileAt(key: string | number, value: Json): Steps<Renderer> {
    this.#path.push(key);
    const renderer = yield* this.#isVerbatim(key, value)
      ? this.#compileLiterally(value)
      : this.compile(value);
    this.#path.pop();
    return renderer;
  }

  #isVerbatim(key: string | number, value: Json): boolean {
    const { length } = this.#path;
    return length === 1 && typeof value === 'object' && this.#verbatim?.has(String(key)) === true;
  }

  /** Uses a second compiler: an alias may also put the same object where its templates are rendered. */
  *#compileLiterally(value: Json): Steps<Renderer> {
    const literally = new TemplateCompiler(this.#table, undefined, this.#maxProblems, true);
    const renderer = yield* literally.compile(value);
    this.sizeBytes += literally.sizeBytes;
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

function measureParts(parts: readonly Part[]): number {
  let bytes = POINTER_BYTES * parts.length;
  for (const part of parts) if (typeof part === 'string') bytes += PLAIN_TEXT_BYTES + part.length;
  return bytes;
}

function isLiteral(renderer: Renderer): renderer is LiteralRenderer {
  return renderer instanceof LiteralRenderer;
}
