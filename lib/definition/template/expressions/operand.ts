import type { Json } from '../../../common/json/json.js';
import { type Expression, formatPath, type Segment } from './expression.js';
import { lookUp } from './lookup.js';
import { explainMissing, type ValueSource } from './missing-value.js';
import { isRunNamespace, type Reference, resolveReference, startsWithState } from '../reference.js';
import type { TemplateScope } from '../scope.js';

/** A template of the definition could not be rendered with the data of this run (D13). */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The path without a value: `a.output.rows[0]`. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`{{${path}}}: ${reason}`);
    this.path = path;
  }
}

/** Renders one part of a compiled value. */
export interface Renderer {
  render(scope: TemplateScope, item: Json | undefined): Json;
  /** Returns the renderer for all items of one fan-out; it evaluates the parts that do not read the item once (D15). */
  bind(scope: TemplateScope): Renderer;
}

/** A template within a value. It renders to the value of its expression, which keeps its type (D10). */
export interface Operand extends Renderer {
  /** The path that the template reads, as text, for messages. */
  readonly path: string;
  /** True when the value depends on the item of a fan-out. */
  readonly readsItem: boolean;
}

/**
 * A compiled expression, of one that passed the checks: a root that is no namespace is a task id. Flat, because a
 * definition may have a hundred thousand of them.
 */
export class ExpressionOperand implements Operand {
  readonly expression: Expression;
  readonly source: ExpressionSource;

  constructor(expression: Expression) {
    this.expression = expression;
    this.source = new ExpressionSource(expression);
  }

  get path(): string {
    return formatPath(this.expression.root, this.expression.path);
  }

  get readsItem(): boolean {
    return this.expression.root === 'item';
  }

  /**
   * Returns the value. The fallback of the expression replaces one that is missing or null, anywhere on the path (D11).
   *
   * @throws TemplateError when there is none (D13)
   */
  render(scope: TemplateScope, item: Json | undefined): Json {
    const { fallback } = this.expression;
    const value = this.#lookUp(scope, item);
    if (fallback !== undefined) return value ?? fallback.value;
    if (value !== undefined) return value;
    const source = this.source.in(scope);
    throw new TemplateError(formatPath(source.label, source.path), explainMissing(source, scope, item));
  }

  bind(scope: TemplateScope): Renderer {
    return this.readsItem ? this : new MemoizedOperand(scope, () => this.render(scope, undefined));
  }

  #lookUp(scope: TemplateScope, item: Json | undefined): Json | undefined {
    const source = this.source.in(scope);
    const { path } = source;
    const from = source.read(scope, item);
    if (path.length === 0) return from;
    const value = lookUp(from, path, scope.meter);
    const excess = scope.meter?.excess;
    if (excess !== undefined) throw new TemplateError(formatPath(source.label, path), excess);
    return value;
  }
}

/** The value that an expression reads, and the path from there. */
class ExpressionSource implements ValueSource {
  readonly path: readonly Segment[];
  /** `member`: of a task, its error or its status; of one without `when` and `on_error: continue`, the same of its output (D79). */
  readonly #kind: Reference['kind'] | 'member';
  readonly #root: string;
  /** Set for an expression that may read a namespace or a task that is called so (D80). */
  readonly #ofTask: ExpressionSource | undefined;

  constructor({ root, path }: Named, isOfTask = !isRunNamespace(root)) {
    const reference = resolve(root, path, isOfTask);
    if (!isOfTask) this.#ofTask = new ExpressionSource({ root, path }, true);
    this.#kind = reference.kind === 'task' && startsWithState(path) ? 'member' : reference.kind;
    this.#root = root;
    this.path = pathFromValue(reference, path);
  }

  /** The source in a run: a task that is called like the namespace of a run hides the namespace. */
  in(scope: TemplateScope): ExpressionSource {
    return this.#ofTask !== undefined && scope.run === undefined ? this.#ofTask : this;
  }

  get label(): string {
    if (this.#kind === 'unknown') return this.#root;
    return this.#kind === 'task' || this.#kind === 'member' ? `${this.#root}.output` : LABELS[this.#kind];
  }

  get whenAbsent(): string {
    if (this.#kind === 'item') return 'only a task with parallel_over has an item';
    const isOfTask = this.#kind === 'task' || this.#kind === 'member';
    return isOfTask ? `task "${this.#root}" has no output` : 'it has no value';
  }

  read(scope: TemplateScope, item: Json | undefined): Json | undefined {
    switch (this.#kind) {
      case 'task':
      case 'this':
        return scope.output(this.#root);
      case 'member':
        return scope.stateOf?.(this.#root) ?? scope.output(this.#root);
      case 'item':
        return item;
      case 'input':
        return scope.inputs;
      case 'param':
        return scope.params;
      case 'session':
        return scope.session;
      case 'secret':
        return scope.secrets;
      case 'goal':
        return scope.goal;
      case 'run':
        return scope.run;
      case 'unknown':
        throw this.#describeUnknown();
    }
  }

  #describeUnknown(): TemplateError {
    const reference = resolve(this.#root, this.path, !isRunNamespace(this.#root));
    const reason = reference.kind === 'unknown' ? reference.message : 'it has no value';
    return new TemplateError(formatPath(this.#root, this.path), reason);
  }
}

type Named = Pick<Expression, 'root' | 'path'>;

/** @param isOfTask a root that is no namespace is a task; false for one that may be either, and is read as a namespace */
function resolve(root: string, path: readonly Segment[], isOfTask: boolean): Reference {
  return resolveReference({ root, path }, isOfTask ? new Set([root]) : NO_TASKS);
}

const NO_TASKS: ReadonlySet<string> = new Set();

const LABELS = {
  input: 'pipeline.inputs',
  param: 'params',
  session: 'session',
  secret: 'secrets',
  goal: 'pipeline.goal',
  run: 'run',
  item: 'item',
  this: 'this.output',
} as const;

/** Returns the path from the value that a reference reads. */
export function pathFromValue(reference: Reference, path: readonly Segment[]): readonly Segment[] {
  switch (reference.kind) {
    case 'task':
    case 'this':
      return reference.omitted ? path : path.slice(1);
    case 'input':
      return startWith(reference.key, path.slice(1));
    case 'param':
      return startWith(reference.name, path);
    case 'session':
      return startWith(reference.key, path);
    case 'secret':
      return startWith(reference.name, path.slice(0, 1));
    case 'goal':
      return path.slice(1);
    case 'item':
    case 'run':
    case 'unknown':
      return path;
  }
}

/** Namespaces have names only: their first segment is one, also when it looks like an index. */
function startWith(name: string, path: readonly Segment[]): readonly Segment[] {
  const isName = path[0]?.kind === 'field' && path[0].index === undefined;
  return isName ? path : [{ kind: 'field', name, index: undefined }, ...path.slice(1)];
}

/** Keeps what `evaluate` returns or throws at the first call, for all items of a fan-out. */
export class MemoizedOperand implements Operand {
  readonly readsItem = false;
  readonly #scope: TemplateScope;
  readonly #evaluate: () => Json;
  readonly #operand: Operand | undefined;
  #result: (() => Json) | undefined;

  /** @param operand whose path messages name */
  constructor(scope: TemplateScope, evaluate: () => Json, operand?: Operand) {
    this.#scope = scope;
    this.#evaluate = evaluate;
    this.#operand = operand;
  }

  get path(): string {
    return this.#operand?.path ?? '';
  }

  render(): Json {
    this.#result ??= this.#settleOnce();
    return this.#result();
  }

  bind(): Renderer {
    return this;
  }

  #settleOnce(): () => Json {
    const { meter } = this.#scope;
    return meter === undefined ? settle(this.#evaluate) : meter.share(() => settle(this.#evaluate));
  }
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
