import type { PlacedExpression, TemplatePart, TemplateProblem } from './expressions/expression.js';
import { ExpressionTable } from './expressions/expression-table.js';
import type { Operand, Renderer } from './expressions/operand.js';
import { parseTemplate } from './parsing/parser.js';
import { createTextRenderer } from './renderer.js';

/** A compiled goal. Templates of other values than params, and those that are not valid, are text (D54). */
export interface Goal {
  readonly renderer: Renderer;
  /** All templates that are valid, also those that are text. */
  readonly expressions: readonly PlacedExpression[];
  readonly problems: readonly TemplateProblem[];
  /** Memory of the renderer, in bytes. */
  readonly sizeBytes: number;
}

/** Measured memory of a part of a goal besides its letters. */
const PART_BYTES = 16;

/** How to fix a template that stays text. */
export const GOAL_HINT = 'write {{params.NAME}}, or "\\{{" for plain braces';

/**
 * Compiles the text of a goal, in one go, because goals are short. A template that is not valid is a problem and stays
 * text, so that a goal never fails. Never throws.
 */
export function compileGoal(text: string): Goal {
  const table = new ExpressionTable();
  const parsed = parseTemplate(text, table);
  const parts = parsed?.parts ?? [text];
  const compiled = parts.map((part) => compilePart(part, text, table));
  return {
    renderer: createTextRenderer(compiled, parsed?.ok === true && parsed.whole),
    expressions: parts.filter((part) => typeof part !== 'string'),
    problems: parsed?.ok === false ? parsed.problems : [],
    sizeBytes: table.sizeBytes + PART_BYTES * parts.length + 2 * text.length,
  };
}

/** A goal that is text as it stands, whatever braces are in it: a plan has no params. */
export function plainGoal(text: string): Goal {
  const sizeBytes = PART_BYTES + 2 * text.length;
  return { renderer: createTextRenderer([text], false), expressions: [], problems: [], sizeBytes };
}

/** A goal is rendered before the run, when nothing but its params is certain. */
function compilePart(part: TemplatePart, text: string, table: ExpressionTable): string | Operand {
  if (typeof part === 'string') return part;
  const { expression, offset, end } = part;
  return expression.root === 'params' ? table.operandOf(expression) : text.slice(offset, end);
}
