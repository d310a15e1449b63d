import { Suggestions } from '../../definition/did-you-mean.js';
import { isObject } from '../../common/json/json.js';
import { formatCount } from '../../common/text.js';
import { EXPRESSION_FUNCTIONS, type ExpressionFunction } from './functions.js';

/** A mistake in an expression that no value can change. */
export interface ExpressionProblem {
  /** Follows the name of the input: `calls $summ, which does not exist`. */
  readonly message: string;
  /** Where it begins in the expression, from 0. */
  readonly at: number;
  readonly hint?: string;
  /** The name that stands there, and the one that was certainly meant. */
  readonly rename?: { readonly from: string; readonly to: string };
}

/** Names of the variables that an expression is given. */
export type Bindings = ReadonlySet<string> | 'unknown' | 'any';

type SyntaxNode = Readonly<Record<string, unknown>>;

/** A call, or a function that `~>` applies to one value. */
interface Call {
  readonly name: string;
  /** Of its last character, from 1. */
  readonly position: number;
  readonly count: number;
  /** Without arguments, the function is only prepared for a later call. */
  readonly isPartial: boolean;
}

interface Variable {
  readonly name: string;
  readonly position: number;
}

/** More would not help. */
const MAX_PROBLEMS = 10;

/**
 * Finds calls of functions that do not exist, calls with a number of arguments that the function never accepts, and
 * variables that are not defined, anywhere in the expression: a variable may be defined after its use. Takes time
 * linear in the size of the tree.
 *
 * @param tree as JSONata parses an expression
 */
export function checkNames(tree: unknown, bindings: Exclude<Bindings, 'any'>): ExpressionProblem[] {
  const names = new NameCollector();
  names.visit(tree);
  const given = bindings === 'unknown' ? new Set<string>() : bindings;
  const isBound = (name: string): boolean => names.bound.has(name) || given.has(name);
  const known = {
    names: [...names.bound, ...given, ...EXPRESSION_FUNCTIONS.keys()],
    suggestions: new Suggestions(),
  };
  // JSONata has copies of the tree before ??, whose problems are at the same position.
  const problems = new Map<number, ExpressionProblem>();
  for (const problem of findProblems()) {
    problems.set(problem.at, problem);
    if (problems.size === MAX_PROBLEMS) break;
  }
  return [...problems.values()].toSorted((a, b) => a.at - b.at);

  function* findProblems(): Generator<ExpressionProblem> {
    for (const call of names.calls) if (!isBound(call.name)) yield* listed(checkCall(call, known));
    for (const call of names.plainCalls) if (!names.hasFunctionValues) yield* listed(checkPlainCall(call));
    for (const variable of names.variables)
      if (bindings !== 'unknown' && !isBound(variable.name)) yield* listed(checkVariable(variable, known));
  }
}

function listed(problem: ExpressionProblem | undefined): readonly ExpressionProblem[] {
  return problem === undefined ? [] : [problem];
}

/** The names that an expression may use, and the suggestions that may still be made from them. */
interface KnownNames {
  readonly names: readonly string[];
  readonly suggestions: Suggestions;
}

class NameCollector {
  readonly bound = new Set<string>();
  readonly calls: Call[] = [];
  /** Calls of names without a sign. */
  readonly plainCalls: Variable[] = [];
  readonly variables: Variable[] = [];
  /** True when a value may be a function, so that a field may be called. */
  hasFunctionValues = false;

  visit(tree: unknown): void {
    const waiting: unknown[] = [tree];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (Array.isArray(node)) waiting.push(...(node as readonly unknown[]).filter(isTree));
      else if (isObject(node)) this.#visitNode(node, waiting);
    }
  }

  #visitNode(node: SyntaxNode, waiting: unknown[]): void {
    const { type, focus, index, value } = node;
    // Names of a@$focus#$index.
    for (const name of [focus, index]) if (typeof name === 'string') this.bound.add(name);
    switch (type) {
      case 'index':
        if (typeof value === 'string') this.bound.add(value);
        break;
      case 'variable':
        this.#addVariable(node);
        break;
      case 'bind':
        this.#bind(node['lhs']);
        return pushMembers({ ...node, lhs: undefined }, waiting);
      case 'lambda':
        for (const parameter of listOf(node['arguments'])) this.#bind(parameter);
        // JSONata wraps a call at the end of a function in a lambda, which is no function of the author.
        this.hasFunctionValues ||= node['thunk'] !== true;
        return pushMembers({ ...node, arguments: undefined }, waiting);
      case 'function':
      case 'partial':
        return this.#visitCall(node, 0, waiting);
      case 'apply':
        return this.#visitApplication(node, waiting);
      case 'transform':
        this.hasFunctionValues = true;
        break;
      default:
    }
    pushMembers(node, waiting);
  }

  /** `value ~> $f(1)` calls with one more argument, and `value ~> $f` with one. */
  #visitApplication(node: SyntaxNode, waiting: unknown[]): void {
    const { rhs } = node;
    waiting.push(node['lhs']);
    if (!isObject(rhs)) return;
    if (rhs['type'] === 'function') this.#visitCall(rhs, 1, waiting);
    else if (rhs['type'] === 'variable') {
      const { name, position } = toVariable(rhs);
      this.calls.push({ name, position, count: 1, isPartial: false });
      this.hasFunctionValues = true;
      pushMembers(rhs, waiting);
    } else waiting.push(rhs);
    pushMembers({ ...node, lhs: undefined, rhs: undefined }, waiting);
  }

  #visitCall(node: SyntaxNode, further: number, waiting: unknown[]): void {
    const { procedure } = node;
    const args = listOf(node['arguments']);
    const isPartial = node['type'] === 'partial';
    this.hasFunctionValues ||= isPartial;
    if (isObject(procedure)) {
      const plain = nameAlone(procedure);
      if (procedure['type'] === 'variable') {
        this.calls.push({ ...toVariable(procedure), count: args.length + further, isPartial });
        pushMembers(procedure, waiting);
      } else if (plain !== undefined) this.plainCalls.push(plain);
      else waiting.push(procedure);
    }
    pushMembers({ ...node, procedure: undefined }, waiting);
  }

  #addVariable(node: SyntaxNode): void {
    const variable = toVariable(node);
    // $ is the context, and $$ the input.
    if (variable.name === '' || variable.name === '$') return;
    this.variables.push(variable);
    this.hasFunctionValues ||= EXPRESSION_FUNCTIONS.has(variable.name);
  }

  #bind(node: unknown): void {
    if (isObject(node) && typeof node['value'] === 'string') this.bound.add(node['value']);
  }
}

function pushMembers(node: SyntaxNode, waiting: unknown[]): void {
  for (const member of Object.values(node)) if (isTree(member)) waiting.push(member);
}

function isTree(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toVariable({ value, position }: SyntaxNode): Variable {
  return { name: String(value), position: Number(position) };
}

/** The name of a path that is nothing but a name. */
function nameAlone({ type, steps, ...others }: SyntaxNode): Variable | undefined {
  const [step, next] = listOf(steps);
  const isName = type === 'path' && isObject(step) && step['type'] === 'name' && next === undefined;
  return isName && !('group' in others) && !('stages' in step) ? toVariable(step) : undefined;
}

function checkCall(
  { name, position, count, isPartial }: Call,
  known: KnownNames,
): ExpressionProblem | undefined {
  if (name === '' || name === '$') return undefined;
  const at = position - name.length - 1;
  const called = EXPRESSION_FUNCTIONS.get(name);
  if (name === 'eval') return { message: 'calls $eval, which is switched off', at };
  if (called === undefined)
    return withSuggestion(
      { message: `calls $${name}, which does not exist`, at },
      name,
      known,
      FUNCTIONS_HINT,
    );
  if (isPartial) return undefined;
  const { least, most, takesContext, usage } = called;
  if (count >= least && count <= most) return undefined;
  const context = takesContext ? '; without the first one, it takes the value of the context' : '';
  return {
    message: `calls $${name} with ${formatCount(count, 'argument')}, and it takes ${describeCount(called)}`,
    at,
    hint: `write $${usage}${context}`,
  };
}

const FUNCTIONS_HINT =
  'https://docs.jsonata.org lists the functions; functions of your own are bound with :=';

function describeCount({ least, most }: ExpressionFunction): string {
  if (least === most) return least === 0 ? 'none' : `${least}`;
  if (most === Number.POSITIVE_INFINITY) return `${least} or more`;
  return most === least + 1 ? `${least} or ${most}` : `${least} to ${most}`;
}

/** Values are JSON, so a field can be called only where the expression itself makes values that are functions. */
function checkPlainCall({ name, position }: Variable): ExpressionProblem | undefined {
  if (!EXPRESSION_FUNCTIONS.has(name)) return undefined;
  const rename = { from: name, to: `$${name}` };
  return { message: `calls the field ${name}, which is no function`, at: position - name.length, rename };
}

function checkVariable({ name, position }: Variable, known: KnownNames): ExpressionProblem | undefined {
  if (EXPRESSION_FUNCTIONS.has(name)) return undefined;
  const problem = { message: `reads $${name}, which is not defined`, at: position - name.length - 1 };
  return withSuggestion(
    problem,
    name,
    known,
    `add ${name} to the input "bindings", or bind it with $${name} := …`,
  );
}

function withSuggestion(
  problem: ExpressionProblem,
  name: string,
  known: KnownNames,
  otherwise: string,
): ExpressionProblem {
  const meant = known.suggestions.nearest(name, known.names);
  if (meant === undefined || !isPlainName(meant)) return { ...problem, hint: otherwise };
  return { ...problem, rename: { from: `$${name}`, to: `$${meant}` } };
}

function isPlainName(name: string): boolean {
  return /^\w+$/.test(name);
}
