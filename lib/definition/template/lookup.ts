import type { Json } from '../../common/json.js';
import type { Segment } from './expression.js';

/** The value at the end of a path; undefined when the path leads nowhere (D11, D12). */
export function lookUp(from: Json | undefined, path: readonly Segment[]): Json | undefined {
  let value = from;
  for (const segment of path) {
    if (value === undefined) return undefined;
    value = typeof value === 'string' ? memberOfText(value, segment) : memberOf(value, segment);
  }
  return value;
}

/** A text is what it holds as JSON; only when it holds none, it is a text. */
function memberOfText(text: string, segment: Segment): Json | undefined {
  const held = heldJson(text);
  if (held !== undefined) return memberOf(held, segment);
  return segment.kind === 'field' ? memberOfPlainText(text, segment.name) : undefined;
}

function memberOf(value: Json, segment: Segment): Json | undefined {
  if (Array.isArray(value)) return memberOfList(value, segment);
  if (segment.kind === 'index' || typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, segment.name) ? value[segment.name] : undefined;
}

function memberOfList(list: readonly Json[], segment: Segment): Json | undefined {
  if (segment.kind === 'index') return list.at(segment.index);
  switch (segment.name) {
    case 'first':
      return list[0];
    case 'last':
      return list.at(-1);
    case 'length':
      return list.length;
    default:
      return undefined;
  }
}

/** Characters are whole, never half of a pair of surrogates. */
function memberOfPlainText(text: string, name: string): Json | undefined {
  switch (name) {
    case 'first':
      return text === '' ? undefined : String.fromCodePoint(text.codePointAt(0) ?? 0);
    case 'last':
      return text === '' ? undefined : lastCharacter(text);
    case 'length':
      return countCharacters(text);
    default:
      return undefined;
  }
}

function lastCharacter(text: string): string {
  const pair = text.slice(-2);
  return isPair(pair.codePointAt(0)) ? pair : pair.slice(-1);
}

function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += isPair(text.codePointAt(at)) ? 2 : 1;
  return count;
}

function isPair(code: number | undefined): boolean {
  return code !== undefined && code > 0xffff;
}

/** Texts that are remembered at once: more than a task reads of one after another. */
const MOST_TEXTS = 8;

/** Shorter ones are read faster than they are found. */
const REMEMBERED_FROM = 1024;

const read = new Map<string, ReturnType<typeof jsonIn>>();

/**
 * What `jsonIn` finds, frozen. It is remembered until what runs now has come to its end: a task may read many fields
 * of one large text, and each would take a reading of all of it.
 */
function heldJson(text: string): ReturnType<typeof jsonIn> {
  if (text.length < REMEMBERED_FROM) return frozen(jsonIn(text));
  if (read.has(text)) return read.get(text);
  if (read.size === 0) queueMicrotask(() => read.clear());
  if (read.size === MOST_TEXTS) read.clear();
  const held = frozen(jsonIn(text));
  read.set(text, held);
  return held;
}

/** Without recursion: a text may hold any depth. */
function frozen<T extends Json | undefined>(root: T): T {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(Object.freeze(value))) open.push(member);
  }
  return root;
}

/**
 * The list or object that a text holds as JSON, with or without a code fence around it: language models answer
 * in text (D12). Undefined when it holds neither.
 */
export function jsonIn(text: string): Json[] | { [key: string]: Json } | undefined {
  const body = unfenced(text.trim());
  if (!body.startsWith('{') && !body.startsWith('[')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    // A text that only begins like JSON is a text.
    return undefined;
  }
}

const FENCE = /^(?:`{3,}|~{3,})/;
/** The language named beside a fence: the rest of its line, or what stands before a value on the same line. */
const LANGUAGE = /^[^\n{[]*/;

function unfenced(text: string): string {
  const fence = FENCE.exec(text)?.[0];
  if (fence === undefined) return text;
  const body = text.slice(fence.length).replace(LANGUAGE, '').trim();
  return body.endsWith(fence) ? body.slice(0, -fence.length).trim() : body;
}
