import type { SyntaxNode, Tree } from '@lezer/common';
import type { Json } from '../../../../lib/common/json/json.js';

/** A part of a YAML text, with its place. Half-written texts have parts without a value. */
export interface YamlNode {
  readonly kind: 'map' | 'list' | 'scalar';
  readonly from: number;
  readonly to: number;
  /** Of a scalar: its text without quotes. */
  readonly text: string;
  readonly isQuoted: boolean;
  readonly entries: readonly YamlEntry[];
}

/** A member of a map, or an entry of a list. */
export interface YamlEntry {
  /** Undefined in a list. */
  readonly key: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly value: YamlNode | undefined;
}

type ReadText = (from: number, to: number) => string;

/** More parts than these are left out: walking them would be felt while typing. */
const MOST_PARTS = 60_000;

/** Deeper parts are left out, as the server refuses them. */
const DEEPEST = 100;

/** Reads what the syntax tree of a text has, as maps, lists and scalars. Never throws. */
export function readYaml(tree: Tree, read: ReadText): YamlNode | undefined {
  const reader = new TreeReader(read);
  for (let node = tree.topNode.firstChild; node !== null; node = node.nextSibling) {
    const value = node.name === 'Document' ? reader.firstValue(node, 0) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

const PLAIN = { text: '', isQuoted: false };

class TreeReader {
  readonly #read: ReadText;
  #left = MOST_PARTS;

  constructor(read: ReadText) {
    this.#read = read;
  }

  /** The value among the children of a node, after its key. */
  firstValue(node: SyntaxNode, depth: number): YamlNode | undefined {
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      const value = this.#readValue(child, depth);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #readValue(node: SyntaxNode, depth: number): YamlNode | undefined {
    if (depth > DEEPEST || --this.#left < 0) return undefined;
    const { name, from, to } = node;
    switch (name) {
      case 'BlockMapping':
      case 'FlowMapping':
        return { ...PLAIN, kind: 'map', from, to, entries: this.#readEntries(node, 'Pair', depth) };
      case 'BlockSequence':
      case 'FlowSequence':
        return { ...PLAIN, kind: 'list', from, to, entries: this.#readEntries(node, 'Item', depth) };
      case 'Literal':
      case 'QuotedLiteral':
      case 'BlockLiteral':
        return {
          kind: 'scalar',
          from,
          to,
          text: unquote(this.#read(from, to)),
          isQuoted: name !== 'Literal',
          entries: [],
        };
      case 'Anchored':
      case 'Tagged':
        return this.firstValue(node, depth + 1);
      default:
        return undefined;
    }
  }

  #readEntries(node: SyntaxNode, kind: 'Pair' | 'Item', depth: number): YamlEntry[] {
    const entries: YamlEntry[] = [];
    for (let child = node.firstChild; child !== null && this.#left > 0; child = child.nextSibling) {
      if (child.name !== kind) continue;
      const key = child.getChild('Key');
      const value = this.firstValue(child, depth + 1);
      entries.push({
        key: key === null ? undefined : unquote(this.#read(key.from, key.to)),
        from: key?.from ?? value?.from ?? child.from,
        to: child.to,
        value,
      });
    }
    return entries;
  }
}

function unquote(text: string): string {
  const quote = text[0];
  if ((quote !== '"' && quote !== "'") || text.length < 2) return text;
  return text.endsWith(quote) ? text.slice(1, -1) : text.slice(1);
}

/** Returns the value of a key of a map. */
export function child(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key)?.value : undefined;
}

/** Returns the keys of a map, or the texts of a list. */
export function namesIn(node: YamlNode | undefined): string[] {
  const names = node?.entries.map(({ key, value }) => (node.kind === 'map' ? key : value?.text));
  return (names ?? []).filter((name) => name !== undefined && name !== '') as string[];
}

/** Reads a part as JSON, with the values of YAML's core schema; text where it is half-written. */
export function toJson(node: YamlNode | undefined): Json {
  if (node === undefined) return null;
  if (node.kind === 'list') return node.entries.map(({ value }) => toJson(value));
  if (node.kind === 'map') {
    return Object.fromEntries(node.entries.map(({ key = '', value }) => [key, toJson(value)]));
  }
  if (node.isQuoted) return node.text;
  return Object.hasOwn(WORDS, node.text) ? (WORDS[node.text] ?? null) : readNumber(node.text);
}

const WORDS: Readonly<Record<string, Json>> = { '': null, '~': null, null: null, true: true, false: false };

function readNumber(text: string): Json {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text) ? Number(text) : text;
}
