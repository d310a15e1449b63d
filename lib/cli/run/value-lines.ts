import type { Json, JsonObject } from '../../common/json.js';

/** Deeper values stay on one line: indenting them further helps nobody. */
const DEEPEST = 16;

/**
 * A named value as lines of YAML. What fits into `columns` stays on one line, as JSON; text of several lines is
 * shown as it is. Lines are made one by one, so a reader that has seen enough stops and pays for no more.
 */
export function valueLines(name: string, value: Json, indent: string, columns: number): Generator<string> {
  return entry(`${indent}${keyOf(name)}:`, ' ', value, indent, { columns, depth: 0 });
}

interface Room {
  readonly columns: number;
  readonly depth: number;
}

/** `head` is the key or the dash; `gap` stands between it and a value on the same line. */
function* entry(head: string, gap: string, value: Json, indent: string, room: Room): Generator<string> {
  if (isBlock(value)) {
    yield `${head}${gap}${blockHeader(value)}`;
    yield* blockLines(value, `${indent}  `);
    return;
  }
  const flat = oneLineOf(value, room.columns - head.length - 1, room.depth);
  if (flat !== undefined) {
    yield `${head}${gap}${flat}`;
    return;
  }
  const lines = children(value, `${indent}  `, { ...room, depth: room.depth + 1 });
  yield head.endsWith('-') ? `${head} ${firstOf(lines).slice(head.length + 1)}` : head;
  yield* lines;
}

/** The first member of a list's element stands on the line of its dash. */
function firstOf(lines: Generator<string>): string {
  const { value } = lines.next();
  return typeof value === 'string' ? value : '';
}

function* children(value: Json, indent: string, room: Room): Generator<string> {
  if (Array.isArray(value) && value.every(isFlat)) {
    yield* filledLines(value, indent, room.columns);
  } else if (Array.isArray(value)) {
    for (const element of value) yield* entry(`${indent}-`, ' ', element, indent, room);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      yield* entry(`${indent}${keyOf(key)}:`, ' ', member, indent, room);
    }
  }
}

function isFlat(value: Json): boolean {
  return typeof value === 'string'
    ? blockHeader(value) === undefined
    : typeof value !== 'object' || value === null;
}

/** A list of plain values, as many to a line as fit. */
function* filledLines(values: readonly Json[], indent: string, columns: number): Generator<string> {
  let line = `${indent}[`;
  for (const [index, value] of values.entries()) {
    const piece = `${JSON.stringify(value)}${index === values.length - 1 ? ']' : ','}`;
    const isFirst = line.length === indent.length + 1;
    if (!isFirst && line.length + 1 + piece.length > columns) {
      yield line;
      line = `${indent} ${piece}`;
    } else {
      line += isFirst ? piece : ` ${piece}`;
    }
  }
  yield line;
}

/** The value on one line; undefined when it does not fit and can be broken. */
function oneLineOf(value: Json, room: number, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth >= DEEPEST) return JSON.stringify(value);
  const pieces: string[] = [];
  return append(pieces, value, Math.max(room, 2)) >= 0 ? pieces.join('') : undefined;
}

/** Appends the value as JSON with spaces; answers the room that is left, negative as soon as there is none. */
function append(pieces: string[], value: Json, room: number): number {
  if (Array.isArray(value)) return appendList(pieces, value, room);
  return isObject(value) ? appendObject(pieces, value, room) : put(pieces, JSON.stringify(value), room);
}

function appendList(pieces: string[], list: readonly Json[], room: number): number {
  let left = put(pieces, '[', room);
  for (const [index, element] of list.entries()) {
    if (left < 0) return left;
    if (index > 0) left = put(pieces, ', ', left);
    left = append(pieces, element, left);
  }
  return put(pieces, ']', left);
}

function appendObject(pieces: string[], object: JsonObject, room: number): number {
  let left = put(pieces, '{', room);
  for (const [index, [key, member]] of Object.entries(object).entries()) {
    if (left < 0) return left;
    left = put(pieces, `${index > 0 ? ', ' : ''}${JSON.stringify(key)}: `, left);
    left = append(pieces, member, left);
  }
  return put(pieces, '}', left);
}

function put(pieces: string[], text: string, room: number): number {
  pieces.push(text);
  return room - text.length;
}

// oxlint-disable-next-line no-control-regex -- text with any of these is quoted instead
const QUOTED_ONLY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/u;

/** Text of several lines that YAML can show as it is; it must not begin with blanks. */
function isBlock(value: Json): value is string {
  if (typeof value !== 'string' || !value.includes('\n')) return false;
  return /^\n*[^\s]/.test(value) && !value.endsWith('\n\n') && !QUOTED_ONLY.test(value);
}

/** `-`: no line end closes the text. */
function blockHeader(text: string): string {
  return text.endsWith('\n') ? '|' : '|-';
}

function* blockLines(text: string, indent: string): Generator<string> {
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  for (const line of body.split('\n')) yield line === '' ? '' : indent + line;
}

/** Words that YAML would read as something else than text. */
const NOT_TEXT = /^(null|true|false|yes|no|on|off|y|n)$/i;

/** A name as a key of YAML. */
export function keyOf(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) && !NOT_TEXT.test(name) ? name : JSON.stringify(name);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
