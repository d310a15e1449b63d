import type { Segment } from './expression.js';

/** A template of the definition could not be rendered with the data of this run (D13). */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The path that has no value, as text: `a.output.rows[0]`. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`{{${path}}}: ${reason}`);
    this.path = path;
  }
}

const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u;
const LENGTH_LIMIT = 200;

/** A path in the words of the template language: `a.output[0]["any key"]`. */
export function spell(root: string, path: readonly Segment[]): string {
  return shortened(root + path.map(spellSegment).join(''), LENGTH_LIMIT);
}

export function spellSegment(segment: Segment): string {
  if (segment.kind === 'index') return `[${segment.index}]`;
  return PLAIN_NAME.test(segment.name) ? `.${segment.name}` : `[${JSON.stringify(segment.name)}]`;
}

/** A key of some data, for a message: short, and on one line whatever it holds. */
export function spellKey(key: string): string {
  const short = shortened(key, 40);
  return PLAIN_NAME.test(key) ? short : JSON.stringify(short);
}

export function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
