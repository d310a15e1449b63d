import type { Expression } from '../../../lib/definition/template/expressions/expression.js';
import type { TemplateScope } from '../../../lib/definition/template/scope.js';
import { parseTemplate } from '../../../lib/definition/template/parsing/parser.js';
import * as fc from 'fast-check';
import type { Json } from '../../../lib/common/json/json.js';

/** Parses `{{source}}` to its expression. */
export function parseExpression(source: string): Expression {
  const parsed = parseTemplate(`{{${source}}}`);
  if (parsed === undefined || !parsed.ok) throw new Error(`{{${source}}} does not parse`);
  const [part] = parsed.parts;
  if (!parsed.whole || typeof part !== 'object') throw new Error(`{{${source}}} is not one template`);
  return part.expression;
}

/** Any JSON value. */
export const anyJson: fc.Arbitrary<Json> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

/** Lists a value and everything in it. */
export function listParts(value: Json | undefined): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(listParts)];
}

/** Creates a scope with these outputs that is otherwise empty. */
export function createScope(outputs: Record<string, Json>, rest: Partial<TemplateScope> = {}): TemplateScope {
  return {
    output: (taskId) => (Object.hasOwn(outputs, taskId) ? outputs[taskId] : undefined),
    inputs: {},
    params: {},
    session: {},
    goal: '',
    ...rest,
  };
}
