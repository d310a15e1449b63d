/** A line of a difference: it is in both texts, or was added or removed. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Lines that differ, in a row or nearly, with some before and after them that do not. */
export interface DiffHunk {
  /** The number of its first line in the earlier text and in the later one, from 1. */
  readonly before: number;
  readonly after: number;
  readonly lines: readonly DiffLine[];
}

/** The limits of comparing two texts: it happens in one turn of the page. */
export const DIFF_LIMITS = {
  /** Lines of both texts together that are left when their equal beginnings and ends are cut off. */
  lines: 50_000,
  /** Lines that differ; time and memory grow with the square of them. */
  changed: 2000,
} as const;

/** Lines that do not differ before and after those that do. */
const CONTEXT = 3;

/**
 * Compares two texts line by line, in as few added and removed lines as possible. Takes time in proportion to the texts,
 * and to the square of the lines that differ.
 *
 * @returns the differences in their order, none when the texts are equal; undefined when there are more than the limits allow
 */
export function diffLines(before: string, after: string): readonly DiffHunk[] | undefined {
  if (before === after) return [];
  const [old, now] = [splitLines(before), splitLines(after)];
  const equalAtStart = countEqual(old, now, 0, (index) => index);
  const equalAtEnd = countEqual(old, now, equalAtStart, (index, { length }) => length - 1 - index);
  const head = Math.max(0, equalAtStart - CONTEXT);
  const tail = Math.max(0, equalAtEnd - CONTEXT);
  const [oldEnd, nowEnd] = [old.length - tail, now.length - tail];
  if (oldEnd + nowEnd - 2 * head > DIFF_LIMITS.lines) return undefined;
  const kinds = findPath(...numberLines(old.slice(head, oldEnd), now.slice(head, nowEnd)));
  return kinds && collectHunks(old, now, head, kinds);
}

/** The end of the last line makes no line of its own. */
function splitLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Counts the equal lines of two texts, from the beginning or the end, but for those that are taken already. */
function countEqual(
  old: readonly string[],
  now: readonly string[],
  taken: number,
  place: (index: number, lines: readonly string[]) => number,
): number {
  const most = Math.min(old.length, now.length) - taken;
  let count = 0;
  while (count < most && old[place(count, old)] === now[place(count, now)]) count++;
  return count;
}

/** Gives equal lines the same number: numbers are compared faster than texts. */
function numberLines(...texts: readonly [readonly string[], readonly string[]]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const toNumber = (line: string): number => {
    const number = numbers.get(line) ?? numbers.size;
    if (number === numbers.size) numbers.set(line, number);
    return number;
  };
  return [Int32Array.from(texts[0], toNumber), Int32Array.from(texts[1], toNumber)];
}

/**
 * Finds the shortest way from one text to the other (Myers, "An O(ND) Difference Algorithm"): on each diagonal `k` of the
 * table of their lines, how far `d` added and removed lines lead.
 */
function findPath(old: Int32Array, now: Int32Array): DiffLine['kind'][] | undefined {
  const most = Math.min(old.length + now.length, DIFF_LIMITS.changed);
  /** By the number of changed lines: how far it leads on the diagonals -d, -d + 2, …, d. */
  const reached: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    const furthest = new Int32Array(d + 1);
    for (let k = -d; k <= d; k += 2) {
      let x = d === 0 ? 0 : startOf(reached, d, k).x;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      furthest[(k + d) / 2] = x;
      if (x >= old.length && x - k >= now.length) return walkBack([...reached, furthest], k);
    }
    reached.push(furthest);
  }
  return undefined;
}

/** Where the way to a diagonal begins after its last changed line: `d` of them are behind it. */
function startOf(reached: readonly Int32Array[], d: number, k: number) {
  const last = reached[d - 1] ?? EMPTY;
  const fromAbove = k < d ? (last[(k + d) / 2] ?? -1) : -1;
  const fromLeft = k > -d ? (last[(k + d) / 2 - 1] ?? -1) : -1;
  const isAdded = k === -d || (k !== d && fromLeft < fromAbove);
  return isAdded ? { x: fromAbove, isAdded } : { x: fromLeft + 1, isAdded };
}

const EMPTY = new Int32Array();

/** Lists what happens on the way to the end, which is on the diagonal `k`. */
function walkBack(reached: readonly Int32Array[], k: number): DiffLine['kind'][] {
  const kinds: DiffLine['kind'][] = [];
  for (let d = reached.length - 1, diagonal = k; d >= 0; d--) {
    const end = reached[d]?.[(diagonal + d) / 2] ?? 0;
    const { x, isAdded } = d === 0 ? { x: 0, isAdded: false } : startOf(reached, d, diagonal);
    for (let index = x; index < end; index++) kinds.push('same');
    if (d === 0) break;
    kinds.push(isAdded ? 'added' : 'removed');
    diagonal += isAdded ? 1 : -1;
  }
  return kinds.toReversed();
}

/** Joins the lines that differ with those around them. @param head lines of both texts before the first of `kinds` */
function collectHunks(
  old: readonly string[],
  now: readonly string[],
  head: number,
  kinds: readonly DiffLine['kind'][],
): DiffHunk[] {
  const isShown = new Uint8Array(kinds.length);
  for (const [index, kind] of kinds.entries()) {
    if (kind !== 'same') isShown.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1);
  }
  const hunks: DiffHunk[] = [];
  let lines: DiffLine[] = [];
  let [before, after] = [head, head];
  for (const [index, kind] of kinds.entries()) {
    if (isShown[index] === 1) {
      if (isShown[index - 1] !== 1) hunks.push({ before: before + 1, after: after + 1, lines: (lines = []) });
      lines.push({ kind, text: (kind === 'added' ? now[after] : old[before]) ?? '' });
    }
    if (kind !== 'added') before++;
    if (kind !== 'removed') after++;
  }
  return hunks;
}
