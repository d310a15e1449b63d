import type { Cursor } from './cursor.js';

const USE_TRANSFORM = 'templates only point at values: compute with the transform tool';
const ANY_KEY = 'names with other characters stand in brackets: ["any key"]';
const OPERATORS = '== != >= <= && || + - * / % > < = ! & ^ ~'.split(' ');
const WORD_OPERATORS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else']);

/** Says why no path starts here. */
export function failAtStart(cursor: Cursor): never {
  if (cursor.sees('}}')) {
    return cursor.fail(
      'the template is empty',
      'write a path, such as {{task.output}}, or "\\{{" for plain braces',
    );
  }
  if (cursor.ended) return failUnclosed(cursor);
  if (cursor.sees('{')) return failAtBrace(cursor);
  if (cursor.sees('"') || cursor.sees("'")) {
    const start = cursor.at;
    cursor.takeQuoted();
    return failAtLiteral(cursor, start);
  }
  if (cursor.sees('[')) return failAtLiteral(cursor, cursor.at);
  if (cursor.sees('#')) return cursor.fail('there are no blocks and no comments in templates', USE_TRANSFORM);
  if (cursor.sees('(')) return cursor.fail('there are no parentheses in templates', USE_TRANSFORM);
  failAtOperator(cursor);
  return cursor.fail(`a path starts with a name, not with "${shownAt(cursor)}"`);
}

/** Says that the literal at `offset` stands where a path is needed. */
export function failAtLiteral(cursor: Cursor, offset: number): never {
  return cursor.fail('a literal needs no template', 'write the value itself, without braces', offset);
}

/** Says why a template cannot go on as it does after its path or its fallback. */
export function failAfterExpression(cursor: Cursor, hasFallback: boolean): never {
  if (cursor.ended || cursor.sees('{{')) return failUnclosed(cursor);
  if (cursor.sees('??')) return cursor.fail('a template has one "??" only, and a literal after it');
  if (cursor.sees('}')) return failAtSingleBrace(cursor, hasFallback);
  if (cursor.sees('(')) return cursor.fail('there are no calls in templates', USE_TRANSFORM);
  if (cursor.sees('|') && !cursor.sees('||')) {
    return cursor.fail('there are no filters in templates', USE_TRANSFORM);
  }
  if (cursor.sees('?.') || cursor.sees('?[')) {
    return cursor.fail('there is no "?." in templates', 'end with "?? null" for a value that may be missing');
  }
  if (cursor.sees('?')) return cursor.fail('there is no "? :" in templates', USE_TRANSFORM);
  failAtOperator(cursor);
  return hasFallback
    ? cursor.fail(`"${shownAt(cursor)}" is unexpected after the literal`)
    : cursor.fail(`"${shownAt(cursor)}" is unexpected in a path`, ANY_KEY);
}

/** Says why no name follows the dot at `dot`. */
export function failAtDot(cursor: Cursor, dot: number): never {
  if (cursor.sees('*')) return failAtWildcard(cursor, dot);
  return cursor.fail('a name is missing after "."', ANY_KEY, dot);
}

/** Says what is wrong inside the bracket that opened at `start`. */
export function failAtBracket(cursor: Cursor, start: number): never {
  if (cursor.ended || cursor.sees('}}') || cursor.sees('{{')) {
    return cursor.fail('a bracket is never closed', 'close it with "]"', start);
  }
  if (cursor.sees(']'))
    return cursor.fail('a bracket is empty', 'write an index or a key: [0], ["any key"]', start);
  if (cursor.sees('*') || cursor.sees(':')) return failAtWildcard(cursor, start);
  return cursor.fail(
    'a bracket holds an index without leading zeros, or a key in quotes',
    'write [0], [-1] or ["any key"]',
    start,
  );
}

function failAtWildcard(cursor: Cursor, offset: number): never {
  return cursor.fail('there are no slices and no wildcards in templates', USE_TRANSFORM, offset);
}

function failAtBrace(cursor: Cursor): never {
  if (cursor.at > cursor.start + 2)
    return cursor.fail('a template cannot hold braces', 'templates do not nest');
  return cursor.fail(
    'a third brace follows "{{"',
    'templates do not nest; for a plain brace before one, put a space between: "{ {{…}} }"',
  );
}

function failAtSingleBrace(cursor: Cursor, hasFallback: boolean): never {
  const hint = hasFallback ? 'an object literal closes with a brace of its own, before "}}"' : 'write "}}"';
  return cursor.fail('a template closes with two braces', hint);
}

function failUnclosed(cursor: Cursor): never {
  return cursor.fail(
    'a template is never closed',
    'close it with "}}", or write "\\{{" for two plain braces',
    cursor.start,
  );
}

/** Returns when there is no operator here. */
function failAtOperator(cursor: Cursor): void {
  const word = wordAt(cursor);
  const operator = WORD_OPERATORS.has(word) ? word : OPERATORS.find((token) => cursor.sees(token));
  if (operator === undefined) return;
  cursor.fail(`there are no operators such as "${operator}" in templates`, USE_TRANSFORM);
}

function wordAt(cursor: Cursor): string {
  return /^[a-z]{2,4}(?![\w$-])/.exec(cursor.text.slice(cursor.at, cursor.at + 5))?.[0] ?? '';
}

/** The word or the character here, for a message. */
function shownAt(cursor: Cursor): string {
  const word = cursor.peekWord();
  if (word !== '') return word.length > 40 ? `${word.slice(0, 40)}…` : word;
  return String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 0);
}
