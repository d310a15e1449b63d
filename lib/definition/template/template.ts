import { type Json, type JsonObject, setOwn } from '../../common/json.js';
import type { Path } from '../problem.js';
import type { Expression, TemplatePart, TemplateProblem } from './expression.js';
import { parseTemplate } from './parser.js';
import {
  BrokenRenderer,
  ListRenderer,
  LiteralRenderer,
  ObjectRenderer,
  type Operand,
  operandOf,
  type Renderer,
  TextRenderer,
  ValueRenderer,
} from './renderer.js';
import type { Scope } from './scope.js';
import { shortened } from './template-error.js';

export type { Scope } from './scope.js';
export { TemplateError } from './template-error.js';

/** An expression, and where in the compiled value it stands. */
interface PlacedExpression {
  readonly expression: Expression;
  readonly path: Path;
}

export type PlacedProblem = TemplateProblem & { readonly path: Path };

/** The compiled form of any JSON value with templates in its strings: compiled once, rendered often (D15). */
export interface Template {
  /** In the order of the value. */
  readonly expressions: readonly PlacedExpression[];
  /**
   * The value with every template replaced, frozen: new lists and objects where templates stood in them, parts
   * without templates shared by all results, values of the scope given on as they are.
   *
   * @throws TemplateError when a path leads nowhere (D13) or a text would be over 10 MiB.
   */
  render(scope: Scope): Json;
  /**
   * The renderer for the items of one fan-out: what does not read `item` is evaluated at the first item, and
   * never again (D15). Binding itself evaluates nothing and never throws.
   */
  bind(scope: Scope): (item: Json, index: number) => Json;
}

/**
 * Compiles a value; it is copied, so that changing it later changes nothing here. A string that is no valid
 * template is a problem, and rendering throws.
 *
 * @param verbatim keys of the value whose lists and objects hold no templates
 */
export function compileTemplate(
  value: Json,
  verbatim?: ReadonlySet<string>,
): {
  readonly template: Template;
  readonly problems: readonly PlacedProblem[];
} {
  const compiler = new TemplateCompiler({ verbatim });
  const root = compiler.compile(value);
  return { template: new CompiledTemplate(root, compiler.expressions), problems: compiler.problems };
}

class CompiledTemplate implements Template {
  readonly expressions: readonly PlacedExpression[];
  readonly #root: Renderer;

  constructor(root: Renderer, expressions: readonly PlacedExpression[]) {
    this.#root = root;
    this.expressions = expressions;
  }

  render(scope: Scope): Json {
    return this.#root.render(scope, scope.item);
  }

  bind(scope: Scope): (item: Json, index: number) => Json {
    const root = this.#root.fix(scope);
    return (item) => root.render(scope, item);
  }
}

type Place = (string | number)[];

/** How deep the lists and objects of one value may nest. */
const DEPTH_LIMIT = 500;

/** Turns one value into renderers, and collects its expressions and problems on the way. */
class TemplateCompiler {
  readonly expressions: { readonly expression: Expression; readonly path: Place }[] = [];
  readonly problems: (TemplateProblem & { readonly path: Place })[] = [];
  readonly #place: Place = [];
  readonly #verbatim: ReadonlySet<string> | undefined;
  readonly #isLiteral: boolean;
  /** A YAML alias gives the same object twice, or one inside itself. */
  readonly #known = new Map<object, LiteralRenderer | 'open'>();

  /** With `verbatim` the lists and objects at these keys of the value are literal, with `isLiteral` all of it is. */
  constructor(
    options: { readonly verbatim?: ReadonlySet<string> | undefined; readonly isLiteral?: boolean } = {},
  ) {
    this.#verbatim = options.verbatim;
    this.#isLiteral = options.isLiteral ?? false;
  }

  compile(value: Json): Renderer {
    if (typeof value === 'string') return this.#compileText(value);
    if (typeof value !== 'object' || value === null) return new LiteralRenderer(value);
    if (this.#place.length === DEPTH_LIMIT)
      return this.#refuseValue(`nests deeper than ${DEPTH_LIMIT} levels`);
    return this.#compileContainer(value);
  }

  #compileContainer(value: Json[] | JsonObject): Renderer {
    const known = this.#known.get(value);
    if (known === 'open') return this.#refuseValue('holds itself');
    if (known !== undefined) return known;
    this.#known.set(value, 'open');
    const renderer = Array.isArray(value) ? this.#compileList(value) : this.#compileObject(value);
    if (isLiteral(renderer)) this.#known.set(value, renderer);
    else this.#known.delete(value);
    return renderer;
  }

  #compileText(text: string): Renderer {
    const parsed = this.#isLiteral ? undefined : parseTemplate(text);
    if (parsed === undefined) return new LiteralRenderer(text);
    if (!parsed.ok) return this.#refuse(text, parsed.problems);
    const parts = parsed.parts.map((part) => this.#compilePart(part));
    const [first] = parts;
    if (parsed.whole && typeof first === 'object') return new ValueRenderer(first);
    return parts.length === 1 && typeof first === 'string'
      ? new LiteralRenderer(first)
      : new TextRenderer(parts);
  }

  #compilePart(part: TemplatePart): string | Operand {
    if (typeof part === 'string') return part;
    this.expressions.push({ expression: part, path: [...this.#place] });
    return operandOf(part);
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
    this.#place.push(key);
    const renderer = this.#isVerbatim(key, value) ? this.#compileLiterally(value) : this.compile(value);
    this.#place.pop();
    return renderer;
  }

  #isVerbatim(key: string | number, value: Json): boolean {
    const { length } = this.#place;
    return length === 1 && typeof value === 'object' && this.#verbatim?.has(String(key)) === true;
  }

  /** On its own: an alias may give the same object elsewhere, where its templates count. */
  #compileLiterally(value: Json): Renderer {
    const literally = new TemplateCompiler({ isLiteral: true });
    const renderer = literally.compile(value);
    for (const problem of literally.problems) {
      this.problems.push({ ...problem, path: [...this.#place, ...problem.path] });
    }
    return renderer;
  }

  #refuse(text: string, problems: readonly TemplateProblem[]): Renderer {
    const path = [...this.#place];
    for (const problem of problems) this.problems.push({ ...problem, path });
    return new BrokenRenderer(shortened(text, 80), problems[0]?.message ?? 'it is no template');
  }

  #refuseValue(reason: string): Renderer {
    return this.#refuse('…', [{ message: `the value ${reason}`, offset: 0 }]);
  }
}

function isLiteral(renderer: Renderer): renderer is LiteralRenderer {
  return renderer instanceof LiteralRenderer;
}
