import { type Json, type JsonObject, setOwn } from '../../../common/json/json.js';
import { ellipsize } from '../../../common/text.js';
import type { Cursor } from './cursor.js';

/** Maximum nesting of lists and objects in a literal. */
export const MAX_LITERAL_DEPTH = 64;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = new Map<string, Json>(Object.entries({ true: true, false: false, null: null }));
const FOREIGN_WORDS = new Map(
  Object.entries({ True: 'true', False: 'false', None: 'null', nil: 'null', undefined: 'null' }),
);

/** Reads one JSON value and freezes it, because many results may share it. @throws TemplateSyntaxError */
export function readLiteral(cursor: Cursor, depth = 0): Json {
  if (cursor.startsWith('"')) return cursor.takeQuoted();
  if (depth === MAX_LITERAL_DEPTH && (cursor.startsWith('[') || cursor.startsWith('{')))
    cursor.fail(`a literal is nested deeper than ${MAX_LITERAL_DEPTH} levels`);
  if (cursor.take('[')) return readList(cursor, depth);
  if (cursor.take('{')) return readObject(cursor, depth);
  return readScalar(cursor);
}

function readList(cursor: Cursor, depth: number): Json {
  const list: Json[] = [];
  readMembers(cursor, ']', () => list.push(readLiteral(cursor, depth + 1)));
  Object.freeze(list);
  return list;
}

function readObject(cursor: Cursor, depth: number): Json {
  const object: JsonObject = {};
  readMembers(cursor, '}', () => {
    if (!cursor.startsWith('"')) cursor.fail('a key of an object literal must be in double quotes');
    const key = cursor.takeQuoted();
    cursor.skipSpace();
    if (!cursor.take(':')) cursor.fail('":" is missing after the key of an object literal');
    cursor.skipSpace();
    setOwn(object, key, readLiteral(cursor, depth + 1));
  });
  return Object.freeze(object);
}

function readMembers(cursor: Cursor, close: string, readMember: () => void): void {
  cursor.skipSpace();
  if (cursor.take(close)) return;
  for (;;) {
    readMember();
    cursor.limitLength();
    cursor.skipSpace();
    if (cursor.take(close)) return;
    if (!cursor.take(',')) cursor.fail(`"," or "${close}" is missing in a literal`);
    cursor.skipSpace();
    if (cursor.startsWith(close))
      cursor.fail('a literal cannot have a comma after its last value', 'remove the comma');
  }
}

function readScalar(cursor: Cursor): Json {
  const start = cursor.at;
  const digits = cursor.takeMatch(NUMBER);
  const word = cursor.takeWord();
  const value = digits === '' ? WORDS.get(word) : word === '' ? Number(digits) : undefined;
  if (value === undefined) return failAtLiteral(cursor, start, digits + word);
  if (value === Infinity || value === -Infinity)
    return cursor.fail('a number is too large', undefined, start);
  return value;
}

function failAtLiteral(cursor: Cursor, start: number, word: string): never {
  if (cursor.startsWith("'")) {
    return cursor.fail('a single-quoted string is not JSON', 'JSON strings need double quotes: "…"');
  }
  const json = FOREIGN_WORDS.get(word);
  if (json !== undefined) return cursor.fail(`"${word}" is not a JSON literal`, `write ${json}`, start);
  if (word === '') return cursor.fail('a JSON literal is missing here', LITERAL_HINT, start);
  return cursor.fail(`"${ellipsize(word, 40)}" is not a JSON literal`, LITERAL_HINT, start);
}

const LITERAL_HINT =
  'write a JSON literal: "text", 1, true, false, null, a list or an object; compute other values with the transform tool';
