import { ellipsize } from '../../../common/text.js';
import type { Cursor } from './cursor.js';

const USE_TRANSFORM = 'templates only reference values; compute with the transform tool';
const WRITE_PATH = 'write a path, such as {{task.output}}, or "\\{{" for plain braces';
const ANY_KEY = 'write names with other characters in brackets: ["any key"]';
const OPERATORS = '== != >= <= && || + - * / % > < = ! & ^ ~'.split(' ');
const WORD_OPERATORS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else']);

export function failAtStart(cursor: Cursor): never {
  if (cursor.startsWith('}}')) return cursor.fail('the template is empty', WRITE_PATH);
  if (cursor.isAtEnd) return failUnclosed(cursor);
  if (cursor.startsWith('{')) return failAtBrace(cursor);
  if (cursor.startsWith('"') || cursor.startsWith("'")) {
    const start = cursor.at;
    cursor.takeQuoted();
    return failAtLiteral(cursor, start);
  }
  if (cursor.startsWith('[')) return failAtLiteral(cursor, cursor.at);
  if (cursor.startsWith('#')) return cursor.fail('templates have no blocks and no comments', USE_TRANSFORM);
  if (cursor.startsWith('(')) return cursor.fail('templates have no parentheses', USE_TRANSFORM);
  failAtOperator(cursor);
  return cursor.fail(`a path must start with a name, not with "${nextToken(cursor)}"`);
}

export function failAtLiteral(cursor: Cursor, offset: number): never {
  return cursor.fail('a literal needs no template', 'write the value itself, without braces', offset);
}

export function failAfterExpression(cursor: Cursor, hasFallback: boolean): never {
  if (cursor.isAtEnd || cursor.startsWith('{{')) return failUnclosed(cursor);
  if (cursor.startsWith('??')) return cursor.fail('a template can have only one "??", followed by a literal');
  if (cursor.startsWith('}')) {
    const hint = hasFallback ? 'an object literal closes with its own brace, before "}}"' : 'write "}}"';
    return cursor.fail('a template must close with two braces', hint);
  }
  if (cursor.startsWith('(')) return cursor.fail('templates have no function calls', USE_TRANSFORM);
  if (cursor.startsWith('|') && !cursor.startsWith('||')) {
    return cursor.fail('templates have no filters', USE_TRANSFORM);
  }
  if (cursor.startsWith('?.') || cursor.startsWith('?[')) {
    return cursor.fail('templates have no "?."', 'end with "?? null" for a value that may be missing');
  }
  if (cursor.startsWith('?')) return cursor.fail('templates have no "? :"', USE_TRANSFORM);
  failAtOperator(cursor);
  return hasFallback
    ? cursor.fail(`unexpected "${nextToken(cursor)}" after the literal`)
    : cursor.fail(`unexpected "${nextToken(cursor)}" in a path`, ANY_KEY);
}

export function failAtDot(cursor: Cursor, dot: number): never {
  if (cursor.startsWith('*')) return failAtWildcard(cursor, dot);
  return cursor.fail('a name is missing after "."', ANY_KEY, dot);
}

export function failAtBracket(cursor: Cursor, start: number): never {
  if (cursor.isAtEnd || cursor.startsWith('}}') || cursor.startsWith('{{')) {
    return cursor.fail('a bracket is not closed', 'close it with "]"', start);
  }
  if (cursor.startsWith(']'))
    return cursor.fail('a bracket is empty', 'write an index or a key: [0], ["any key"]', start);
  if (cursor.startsWith('*') || cursor.startsWith(':')) return failAtWildcard(cursor, start);
  const message = 'a bracket must contain an index without leading zeros, or a quoted key';
  return cursor.fail(message, 'write [0], [-1] or ["any key"]', start);
}

function failAtWildcard(cursor: Cursor, offset: number): never {
  return cursor.fail('templates have no slices and no wildcards', USE_TRANSFORM, offset);
}

function failAtBrace(cursor: Cursor): never {
  if (cursor.at > cursor.start + 2)
    return cursor.fail('a template cannot contain braces', 'templates do not nest');
  return cursor.fail(
    'a third brace follows "{{"',
    'templates do not nest; to write a plain brace before one, add a space: "{ {{…}} }"',
  );
}

function failUnclosed(cursor: Cursor): never {
  return cursor.fail(UNCLOSED.message, UNCLOSED.hint, cursor.start);
}

export const UNCLOSED = {
  message: 'a template is not closed',
  hint: 'close it with "}}", or write "\\{{" for two plain braces',
};

/** Returns when there is no operator here. */
function failAtOperator(cursor: Cursor): void {
  const word = /^[a-z]{2,4}(?![\w$-])/.exec(cursor.text.slice(cursor.at, cursor.at + 5))?.[0] ?? '';
  const operator = WORD_OPERATORS.has(word) ? word : OPERATORS.find((token) => cursor.startsWith(token));
  if (operator === undefined) return;
  cursor.fail(`templates have no operators such as "${operator}"`, USE_TRANSFORM);
}

/** Returns the next word or character, for a message. */
function nextToken(cursor: Cursor): string {
  const word = cursor.peekWord();
  if (word !== '') return ellipsize(word, 40);
  return String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 0);
}
