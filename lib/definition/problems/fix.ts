import { isObject, type Json } from '../../common/json/json.js';
import { type Change, type FieldPlace, isOtherValue, writeFlow } from './hint.js';
import type { Fix, Path, PlaceInText, TextEdit } from './problem.js';
import type { Locator } from '../text/positions.js';

/** A change of a definition, and where its diagnostic points. */
export interface LocatedChange {
  readonly change: Change;
  /** From the root of the text to the value. */
  readonly path: Path;
  /** The diagnostic points at the key instead of the value, or into its text. */
  readonly at: 'key' | PlaceInText | undefined;
  /** From the root of the text to the definition, which the path of the change starts from. */
  readonly base: Path;
}

interface Document {
  readonly text: string;
  readonly value: unknown;
  readonly locator: Locator;
}

/**
 * Writes a change as edits of the text (D8). Returns undefined wherever the text is not exactly what the change expects,
 * as in a block of text, behind an alias or with escapes: no fix is better than one that breaks the text.
 */
export function toFix({ change, path, at, base }: LocatedChange, document: Document): Fix | undefined {
  switch (change.kind) {
    case 'rename': {
      const owner = readPath(document.value, path.slice(0, -1));
      if (at === 'key' && isObject(owner) && Object.hasOwn(owner, change.to)) return undefined;
      if (typeof at === 'object') return renameInText(change, path, at, document);
      const offset = findName(path, at, document);
      return offset === undefined ? undefined : rename(change, offset, typeof at === 'number', document);
    }
    case 'replace':
      return replaceValue(change.value, path, document);
    case 'rewrite':
      return rewriteField({ change, path, at, base }, document);
    case 'set':
      return addField([...base, ...change.path], change.value, document, change.place);
    case 'remove':
      return removeField(path, document);
    case 'append':
      return addEntry([...base, ...change.path], change.value, document);
    case 'bind':
      return bindTemplates(change, base, document);
  }
}

/** Writes another field with another value: both, or neither. */
function rewriteField(
  located: LocatedChange & { change: { kind: 'rewrite' } },
  document: Document,
): Fix | undefined {
  const { change, path } = located;
  const name = toFix({ ...located, change: { ...change, kind: 'rename' } }, document);
  const value = replaceValue(change.value, path, document);
  if (name === undefined || value === undefined) return undefined;
  const title = `write ${change.to}: ${writeFlow(change.value, false)}`;
  return { title, edits: [...name.edits, ...value.edits] };
}

/** The offset of the name that a diagnostic points at: in a template, behind the braces. */
function findName(
  path: Path,
  at: 'key' | number | undefined,
  { text, value, locator }: Document,
): number | undefined {
  if (typeof at === 'number') {
    const opening = /\{\{[ \t]*/y;
    opening.lastIndex = locator.offsetInText(path, textAt(value, path), at);
    return opening.test(text) ? opening.lastIndex : undefined;
  }
  const located = locator.locate(path);
  return at === 'key' ? located?.keyOffset : located?.offset;
}

/** Returns the text at a path; empty when there is none. */
export function textAt(root: unknown, path: Path): string {
  const value = readPath(root, path);
  return typeof value === 'string' ? value : '';
}

function readPath(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) value = (value as Readonly<Record<string | number, unknown>> | undefined)?.[key];
  return value;
}

/** Names that may stand in a text of any kind without quotes or escapes. */
const SAFE_NAME = /^[A-Za-z_][\w.[\]-]*$/;
/** Characters that end a name in a template, and a text without quotes. */
const TEMPLATE_END = /[\s.[\]?}]/;
const PLAIN_END = /[\s:,\]}]/;

function rename(
  { from, to }: Change & { kind: 'rename' },
  offset: number,
  isTemplate: boolean,
  { text, locator }: Document,
): Fix | undefined {
  const quote = !isTemplate && /["']/.test(text[offset] ?? '') ? (text[offset] ?? '') : '';
  const start = offset + quote.length;
  const end = start + from.length;
  const next = text[end] ?? '\n';
  const ends = quote === '' ? (isTemplate ? TEMPLATE_END : PLAIN_END).test(next) : next === quote;
  if (from === '' || !text.startsWith(from, start) || !ends) return undefined;
  const isSafe = SAFE_NAME.test(to) && !isOtherValue(to) && (isTemplate || !/[[\]]/.test(to));
  // In quotes, anything but a quote, an escape and a line break means itself.
  if (!isSafe && (isTemplate || (quote !== '' && /["'\\\n]/.test(to)))) return undefined;
  const written = isSafe || quote !== '' ? to : JSON.stringify(to);
  return edit(`write ${JSON.stringify(to)}`, locator, written, start, end);
}

/** Writes another name in a text, where the same characters mean the same with quotes and without. */
function renameInText(
  { from, to }: Change & { kind: 'rename' },
  path: Path,
  at: PlaceInText,
  { text, value, locator }: Document,
): Fix | undefined {
  const start = locator.offsetInText(path, textAt(value, path), at);
  const end = start + from.length;
  if (!text.startsWith(from, start) || /\w/.test(text[end] ?? '') || !/^\$?\w+$/.test(to)) return undefined;
  return edit(`write ${to}`, locator, to, start, end);
}

/** A scalar on one line: in double quotes, in single ones, or without. */
const SCALAR = /"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\n]|'')*'|[^\s"'|>&*!%@`{}[\],#][^\n\r,[\]{}#]*/y;

function replaceValue(wanted: Json, path: Path, { text, value, locator }: Document): Fix | undefined {
  const start = locator.locate(path)?.offset;
  if (start === undefined) return undefined;
  SCALAR.lastIndex = start;
  const written = SCALAR.exec(text)?.[0].trimEnd();
  if (written === undefined || !isWritten(written, readPath(value, path))) return undefined;
  // Aliases of an anchor would change too.
  if (PROPERTY.test(text.slice(Math.max(0, start - LONGEST_PROPERTY), start))) return undefined;
  const next = text.slice(start + written.length, start + written.length + 40);
  if (!/^[ \t]*(?:$|[\r\n,\]}]|\s#)/.test(next)) return undefined;
  const replacement = writeFlow(wanted, isJson(text));
  return edit(`write ${replacement}`, locator, replacement, start, start + written.length);
}

/** An anchor or a tag before a value. */
const PROPERTY = /[&!]\S*[ \t]+$/;
const LONGEST_PROPERTY = 200;

/** Returns true if a scalar is the value as it is written; false where it has escapes. */
function isWritten(written: string, value: unknown): boolean {
  if (value === null && written === '~') return true;
  if (value === null || typeof value === 'boolean') return written.toLowerCase() === String(value);
  if (typeof value === 'number') return Number(written) === value;
  if (/^["']/.test(written)) return written.slice(1, -1) === value;
  return written === value;
}

/** Adds a field to the map that contains it, or the map with the field when it is missing. */
function addField(path: Path, value: Json, document: Document, place?: FieldPlace): Fix | undefined {
  const key = path.at(-1);
  const owner = path.slice(0, -1);
  if (typeof key !== 'string' || !SAFE_NAME.test(key)) return undefined;
  const map = readPath(document.value, owner);
  if (map === undefined && owner.length > 0) return addField(owner, { [key]: value }, document);
  if (!isObject(map)) return undefined;
  const field = { key, value, title: `add ${key}: ${writeFlow(value, false)}` };
  if (Object.hasOwn(map, key)) return map[key] === null ? fillField(path, field, document) : undefined;
  const { text, locator } = document;
  const located = locator.locate(owner);
  if (located?.first === undefined || located.last === undefined) return undefined;
  const { start } = located.first;
  const { end } = place === 'last' ? located.last : located.first;
  const next = typeof place === 'object' ? locator.locate([...owner, place.before])?.keyOffset : start;
  if (next === undefined) return undefined;
  const isBefore = place === 'first' || typeof place === 'object';
  if (text[located.offset] === '{') {
    const isQuoted = text[start] === '"';
    const written = `${isQuoted ? JSON.stringify(key) : key}: ${writeFlow(value, isQuoted)}`;
    if (!isBefore) return edit(field.title, locator, `, ${written}`, end);
    const lineStart = indentAt(text, next, /^ *$/);
    const separator = lineStart === undefined ? ' ' : `${locator.lineBreak}${lineStart}`;
    return edit(field.title, locator, `${written},${separator}`, next);
  }
  const indent = indentAt(text, next, /^ *(?:- +)*$/);
  if (indent === undefined) return undefined;
  const newLine = `${locator.lineBreak}${indent}`;
  const written = `${key}:${writeBlock(value, newLine)}`;
  if (isBefore) return edit(field.title, locator, `${written}${newLine}`, next);
  return insertBelow(end, `${indent}${written}`, field.title, document);
}

/** Removes the lines of a field that has them for itself. A comment must not be lost: beside one, there is no fix. */
function removeField(path: Path, { text, locator }: Document): Fix | undefined {
  const located = locator.locate(path);
  const indent = located && indentAt(text, located.keyOffset, /^ *$/);
  if (located === undefined || indent === undefined) return undefined;
  const start = located.keyOffset - indent.length;
  END_OF_LINE.lastIndex = located.end;
  const isEnded = text[located.end - 1] === '\n';
  if (!isEnded && !END_OF_LINE.test(text)) return undefined;
  const end = isEnded ? located.end : END_OF_LINE.lastIndex;
  if (text.slice(start, end).includes('#')) return undefined;
  return edit(`remove ${String(path.at(-1))}`, locator, '', start, end);
}

/** The rest of a line without anything on it, and its line break. */
const END_OF_LINE = /[ \t]*(?:\r?\n|$)/y;

interface Field {
  readonly key: string;
  readonly value: Json;
  readonly title: string;
}

/** Blanks and a comment, which may stand between a value and the end of its line. */
const LINE_REST = /[ \t]*(?:#[^\r\n]*)?(?=\r?\n|$)/y;

/** Adds a line below the one on which a value ends. */
function insertBelow(end: number, line: string, title: string, { text, locator }: Document): Fix | undefined {
  const lineBreak = locator.lineBreak;
  // A block of text ends with its last line break.
  if (text[end - 1] === '\n') return edit(title, locator, `${line}${lineBreak}`, end);
  LINE_REST.lastIndex = end;
  return LINE_REST.test(text) ? edit(title, locator, `${lineBreak}${line}`, LINE_REST.lastIndex) : undefined;
}

/** A key, with or without quotes, and its colon. */
const KEY = /(["']?)([\w.[\]-]+)\1[ \t]*:/y;

/** Writes the value behind a key that has none. */
function fillField(path: Path, { key, value, title }: Field, document: Document): Fix | undefined {
  const { text, locator } = document;
  const start = locator.locate(path)?.keyOffset;
  if (start === undefined) return undefined;
  KEY.lastIndex = start;
  const isPlain = KEY.exec(text)?.[2] === key;
  const colon = KEY.lastIndex;
  const indent = indentAt(text, start, /^ *(?:- +)*$/);
  LINE_REST.lastIndex = colon;
  if (!isPlain || indent === undefined || !LINE_REST.test(text)) return undefined;
  const written = writeBlock(value, `${locator.lineBreak}${indent}`);
  return edit(title, locator, written, written.startsWith(' ') ? colon : LINE_REST.lastIndex);
}

/** Writes a value behind its key: the fields of maps, and of lists of maps, on lines of their own. */
function writeBlock(value: Json, newLine: string): string {
  const isListOfMaps = Array.isArray(value) && value.every((entry) => isObject(entry));
  if (!isObject(value) && !isListOfMaps) return ` ${writeFlow(value, false)}`;
  const [before, between] = isListOfMaps ? ['- ', '    '] : ['', '  '];
  const blocks = (isListOfMaps ? value : [value]).map((map) => {
    const fields = Object.entries(map).map(([key, field]) => `${key}: ${writeFlow(field, false)}`);
    return `${newLine}  ${before}${fields.join(`${newLine}${between}`)}`;
  });
  return blocks.join('');
}

/** The spaces before a member of a map or list, so that another one can go on the line above. */
function indentAt(text: string, offset: number, before: RegExp): string | undefined {
  let start = offset;
  // Not to the start of the line: that of a very long one would be looked for again for each fix.
  while (start > 0 && /[ -]/.test(text.charAt(start - 1))) start--;
  const startsLine = start === 0 || text[start - 1] === '\n';
  return startsLine && before.test(text.slice(start, offset)) ? ' '.repeat(offset - start) : undefined;
}

/** Adds an entry at the start of a list, or the list with the entry when it is missing. */
function addEntry(path: Path, value: Json, document: Document): Fix | undefined {
  const list = readPath(document.value, path);
  if (list === undefined) return addField(path, [value], document);
  const { text, locator } = document;
  const located = locator.locate(path);
  if (!Array.isArray(list) || located === undefined) return undefined;
  const { offset } = located;
  const title = `add ${writeFlow(value, false)} to ${String(path.at(-1))}`;
  if (text[offset] === '[') {
    const entry = writeFlow(value, isJson(text));
    return edit(title, locator, list.length === 0 ? entry : `${entry}, `, offset + 1);
  }
  const indent = indentAt(text, offset, /^ *$/);
  if (indent === undefined || !text.startsWith('- ', offset)) return undefined;
  return edit(title, locator, `- ${writeFlow(value, false)}${locator.lineBreak}${indent}`, offset);
}

/** Writes names in place of the templates of a statement or a script, and the templates as their values: all of them, or nothing. */
function bindTemplates(
  change: Change & { readonly kind: 'bind' },
  base: Path,
  document: Document,
): Fix | undefined {
  const { text, value, locator } = document;
  const path = [...base, ...change.path];
  const written = textAt(value, path);
  const edits: TextEdit[] = [];
  for (const part of change.parts) {
    let start = locator.offsetInText(path, written, part.at);
    let end = start + part.written.length;
    if (!text.startsWith(part.written, start)) return undefined;
    if (part.isQuoted) {
      // Two quotes are one in a text with single quotes.
      if (text.slice(start - 2, start) === "''" || text[--start] !== "'" || text[end++] !== "'")
        return undefined;
    }
    edits.push({ from: locator.toPosition(start), to: locator.toPosition(end), text: part.text });
  }
  const added = addParams(change, base, document);
  if (added === undefined) return undefined;
  const names = change.parts.map(({ text: name }) => name);
  return { title: `bind ${[...new Set(names)].join(', ')}`, edits: [...edits, ...added].sort(byPosition) };
}

function byPosition({ from: a }: TextEdit, { from: b }: TextEdit): number {
  return a.line - b.line || a.column - b.column;
}

function addParams(
  { params, paramsPath }: Change & { readonly kind: 'bind' },
  base: Path,
  document: Document,
): readonly TextEdit[] | undefined {
  const path = [...base, ...paramsPath];
  const entries = Object.entries(params);
  if (readPath(document.value, path) === undefined && entries.length > 0)
    return addField(path, { ...params }, document, 'last')?.edits;
  let merged: TextEdit | undefined;
  for (const [name, template] of entries) {
    const fix = addField([...path, name], template, document, 'last');
    const [added] = fix?.edits ?? [];
    if (added === undefined) return undefined;
    merged = merged === undefined ? added : { ...merged, text: merged.text + added.text };
  }
  return merged === undefined ? [] : [merged];
}

/** Returns true if a text has the quotes of JSON, so that an added value needs them too. */
function isJson(text: string): boolean {
  return /^\s*[{[]\s*"/.test(text);
}

/** Writes a text between two offsets, or inserts it at one. */
function edit(title: string, locator: Locator, text: string, start: number, end = start): Fix {
  return { title, edits: [{ from: locator.toPosition(start), to: locator.toPosition(end), text }] };
}
