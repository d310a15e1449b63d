import { estimateBytes, type Json } from '../../../common/json/json.js';
import type { Segment } from './expression.js';
import { extractJson } from '../extract-json.js';
import type { RenderMeter } from '../render-meter.js';

type Value = Json | undefined;

/**
 * Returns the value at the end of a path; undefined when the path leads nowhere (D11, D12).
 *
 * @param meter measures a value that was read from a text: nothing else in memory contains it
 */
export function lookUp(from: Value, path: readonly Segment[], meter?: RenderMeter): Value {
  let value = from;
  let isParsed = false;
  for (const segment of path) {
    if (value === undefined) return undefined;
    if (typeof value === 'string') {
      isParsed = true;
      value = getTextMember(value, segment, meter);
    } else value = getMember(value, segment);
  }
  if (!isParsed || value === undefined) return value;
  meter?.addParsed(estimateBytes(value));
  return deepFreeze(value);
}

/** Reads the member of the JSON within a text; only a text without JSON, and a long one, has members of its own. */
function getTextMember(text: string, segment: Segment, meter: RenderMeter | undefined): Value {
  const ownName = segment.kind === 'field' && OWN_NAMES.has(segment.name) ? segment.name : undefined;
  const json = extractJsonCached(text, ownName !== undefined, meter);
  if (json !== undefined) return getMember(json, segment);
  return ownName === undefined ? undefined : getOwnMember(text, ownName);
}

const OWN_NAMES: ReadonlySet<string> = new Set(['first', 'last', 'length']);

/** Returns a member of a value that is not read as JSON. */
export function getMember(value: Json, segment: Segment): Value {
  if (Array.isArray(value)) return getListMember(value, segment);
  if (segment.kind === 'index' || typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, segment.name) ? value[segment.name] : undefined;
}

function getListMember(list: readonly Json[], { name, index }: Segment): Value {
  if (index !== undefined) return list.at(index);
  if (name === 'first') return list[0];
  if (name === 'last') return list.at(-1);
  return name === 'length' ? list.length : undefined;
}

/** Counts and returns whole characters, never half of a surrogate pair. */
function getOwnMember(text: string, name: string): Value {
  if (name === 'length') return countOnce(text);
  if (text === '') return undefined;
  return name === 'first' ? String.fromCodePoint(text.codePointAt(0) ?? 0) : lastCharacter(text);
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

function countOnce(text: string): number {
  if (text.length < MIN_CACHED_LENGTH) return countCharacters(text);
  const facts = factsOf(text);
  return (facts.characters ??= countCharacters(text));
}

function isPair(code: number | undefined): boolean {
  return code !== undefined && code > 0xffff;
}

/** Cached texts: more than one task usually reads. */
const MAX_CACHED_TEXTS = 8;

/** Characters of all cached texts, unless there is only one: parsed, they take many times as much memory. */
const MAX_CACHED_LENGTH = 4 * 2 ** 20;

/** Shorter texts are parsed faster than they are found in the cache. */
const MIN_CACHED_LENGTH = 1024;

/** The start of a list or an object. */
const MAYBE_JSON = /[[{]/;

/** A list, an object or a code fence at the start of a text. */
const STARTS_LIKE_JSON = /^\s*(?:[[{]|```|~~~)/;

type ExtractedJson = ReturnType<typeof extractJson>;

/** Facts about a long text that need no parsing, each found out when it is first asked for. */
interface TextFacts {
  maybeJson?: boolean;
  characters?: number;
}

/** Texts of which something is known until the next microtask: a task may read the length of one very many times. */
const MAX_KNOWN_TEXTS = 10_000;

const knownTexts = new Map<string, TextFacts>();

function factsOf(text: string): TextFacts {
  const known = knownTexts.get(text);
  if (known !== undefined) return known;
  if (knownTexts.size === 0) queueMicrotask(() => knownTexts.clear());
  else if (knownTexts.size === MAX_KNOWN_TEXTS) knownTexts.clear();
  const facts: TextFacts = {};
  knownTexts.set(text, facts);
  return facts;
}

const jsonCache = new Map<string, ExtractedJson>();
let cachedLength = 0;

/**
 * Returns what `extractJson` finds; undefined when the meter does not allow reading it. Results are cached until the next
 * microtask: a task may read many fields of one large text, which would otherwise be parsed for each of them.
 *
 * @param isOptional whether the text itself has the member that is looked for
 */
function extractJsonCached(text: string, isOptional: boolean, meter: RenderMeter | undefined): ExtractedJson {
  if (text.length < MIN_CACHED_LENGTH) return extractJson(text);
  if (jsonCache.has(text)) return jsonCache.get(text);
  const facts = factsOf(text);
  if (!(facts.maybeJson ??= MAYBE_JSON.test(text))) return undefined;
  if (meter?.mayParse(text.length, isOptional && !STARTS_LIKE_JSON.test(text)) === false) return undefined;
  if (jsonCache.size === 0) queueMicrotask(clearCache);
  if (jsonCache.size === MAX_CACHED_TEXTS || cachedLength + text.length > MAX_CACHED_LENGTH) clearCache();
  const json = extractJson(text);
  jsonCache.set(text, json);
  cachedLength += text.length;
  return json;
}

function clearCache(): void {
  jsonCache.clear();
  cachedLength = 0;
}

/** Iterates instead of recursing, because a text may contain any depth. A frozen value has frozen members. */
function deepFreeze<T extends Json>(root: T): T {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) continue;
    for (const member of Object.values(Object.freeze(value))) pending.push(member);
  }
  return root;
}
