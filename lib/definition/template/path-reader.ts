import { failAtBracket, failAtDot, failAtLiteral, failAtStart } from './complaint.js';
import type { Cursor } from './cursor.js';
import type { Segment } from './expression.js';

const INDEX = /-?(?:0|[1-9]\d*)(?![\w$.-])/y;
const DIGITS = /^(?:0|[1-9]\d*)$/;
const NUMERIC = /^-?\d/;
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);
/** Names that lead out of data and into the machinery of objects: no path may hold them (D13). */
const NEVER_READ: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads a name and the path that follows it (D11). */
export function readPath(cursor: Cursor): { readonly root: string; readonly path: readonly Segment[] } {
  cursor.skipSpace();
  const start = cursor.at;
  const root = readRoot(cursor);
  const path: Segment[] = [];
  for (let segment = readSegment(cursor); segment !== undefined; segment = readSegment(cursor)) {
    path.push(segment);
  }
  if (path.length === 0 && LITERALS.has(root)) failAtLiteral(cursor, start);
  return { root, path };
}

function readRoot(cursor: Cursor): string {
  const start = cursor.at;
  const root = cursor.takeWord();
  if (root === '') failAtStart(cursor);
  if (NUMERIC.test(root)) failAtLiteral(cursor, start);
  if (root.startsWith('-')) cursor.fail(`a name cannot start with "-"`, undefined, start);
  return root;
}

function readSegment(cursor: Cursor): Segment | undefined {
  cursor.skipSpace();
  const start = cursor.at;
  const segment = cursor.take('.')
    ? readField(cursor)
    : cursor.take('[')
      ? readBracket(cursor, start)
      : undefined;
  if (segment?.kind === 'field' && NEVER_READ.has(segment.name)) {
    cursor.fail(`"${segment.name}" is never read`, 'give the field another name', start);
  }
  return segment;
}

function readField(cursor: Cursor): Segment {
  const dot = cursor.at - 1;
  cursor.skipSpace();
  const name = cursor.takeWord();
  if (name === '') failAtDot(cursor, dot);
  const index = Number(name);
  return DIGITS.test(name) && Number.isSafeInteger(index)
    ? { kind: 'index', index }
    : { kind: 'field', name };
}

function readBracket(cursor: Cursor, start: number): Segment {
  cursor.skipSpace();
  const quoted = cursor.sees('"') || cursor.sees("'");
  const segment: Segment = quoted
    ? { kind: 'field', name: cursor.takeQuoted() }
    : { kind: 'index', index: readIndex(cursor, start) };
  cursor.skipSpace();
  if (!cursor.take(']')) failAtBracket(cursor, start);
  return segment;
}

function readIndex(cursor: Cursor, start: number): number {
  const digits = cursor.takeMatch(INDEX);
  const index = Number(digits);
  if (digits === '') failAtBracket(cursor, start);
  if (!Number.isSafeInteger(index))
    cursor.fail(`the index ${digits.slice(0, 20)}… is too large`, undefined, start);
  return index === 0 ? 0 : index;
}
