import type { Json } from '../../common/json.js';
import type { Expression } from './expression.js';
import { lookUp } from './lookup.js';
import { whyMissing } from './missing.js';
import type { Scope } from './scope.js';
import { originOf } from './origin.js';
import { spell } from './spelling.js';
import { TemplateError } from './template-error.js';

/** Gives the value of an expression. Throws a TemplateError when there is none (D13). */
export type Evaluate = (scope: Scope, item: Json | undefined) => Json;

/** Compiles an expression: its fallback stands in for what is missing or null, wherever on the path (D11). */
export function evaluatorOf(expression: Expression): Evaluate {
  const origin = originOf(expression);
  const { path } = origin;
  const { fallback } = expression;
  if (fallback !== undefined) {
    return (scope, item) => lookUp(origin.read(scope, item), path) ?? fallback.value;
  }
  return (scope, item) => {
    const value = lookUp(origin.read(scope, item), path);
    if (value !== undefined) return value;
    throw new TemplateError(spell(origin.label, path), whyMissing(origin, scope, item));
  };
}
