import { type Alias, type Document, isNode, type Node, visit } from 'yaml';
import { formatMebibytes } from '../../common/text.js';

/**
 * Returns a sentence when expanding the aliases makes a value longer than the limit allows; otherwise undefined. The
 * checks visit a part wherever it is used, so a small text could keep them busy. The value must not contain itself.
 */
export function describeExpansion(value: unknown, limitBytes: number): string | undefined {
  if (expansionSize(value) <= limitBytes) return undefined;
  return `expanding its repeated parts would make it more than ${formatMebibytes(limitBytes)} longer`;
}

/** Returns how many characters longer a value becomes when each part is written out wherever it is used. */
function expansionSize(value: unknown): number {
  const sizes = new Map<object, number>();
  /** Size of the value with each part counted once. */
  let compact = 0;
  const count = (own: number): number => {
    compact += own;
    return own;
  };
  const sizeOf = (part: unknown): number => {
    if (typeof part !== 'object' || part === null)
      return count(typeof part === 'string' ? part.length + 2 : 8);
    const known = sizes.get(part);
    if (known !== undefined) return known;
    let size = count(2);
    for (const [key, member] of Object.entries(part)) size += count(key.length + 4) + sizeOf(member);
    sizes.set(part, size);
    return size;
  };
  return sizeOf(value) - compact;
}

const targetsByDocument = new WeakMap<Document, ReadonlyMap<Alias, Node>>();

/** Returns what an alias refers to: the last anchor of its name before it. Visits the document once for all aliases. */
export function findAliasTarget(alias: Alias, document: Document): Node | undefined {
  let targets = targetsByDocument.get(document);
  if (targets === undefined) {
    targets = findAliasTargets(document);
    targetsByDocument.set(document, targets);
  }
  return targets.get(alias);
}

function findAliasTargets(document: Document): Map<Alias, Node> {
  const anchored = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias(_key, alias) {
      const target = anchored.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value(_key, node) {
      if (isNode(node) && node.anchor !== undefined) anchored.set(node.anchor, node);
    },
  });
  return targets;
}
