import type { Json } from '../../common/json.js';
import { type Evaluate, evaluatorOf } from './evaluator.js';
import type { Expression } from './expression.js';
import type { Scope } from './scope.js';
import { spell } from './spelling.js';
import { textOf } from './text.js';

/** A compiled expression at its place in a value. */
export interface Operand {
  readonly evaluate: Evaluate;
  /** The path it reads, as text, for messages. */
  readonly path: string;
  /** It changes with the item of a fan-out. */
  readonly readsItem: boolean;
}

export function operandOf(expression: Expression): Operand {
  return {
    evaluate: evaluatorOf(expression),
    path: spell(expression.root, expression.path),
    readsItem: expression.root === 'item',
  };
}

/** The operand for all items of one fan-out: evaluated at the first use, and once, unless it reads the item (D15). */
export function fixed(operand: Operand, scope: Scope): Operand {
  if (operand.readsItem) return operand;
  return { ...operand, evaluate: once(() => operand.evaluate(scope, undefined)) };
}

/** The same for an operand of a text: what is kept is its text. */
export function fixedText(operand: Operand, scope: Scope): Operand {
  if (operand.readsItem) return operand;
  return { ...operand, evaluate: once(() => textOf(operand.evaluate(scope, undefined), operand.path)) };
}

/** Keeps what `evaluate` gives at the first call, or what it throws. */
export function once(evaluate: () => Json): () => Json {
  let outcome: (() => Json) | undefined;
  return () => {
    outcome ??= outcomeOf(evaluate);
    return outcome();
  };
}

function outcomeOf(evaluate: () => Json): () => Json {
  try {
    const value = evaluate();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
