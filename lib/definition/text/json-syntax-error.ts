import { runToEnd, type Steps } from '../steps.js';

/** Where a text stops being JSON, and what was expected there. */
export interface JsonSyntaxError {
  readonly offset: number;
  readonly expected: string;
}

type Expecting = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma' | 'end';

const WORDS: Record<Expecting, string> = {
  value: 'a value: "text" in double quotes, a number, true, false, null, a list or an object',
  'value or ]': 'a value, or "]"',
  key: 'a key in double quotes',
  'key or }': 'a key in double quotes, or "}"',
  colon: '":" after the key',
  comma: '"," or the closing bracket',
  end: 'nothing more',
};

const SPACE = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- JSON strings cannot contain control characters
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

/** Finds the first syntax error in a JSON text; undefined when there is none. `JSON.parse` often omits the position. */
export function findJsonSyntaxError(text: string): JsonSyntaxError | undefined {
  return runToEnd(findJsonSyntaxErrorInSteps(text));
}

/** Parts of a text that are read in one step. */
const STEP_PARTS = 4096;

/** Finds like `findJsonSyntaxError`. */
export function* findJsonSyntaxErrorInSteps(text: string): Steps<JsonSyntaxError | undefined> {
  const open: string[] = [];
  let expecting: Expecting = 'value';
  let offset = skip(SPACE, text, 0) ?? 0;
  for (let parts = 1; offset < text.length; parts++) {
    if (parts % STEP_PARTS === 0) yield;
    const next = advance(text, offset, expecting, open);
    if (next === undefined) return { offset, expected: WORDS[expecting] };
    expecting = next.expecting;
    offset = skip(SPACE, text, next.offset) ?? next.offset;
  }
  return expecting === 'end' ? undefined : { offset, expected: WORDS[expecting] };
}

type Advance = { readonly offset: number; readonly expecting: Expecting } | undefined;

function advance(text: string, offset: number, expecting: Expecting, open: string[]): Advance {
  const character = text[offset];
  switch (expecting) {
    case 'key or }':
    case 'key':
      if (character === '}' && expecting === 'key or }') return close(offset, open);
      return to('colon', skipString(text, offset));
    case 'colon':
      return character === ':' ? { offset: offset + 1, expecting: 'value' } : undefined;
    case 'comma':
      if (character === open.at(-1)) return close(offset, open);
      return character === ','
        ? { offset: offset + 1, expecting: open.at(-1) === '}' ? 'key' : 'value' }
        : undefined;
    case 'value or ]':
    case 'value':
      if (character === ']' && expecting === 'value or ]') return close(offset, open);
      return value(text, offset, open);
    case 'end':
      break;
  }
  return undefined;
}

function value(text: string, offset: number, open: string[]): Advance {
  if (text[offset] === '{') {
    open.push('}');
    return { offset: offset + 1, expecting: 'key or }' };
  }
  if (text[offset] === '[') {
    open.push(']');
    return { offset: offset + 1, expecting: 'value or ]' };
  }
  return to(after(open), skipString(text, offset) ?? skip(SCALAR, text, offset));
}

function close(offset: number, open: string[]): Advance {
  open.pop();
  return { offset: offset + 1, expecting: after(open) };
}

function after(open: readonly string[]): Expecting {
  return open.length === 0 ? 'end' : 'comma';
}

function to(expecting: Expecting, offset: number | undefined): Advance {
  return offset === undefined ? undefined : { offset, expecting };
}

/** Returns the offset after what `pattern` matches at `offset`. */
function skip(pattern: RegExp, text: string, offset: number): number | undefined {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Matches a string in pieces: one pattern for all of it would need as much stack as the string is long. */
function skipString(text: string, start: number): number | undefined {
  if (text[start] !== '"') return undefined;
  let offset = skip(PLAIN, text, start + 1) ?? start + 1;
  while (text[offset] === '\\') {
    const next = skip(ESCAPE, text, offset);
    if (next === undefined) return undefined;
    offset = skip(PLAIN, text, next) ?? next;
  }
  return text[offset] === '"' ? offset + 1 : undefined;
}
