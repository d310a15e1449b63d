import { type Json, type JsonObject, setOwn } from '../../common/json.js';
import type { Path } from '../problem.js';
import { type Expression, type TemplatePart, type TemplateProblem, ellipsize } from './expression.js';
import { parseTemplate } from './parser.js';
import {
  FailingRenderer,
  ListRenderer,
  LiteralRenderer,
  ObjectRenderer,
  type Operand,
  compileOperand,
  type Renderer,
  TextRenderer,
  ValueRenderer,
} from './renderer.js';
import type { TemplateScope } from './scope.js';

/** An expression and its path in the compiled value. */
interface LocatedExpression {
  readonly expression: Expression;
  readonly path: Path;
}

export type LocatedTemplateProblem = TemplateProblem & { readonly path: Path };

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

/**
 * Compiles a copy of a value. A string that is not a valid template is reported as a problem, and rendering it throws.
 *
 * @param verbatim keys of the value whose lists and objects contain no templates
 */
export function compileTemplate(
  value: Json,
  verbatim?: ReadonlySet<string>,
): {
  readonly template: Template;
  readonly problems: readonly LocatedTemplateProblem[];
} {
  const compiler = new TemplateCompiler(verbatim);
  const root = compiler.compile(value);
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

/** Compiles one value to renderers and collects its expressions and problems. */
class TemplateCompiler {
  readonly expressions: { readonly expression: Expression; readonly path: MutablePath }[] = [];
  readonly problems: (TemplateProblem & { readonly path: MutablePath })[] = [];
  readonly #path: MutablePath = [];
  readonly #verbatim: ReadonlySet<string> | undefined;
  readonly #isLiteral: boolean;
  /** A YAML alias puts the same object in several places, or into itself. */
  readonly #seen = new Map<object, LiteralRenderer | 'open'>();

  /** With `verbatim`, the lists and objects at these keys are literal; with `isLiteral`, the whole value is. */
  constructor(verbatim: ReadonlySet<string> | undefined, isLiteral = false) {
    this.#verbatim = verbatim;
    this.#isLiteral = isLiteral;
  }

  compile(value: Json): Renderer {
    if (typeof value === 'string') return this.#compileText(value);
    if (typeof value !== 'object' || value === null) return new LiteralRenderer(value);
    if (this.#path.length === MAX_DEPTH) return this.#failValue(`is nested deeper than ${MAX_DEPTH} levels`);
    return this.#compileContainer(value);
  }

  #compileContainer(value: Json[] | JsonObject): Renderer {
    const seen = this.#seen.get(value);
    if (seen === 'open') return this.#failValue('contains itself');
    if (seen !== undefined) return seen;
    this.#seen.set(value, 'open');
    const renderer = Array.isArray(value) ? this.#compileList(value) : this.#compileObject(value);
    if (isLiteral(renderer)) this.#seen.set(value, renderer);
    else this.#seen.delete(value);
    return renderer;
  }

  #compileText(text: string): Renderer {
    const parsed = this.#isLiteral ? undefined : parseTemplate(text);
    if (parsed === undefined) return new LiteralRenderer(text);
    if (!parsed.ok) return this.#fail(text, parsed.problems);
    const parts = parsed.parts.map((part) => this.#compilePart(part));
    const [first] = parts;
    if (parsed.whole && typeof first === 'object') return new ValueRenderer(first);
    return parts.length === 1 && typeof first === 'string'
      ? new LiteralRenderer(first)
      : new TextRenderer(parts);
  }

  #compilePart(part: TemplatePart): string | Operand {
    if (typeof part === 'string') return part;
    this.expressions.push({ expression: part, path: [...this.#path] });
    return compileOperand(part);
  }

  #compileList(list: readonly Json[]): Renderer {
    const members = list.map((member, index) => this.#compileAt(index, member));
    if (!members.every(isLiteral)) return new ListRenderer(members);
    const literal = members.map((member) => member.value);
    Object.freeze(literal);
    return new LiteralRenderer(literal);
  }

  #compileObject(object: JsonObject): Renderer {
    const members = Object.entries(object).map(
      ([key, member]) => [key, this.#compileAt(key, member)] as const,
    );
    const literal: JsonObject = {};
    for (const [key, member] of members) {
      if (!isLiteral(member)) return new ObjectRenderer(members);
      setOwn(literal, key, member.value);
    }
    Object.freeze(literal);
    return new LiteralRenderer(literal);
  }

  #compileAt(key: string | number, value: Json): Renderer {
    this.#path.push(key);
    const renderer = this.#isVerbatim(key, value) ? this.#compileLiterally(value) : this.compile(value);
    this.#path.pop();
    return renderer;
  }

  #isVerbatim(key: string | number, value: Json): boolean {
    const { length } = this.#path;
    return length === 1 && typeof value === 'object' && this.#verbatim?.has(String(key)) === true;
  }

  /** Uses a second compiler: an alias may also put the same object where its templates are rendered. */
  #compileLiterally(value: Json): Renderer {
    const literally = new TemplateCompiler(undefined, true);
    const renderer = literally.compile(value);
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
    return this.#fail('…', [{ message: `the value ${reason}`, offset: 0 }]);
  }
}

function isLiteral(renderer: Renderer): renderer is LiteralRenderer {
  return renderer instanceof LiteralRenderer;
}
