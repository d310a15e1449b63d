import type { Json } from '../../common/json.js';
import type { Segment } from './expression.js';
import { heldJson } from './held-json.js';

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
