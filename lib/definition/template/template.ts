import type { Json } from '../../common/json.js';
import type { Path } from '../problem.js';
import type { Expression, TemplateProblem } from './expression.js';
import type { Scope } from './scope.js';
import type { Renderer } from './renderer.js';
import { TemplateCompiler } from './template-compiler.js';

export type { Scope } from './scope.js';
export { TemplateError } from './template-error.js';

/** An expression, and where in the compiled value it stands. */
export interface PlacedExpression {
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
