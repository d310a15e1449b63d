import type { Json } from '../../json.js';
import type { Segment } from './expression.js';
import { jsonIn } from './json-text.js';

/** The value at the end of a path; undefined when the path leads nowhere (D11, D12). */
export function lookUp(from: Json | undefined, path: readonly Segment[]): Json | undefined {
  let value = from;
  for (let at = 0; at < path.length; at++) {
    if (typeof value === 'string') return lookUpInText(value, path.slice(at));
    const segment = path[at];
    if (segment === undefined || value === undefined) return undefined;
    value = memberOf(value, segment);
  }
  return value;
}

/** What a text holds is new with every look: frozen, as it may be given to many items. */
function lookUpInText(text: string, path: readonly Segment[]): Json | undefined {
  const held = jsonIn(text);
  if (held !== undefined) return frozen(lookUp(held, path));
  const [segment, ...rest] = path;
  return segment?.kind === 'field' ? lookUp(memberOfText(text, segment.name), rest) : undefined;
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
function memberOfText(text: string, name: string): Json | undefined {
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

/** Without recursion: a text may hold any depth. */
function frozen(root: Json | undefined): Json | undefined {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(Object.freeze(value))) open.push(member);
  }
  return root;
}
