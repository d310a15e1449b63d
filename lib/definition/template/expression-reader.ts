import type { Cursor } from './cursor.js';
import type { Expression } from './expression.js';
import { failAfterExpression } from './complaint.js';
import { readLiteral } from './literal.js';
import { readPath } from './path-reader.js';

/** Reads `{{ path }}` or `{{ path ?? literal }}`, braces included. Throws a SyntaxFault. */
export function readExpression(cursor: Cursor): Expression {
  cursor.take('{{');
  const { root, path } = readPath(cursor);
  const fallback = readFallback(cursor);
  const end = cursor.at;
  if (!cursor.take('}}')) failAfterExpression(cursor, fallback !== undefined);
  const source = cursor.text.slice(cursor.start + 2, end).trim();
  return { source, root, path, fallback, offset: cursor.start };
}

function readFallback(cursor: Cursor): Expression['fallback'] {
  cursor.skipSpace();
  if (!cursor.take('??')) return undefined;
  cursor.skipSpace();
  const value = readLiteral(cursor);
  cursor.skipSpace();
  return { value };
}
