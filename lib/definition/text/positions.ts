import { type Document, isAlias, isCollection, isMap, isNode, isScalar, isSeq, type LineCounter } from 'yaml';
import type { Path, PlaceInText, Position } from '../problems/problem.js';
import { findCharacter } from './scalar-source.js';

/** Where each part of a text begins. Flat lists, because they are built and sent to another process fast. */
export interface Positions {
  /** The offset of each line. */
  readonly lines: Int32Array;
  /** Five numbers for each part, in the order of the text: see {@link FIELDS}. */
  readonly parts: Int32Array;
  /** The key of each part that is a member of a map. */
  readonly keys: readonly (string | undefined)[];
}

/** The numbers of one part. */
const FIELDS = {
  offset: 0,
  /** The offset of the key of a part; that of the part itself when it has none. */
  keyOffset: 1,
  /** The next part after a part and its members. */
  end: 2,
  /** The part whose members a part has: itself, or the one that an alias refers to. */
  owner: 3,
  /** The offset at which a part ends. */
  close: 4,
} as const;
const WIDTH = Object.keys(FIELDS).length;

/** Lists the parts of a document whose nesting has been checked. */
export function collectPositions({ contents }: Document, { lineStarts }: LineCounter): Positions {
  const collector = new Collector();
  collector.add(contents);
  return {
    lines: Int32Array.from(lineStarts),
    parts: Int32Array.from(collector.parts),
    keys: collector.keys,
  };
}

class Collector {
  readonly parts: number[] = [];
  readonly keys: (string | undefined)[] = [];
  /** The last part with each anchor so far: an alias comes after its anchor. */
  readonly #anchored = new Map<string, number>();

  add(node: unknown, key?: string, keyOffset = offsetOf(node)): void {
    const part = this.keys.length;
    const owner = isAlias(node) ? (this.#anchored.get(node.source) ?? part) : part;
    this.keys.push(key);
    this.parts.push(offsetOf(node), keyOffset, part, owner, closeOf(node));
    if (isSeq(node)) for (const item of node.items) this.add(item);
    else if (isMap(node)) {
      for (const pair of node.items) {
        if (isScalar(pair.key)) this.add(pair.value ?? pair.key, String(pair.key.value), offsetOf(pair.key));
      }
    }
    this.parts[part * WIDTH + FIELDS.end] = this.keys.length;
    // Last: an alias within the node cannot refer to it.
    if ((isScalar(node) || isCollection(node)) && node.anchor) this.#anchored.set(node.anchor, part);
  }
}

function offsetOf(node: unknown): number {
  return (isNode(node) ? node.range?.[0] : undefined) ?? 0;
}

function closeOf(node: unknown): number {
  return (isNode(node) ? node.range?.[1] : undefined) ?? 0;
}

/** Where a part stands in the text, as offsets. */
interface Located {
  readonly offset: number;
  /** Offset of the key of the part; of the part itself when it has none. */
  readonly keyOffset: number;
  /** Offset behind the part. */
  readonly end: number;
  /** Undefined for a part without members. */
  readonly first: LocatedMember | undefined;
  readonly last: LocatedMember | undefined;
}

/** A member: in a map from its key to the end of its value, in a list an entry. */
interface LocatedMember {
  readonly start: number;
  readonly end: number;
}

type Members = ReadonlyMap<string | number, number>;

const NO_BRACES = { inValue: -1, inSource: -1 };

/** Finds the position of a path in a text. */
export class Locator {
  /** How the text ends its lines. */
  readonly lineBreak: '\n' | '\r\n';
  readonly #positions: Positions;
  readonly #text: string;
  /** The members of each part that was asked for, by part. */
  readonly #members = new Map<number, Members>();
  /** The parts whose key comes again behind them: the value is that of the last one. */
  readonly #duplicated = new Set<number>();
  /** The last pair of braces that was found: templates are asked for in their order. */
  #braces = { part: -1, inValue: -1, inSource: -1 };

  constructor(positions: Positions, text: string) {
    this.#positions = positions;
    this.#text = text;
    this.lineBreak = text[text.indexOf('\n') - 1] === '\r' ? '\r\n' : '\n';
  }

  /** Returns the position of the value at the path, or of its key; of what contains it when there is no such value. */
  find(path: Path, at: 'key' | 'value' = 'value'): Position {
    const { part, isFound } = this.#findPart(path);
    return this.toPosition(this.#read(part, at === 'key' && isFound ? 'keyOffset' : 'offset'));
  }

  /** Returns what stands at the path in the text itself; undefined when nothing does, or an alias or a duplicate key leads there. */
  locate(path: Path): Located | undefined {
    let part = 0;
    for (const key of path) {
      const member = this.#membersOf(part).get(key);
      if (member === undefined || this.#duplicated.has(member)) return undefined;
      if (this.#read(part, 'owner') !== part) return undefined;
      part = member;
    }
    if (this.#read(part, 'owner') !== part) return undefined;
    const members = [...this.#membersOf(part).values()];
    return {
      offset: this.#read(part, 'offset'),
      keyOffset: this.#read(part, 'keyOffset'),
      end: this.#read(part, 'close'),
      first: this.#locateMember(members[0]),
      last: this.#locateMember(members.at(-1)),
    };
  }

  #locateMember(part: number | undefined): LocatedMember | undefined {
    if (part === undefined) return undefined;
    return { start: this.#read(part, 'keyOffset'), end: this.#read(part, 'close') };
  }

  /** Returns the offset of a place in `value`, the text at the path; that of the whole value when it is not found. */
  offsetInText(path: Path, value: string, place: PlaceInText): number {
    const part = this.#read(this.#findPart(path).part, 'owner');
    const start = this.#read(part, 'offset');
    if (typeof place === 'number') return this.#templateOffset(part, start, value, place);
    return start + (findCharacter(this.#text.slice(start, this.#findEnd(part)), value, place.character) ?? 0);
  }

  /**
   * Quotes, indentation and escapes may separate a text from its source, but both have the same pairs of braces in the same
   * order.
   */
  #templateOffset(part: number, start: number, value: string, offset: number): number {
    const source = this.#text.slice(start, this.#findEnd(part));
    const last = this.#braces;
    let { inValue, inSource } = last.part === part && last.inValue <= offset ? last : NO_BRACES;
    while (inValue < offset) {
      inValue = value.indexOf('{{', inValue + 1);
      inSource = source.indexOf('{{', inSource + 1);
      if (inValue < 0 || inSource < 0) return start;
    }
    this.#braces = { part, inValue, inSource };
    return start + inSource;
  }

  /** Returns the end of the source of a scalar: where the next part begins. */
  #findEnd(part: number): number {
    const next = this.#read(part, 'end');
    return next < this.#positions.keys.length ? this.#read(next, 'keyOffset') : this.#text.length;
  }

  /** Returns the part at the path, or the one that contains it when there is no such part. */
  #findPart(path: Path): { readonly part: number; readonly isFound: boolean } {
    let part = 0;
    for (const key of path) {
      const member = this.#membersOf(this.#read(part, 'owner')).get(key);
      if (member === undefined) return { part, isFound: false };
      part = member;
    }
    return { part, isFound: path.length > 0 };
  }

  #membersOf(owner: number): Members {
    const known = this.#members.get(owner);
    if (known !== undefined) return known;
    const members = new Map<string | number, number>();
    this.#members.set(owner, members);
    const end = this.#read(owner, 'end');
    for (let part = owner + 1; part < end; part = this.#read(part, 'end')) {
      const key = this.#positions.keys[part] ?? members.size;
      // Of duplicate keys, the first.
      const first = members.get(key);
      if (first === undefined) members.set(key, part);
      else this.#duplicated.add(first);
    }
    return members;
  }

  #read(part: number, field: keyof typeof FIELDS): number {
    return this.#positions.parts[part * WIDTH + FIELDS[field]] ?? 0;
  }

  toPosition(offset: number): Position {
    const { lines } = this.#positions;
    let low = 0;
    let high = lines.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((lines[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (lines[low] ?? 0) + 1 };
  }
}
