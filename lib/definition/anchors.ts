import { type Alias, type Document, isNode, type Node, visit } from 'yaml';

const known = new WeakMap<Document, ReadonlyMap<Alias, Node>>();

/** What an alias names: the nearest mark of its name before it. The document is walked once for all of them. */
export function namedBy(alias: Alias, document: Document): Node | undefined {
  let targets = known.get(document);
  if (targets === undefined) {
    targets = targetsIn(document);
    known.set(document, targets);
  }
  return targets.get(alias);
}

function targetsIn(document: Document): Map<Alias, Node> {
  const marked = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias(_key, alias) {
      const target = marked.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value(_key, node) {
      if (isNode(node) && node.anchor !== undefined) marked.set(node.anchor, node);
    },
  });
  return targets;
}
