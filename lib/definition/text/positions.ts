import { type Document, isAlias, isCollection, isMap, isNode, isScalar, isSeq, type LineCounter } from 'yaml';
import type { Path, Position } from '../problem.js';

/** Where each part of a text begins. Flat lists, because they are built and sent to another process fast. */
export interface Positions {
  /** The offset of each line. */
  readonly lines: Int32Array;
  /** Four numbers for each part, in the order of the text: see {@link FIELDS}. */
  readonly parts: Int32Array;
  /** The key of each part that is a member of a map. */
  readonly keys: readonly (string | undefined)[];
}

/** The numbers of one part. */
const FIELDS = {
  offset: 0,
  /** The offset of its key; that of the part itself when it has none. */
  keyOffset: 1,
  /** The part after it and its members. */
  end: 2,
  /** The part whose members it has: itself, or what an alias refers to. */
  owner: 3,
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
    this.parts.push(offsetOf(node), keyOffset, part, owner);
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

type Members = ReadonlyMap<string | number, number>;

/** Finds the position of a path in a text. */
export class Locator {
  readonly #positions: Positions;
  /** The members of each part that was asked for, by part. */
  readonly #members = new Map<number, Members>();

  constructor(positions: Positions) {
    this.#positions = positions;
  }

  /** Returns the position of the value at the path, or of its key; of what contains it when there is no such value. */
  find(path: Path, at: 'key' | 'value' = 'value'): Position {
    let part = 0;
    for (const [depth, key] of path.entries()) {
      const member = this.#membersOf(this.#read(part, 'owner')).get(key);
      if (member === undefined) break;
      part = member;
      if (at === 'key' && depth === path.length - 1) return this.#toPosition(this.#read(part, 'keyOffset'));
    }
    return this.#toPosition(this.#read(part, 'offset'));
  }

  #membersOf(owner: number): Members {
    let members = this.#members.get(owner);
    if (members === undefined) {
      members = this.#listMembers(owner);
      this.#members.set(owner, members);
    }
    return members;
  }

  #listMembers(owner: number): Members {
    const members = new Map<string | number, number>();
    const end = this.#read(owner, 'end');
    for (let part = owner + 1; part < end; part = this.#read(part, 'end')) {
      const key = this.#positions.keys[part] ?? members.size;
      // Of duplicate keys, the first.
      if (!members.has(key)) members.set(key, part);
    }
    return members;
  }

  #read(part: number, field: keyof typeof FIELDS): number {
    return this.#positions.parts[part * WIDTH + FIELDS[field]] ?? 0;
  }

  #toPosition(offset: number): Position {
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
