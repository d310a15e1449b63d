import type { Json } from '../../common/json.js';
import type { Segment } from './expression.js';

/** Returns the value at the end of a path; undefined when the path leads nowhere (D11, D12). */
export function lookUp(from: Json | undefined, path: readonly Segment[]): Json | undefined {
  let value = from;
  for (const segment of path) {
    if (value === undefined) return undefined;
    value = typeof value === 'string' ? getTextMember(value, segment) : getMember(value, segment);
  }
  return value;
}

/** Reads the member of the JSON within a text; only a text without JSON has members of its own. */
function getTextMember(text: string, segment: Segment): Json | undefined {
  const json = extractJsonCached(text);
  if (json !== undefined) return getMember(json, segment);
  return segment.kind === 'field' ? getPlainTextMember(text, segment.name) : undefined;
}

function getMember(value: Json, segment: Segment): Json | undefined {
  if (Array.isArray(value)) return getListMember(value, segment);
  if (segment.kind === 'index' || typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, segment.name) ? value[segment.name] : undefined;
}

function getListMember(list: readonly Json[], segment: Segment): Json | undefined {
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

/** Counts and returns whole characters, never half of a surrogate pair. */
function getPlainTextMember(text: string, name: string): Json | undefined {
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

/** Cached texts: more than one task usually reads. */
const MAX_CACHED_TEXTS = 8;

/** Shorter texts are parsed faster than they are found in the cache. */
const MIN_CACHED_LENGTH = 1024;

const jsonCache = new Map<string, ReturnType<typeof extractJson>>();

/**
 * Returns what `extractJson` finds, frozen. Results are cached until the next microtask: a task may read many fields of
 * one large text, which would otherwise be parsed for each of them.
 */
function extractJsonCached(text: string): ReturnType<typeof extractJson> {
  if (text.length < MIN_CACHED_LENGTH) return deepFreeze(extractJson(text));
  if (jsonCache.has(text)) return jsonCache.get(text);
  if (jsonCache.size === 0) queueMicrotask(() => jsonCache.clear());
  if (jsonCache.size === MAX_CACHED_TEXTS) jsonCache.clear();
  const json = deepFreeze(extractJson(text));
  jsonCache.set(text, json);
  return json;
}

/** Iterates instead of recursing, because a text may contain any depth. */
function deepFreeze<T extends Json | undefined>(root: T): T {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(Object.freeze(value))) pending.push(member);
  }
  return root;
}

/**
 * Parses a text that is a JSON list or object, with or without a code fence around it, because language models respond
 * in text (D12). Returns undefined for any other text.
 */
export function extractJson(text: string): Json[] | { [key: string]: Json } | undefined {
  const body = stripFence(text.trim());
  if (!body.startsWith('{') && !body.startsWith('[')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    // The text only starts like JSON.
    return undefined;
  }
}

const FENCE = /^(?:`{3,}|~{3,})/;
/** The language after a fence: the rest of its line, or the text before a value on the same line. */
const LANGUAGE = /^[^\n{[]*/;

function stripFence(text: string): string {
  const fence = FENCE.exec(text)?.[0];
  if (fence === undefined) return text;
  const body = text.slice(fence.length).replace(LANGUAGE, '').trim();
  return body.endsWith(fence) ? body.slice(0, -fence.length).trim() : body;
}
