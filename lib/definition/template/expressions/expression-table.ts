import { estimateBytes } from '../../../common/json/json.js';
import { getOrThrow } from '../../assert.js';
import type { Expression, Segment } from './expression.js';
import { ExpressionOperand } from './operand.js';

/** Maximum number of different expressions of one definition (Limits). */
export const MAX_EXPRESSIONS = 100_000;

/** Measured memory of a compiled expression, of each segment of its path, and of each name that no other one has. */
const EXPRESSION_BYTES = 272;
const SEGMENT_BYTES = 12;
const NAME_BYTES = 80;

/** The different expressions of one definition: equal ones are parsed, compiled and kept once. */
export class ExpressionTable {
  /** Memory of all expressions. */
  sizeBytes = 0;
  readonly #operands = new Map<string, ExpressionOperand>();
  readonly #roots = new Map<string, string>();
  readonly #fields = new Map<string, Segment>();

  /** True when there are more expressions than a definition may have. */
  get isOverfull(): boolean {
    return this.#operands.size > MAX_EXPRESSIONS;
  }

  /** @param source the text between the braces, trimmed */
  find(source: string): Expression | undefined {
    return this.#operands.get(source)?.expression;
  }

  /** Adds an expression, and returns the one that equals it if there is one. */
  intern({ source, root, path, fallback }: Expression): Expression {
    const known = this.find(source);
    if (known !== undefined) return known;
    const segments = path.map((segment) => this.#shareField(segment));
    const expression = { source, root: this.#shareRoot(root), path: segments, fallback };
    this.#operands.set(source, new ExpressionOperand(expression));
    this.sizeBytes += EXPRESSION_BYTES + SEGMENT_BYTES * path.length;
    if (fallback !== undefined) this.sizeBytes += estimateBytes(fallback.value);
    return expression;
  }

  /** The compiled form of an expression of this table. */
  operandOf({ source }: Expression): ExpressionOperand {
    return getOrThrow(this.#operands, source);
  }

  /** Many expressions read the same task. */
  #shareRoot(root: string): string {
    return this.#roots.get(root) ?? this.#addName(this.#roots, root, root);
  }

  #addName<T>(names: Map<string, T>, name: string, named: T): T {
    names.set(name, named);
    this.sizeBytes += NAME_BYTES;
    return named;
  }

  /** Many expressions read fields of the same name. */
  #shareField(segment: Segment): Segment {
    if (segment.kind === 'index' || segment.index !== undefined) {
      this.sizeBytes += NAME_BYTES;
      return segment;
    }
    return this.#fields.get(segment.name) ?? this.#addName(this.#fields, segment.name, segment);
  }
}
