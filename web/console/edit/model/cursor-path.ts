/** Where the cursor is in a YAML text, which may be half-written. */
export interface CursorPlace {
  /** The keys and indexes that lead to the map whose key is written, or to the value that is. */
  readonly path: readonly (string | number)[];
  readonly kind: 'key' | 'value';
  /** The part of the key or the value before the cursor, without an opening quote. */
  readonly typed: string;
  /** Where `typed` begins. */
  readonly from: number;
  /** The other keys of the map, when a key is written. */
  readonly siblings: readonly string[];
  /** The part of a template before the cursor: the text after its braces. */
  readonly template: string | undefined;
  /** A quote was opened before the value. */
  readonly isQuoted: boolean;
}

/** A map or a list that lines below may belong to, by the column of its keys or dashes. */
interface Level {
  readonly column: number;
  readonly isList: boolean;
  /** The key that was written last; of a list, the index. */
  at: string | number;
  keys: string[];
}

/**
 * Finds the place of the cursor by indentation, line by line, and by brackets within the line of the cursor. The syntax
 * tree would not do: it has errors wherever somebody writes, just where the place is needed.
 */
export function findCursor(text: string, offset: number): CursorPlace {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const scanner = new Scanner();
  for (const line of linesOf(text.slice(0, lineStart))) scanner.readLine(line);
  const before = text.slice(lineStart, offset);
  const isInBlock = scanner.readLine(before, true);
  const path = scanner.path();
  const template = openTemplate(before);
  const rest = { template, siblings: [] as string[], isQuoted: false };
  if (isInBlock) return { ...rest, path, kind: 'value', typed: '', from: offset };
  const content = scanner.content;
  const contentFrom = lineStart + before.length - content.length;
  const key = KEY.exec(content);
  if (key !== null) return valueAt(content.slice(key[0].length), path, contentFrom + key[0].length, rest);
  if (/^[[{]/.test(content)) return valueAt(content, path, contentFrom, rest);
  const siblings = [...scanner.siblings(), ...keysBelow(text, offset, scanner.column)];
  const isEntry = scanner.isEntryOfNames(path);
  const typed = content.replace(/^["']/, '');
  return {
    ...rest,
    path,
    kind: isEntry ? 'value' : 'key',
    typed,
    from: offset - typed.length,
    siblings,
    isQuoted: typed !== content,
  };
}

/** `name:` or `"name":` with a space, at the start of what a line has. */
const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#:{}[\],"'][^#:{}[\],]*)):(?:\s+|$)/;

class Scanner {
  readonly #levels: Level[] = [];
  /** The lines of a block of text are deeper than this; -1 outside of one. */
  #blockColumn = -1;
  /** The text of the last line after its dashes, and its column. */
  content = '';
  column = 0;

  /** Returns whether the line belongs to a block of text. */
  readLine(line: string, isLast = false): boolean {
    let column = line.length - line.trimStart().length;
    let content = line.slice(column);
    if (this.#blockColumn >= 0) {
      if ((content === '' && !isLast) || column > this.#blockColumn) return true;
      this.#blockColumn = -1;
    }
    this.content = content;
    this.column = column;
    if (content.startsWith('#')) return false;
    while (content === '-' || content.startsWith('- ')) {
      this.#enterEntry(column);
      const [dash = ''] = /^-\s*/.exec(content) ?? [];
      column += dash.length;
      content = content.slice(dash.length);
      this.content = content;
      this.column = column;
    }
    const key = KEY.exec(content);
    if (key !== null) this.#enterKey(key[1] ?? key[2] ?? key[3] ?? '', column);
    else if (content !== '' || isLast) this.#leaveTo(column);
    if (key !== null && /^[|>][-+\d]*\s*(?:#.*)?$/.test(content.slice(key[0].length))) {
      this.#blockColumn = column;
    }
    return false;
  }

  /** The keys and indexes of the levels, from the first. */
  path(): (string | number)[] {
    const [last] = this.#levels.slice(-1);
    const isNewKey =
      last !== undefined && !last.isList && last.column === this.column && !KEY.test(this.content);
    return this.#levels.slice(0, isNewKey ? -1 : undefined).map(({ at }) => at);
  }

  siblings(): string[] {
    const last = this.#levels.at(-1);
    return last !== undefined && !last.isList && last.column === this.column ? last.keys : [];
  }

  /** True when the cursor is in an entry of a list that has names, not maps. */
  isEntryOfNames(path: readonly (string | number)[]): boolean {
    const [list, entry] = path.slice(-2);
    return typeof entry === 'number' && typeof list === 'string' && NAME_LISTS.has(list);
  }

  #enterEntry(column: number): void {
    while (this.#isLeft(column, true)) this.#levels.pop();
    const top = this.#levels.at(-1);
    if (top?.isList === true && top.column === column) top.at = Number(top.at) + 1;
    else this.#levels.push({ column, isList: true, at: 0, keys: [] });
  }

  #enterKey(key: string, column: number): void {
    this.#leaveTo(column);
    const top = this.#levels.at(-1);
    if (top !== undefined && !top.isList && top.column === column) {
      top.at = key;
      top.keys.push(key);
    } else this.#levels.push({ column, isList: false, at: key, keys: [key] });
  }

  #leaveTo(column: number): void {
    while (this.#isLeft(column, false)) this.#levels.pop();
  }

  /** True when a line at a column is no longer in the last level. A list may have the column of the key before it. */
  #isLeft(column: number, isDash: boolean): boolean {
    const top = this.#levels.at(-1);
    if (top === undefined) return false;
    return top.column > column || (top.isList && top.column === column && !isDash);
  }
}

/** The fields that are lists of names. */
const NAME_LISTS: ReadonlySet<string> = new Set(['await', 'reads', 'stores', 'inputs', 'enum']);

/** The place within the value that begins at `from`: the value itself, or a part of it in braces or brackets. */
function valueAt(
  value: string,
  path: readonly (string | number)[],
  from: number,
  rest: Pick<CursorPlace, 'template' | 'siblings' | 'isQuoted'>,
): CursorPlace {
  const flow = readFlow(value);
  const place = [...path, ...flow.path];
  const typed = value.slice(flow.start);
  const isQuoted = /^["']/.test(typed);
  const written = isQuoted ? typed.slice(1) : typed;
  return {
    ...rest,
    path: place,
    kind: flow.isKey ? 'key' : 'value',
    typed: written,
    from: from + value.length - written.length,
    siblings: flow.keys,
    isQuoted,
  };
}

interface Flow {
  readonly path: readonly (string | number)[];
  readonly isKey: boolean;
  /** Where the last key or value begins. */
  readonly start: number;
  readonly keys: readonly string[];
}

/** Reads `{a: [1, {b: ` as far as it is written. */
function readFlow(text: string): Flow {
  const open: { isMap: boolean; key: string | undefined; index: number; keys: string[] }[] = [];
  let start = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (quote !== '') {
      if (sign === '\\' && quote === '"') at++;
      else if (sign === quote) quote = '';
      continue;
    }
    const top = open.at(-1);
    const isFirst = text.slice(start, at).trim() === '';
    if ((sign === '"' || sign === "'") && isFirst) quote = sign;
    else if ((sign === '{' || sign === '[') && isFirst && (top !== undefined || at === start)) {
      open.push({ isMap: sign === '{', key: undefined, index: 0, keys: [] });
      start = at + 1;
    } else if ((sign === '}' || sign === ']') && top !== undefined) {
      open.pop();
      start = at + 1;
    } else if (sign === ',' && top !== undefined) {
      top.key = undefined;
      top.index++;
      start = at + 1;
    } else if (sign === ':' && top?.isMap === true && top.key === undefined) {
      top.key = text
        .slice(start, at)
        .trim()
        .replaceAll(/^["']|["']$/g, '');
      top.keys.push(top.key);
      start = at + 1;
    }
  }
  while (text[start] === ' ') start++;
  const top = open.at(-1);
  const isKey = top?.isMap === true && top.key === undefined;
  const path = open.map(({ isMap, key, index }) => (isMap ? (key ?? '') : index));
  return { path: isKey ? path.slice(0, -1) : path, isKey, start, keys: isKey ? top.keys : [] };
}

/** Returns the part of a template that is not closed before the cursor. */
function openTemplate(before: string): string | undefined {
  const open = before.lastIndexOf('{{');
  if (open < 0 || before.indexOf('}}', open) >= 0) return undefined;
  return before.slice(open + 2).trimStart();
}

/** The keys of the same map on the lines below. */
function keysBelow(text: string, offset: number, column: number): string[] {
  const keys: string[] = [];
  let end = text.indexOf('\n', offset);
  for (let count = 0; end >= 0 && count < MOST_LINES_BELOW; count++) {
    const next = text.indexOf('\n', end + 1);
    const line = text.slice(end + 1, next < 0 ? undefined : next);
    end = next;
    const content = line.trimStart();
    if (content === '' || content.startsWith('#')) continue;
    const indent = line.length - content.length;
    if (indent < column || (indent === column && content.startsWith('-'))) break;
    const key = indent === column ? KEY.exec(content) : null;
    if (key !== null) keys.push(key[1] ?? key[2] ?? key[3] ?? '');
  }
  return keys;
}

const MOST_LINES_BELOW = 200;

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    yield text.slice(start, end);
    start = end + 1;
  }
}
