import type { Segment } from './expression.js';

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
