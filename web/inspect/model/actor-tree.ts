import { type ItemRange, itemsOf, type TimelineEntry } from './timeline.js';

/** An actor, as it was at the moment that the tree shows. */
export interface ActorNode {
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  readonly parent: ActorNode | undefined;
  /** In the order in which they appeared, also those that do not exist at the moment shown. */
  readonly children: ActorNode[];
  src: string;
  /** The items that the actor stands for, if it is a chunk. */
  items: ItemRange | undefined;
  /** The last entry of the actor up to the moment; undefined before it was created. */
  entry: TimelineEntry | undefined;
  /** Numbers of children that exist at the moment, by {@link labelOf}. */
  readonly counts: Map<string, number>;
  /** Number of children that exist at the moment, or have a child that does. */
  shown: number;
}

/** Returns the label of an actor in the tree: its state, or how it has ended. */
export function labelOf({ state, status }: Pick<TimelineEntry, 'state' | 'status'>): string {
  if (status === 'stopped') return 'stopped';
  return status === 'error' && state === '' ? 'error' : state;
}

/** True when the actor, or one below it, exists at the moment that the tree shows. */
export function isShown(node: ActorNode): boolean {
  return node.entry !== undefined || node.shown > 0;
}

/**
 * The tree of actors at one moment of a timeline. Moving to another moment costs as much as there are entries between
 * the two, whichever comes first.
 */
export class ActorTree {
  readonly roots: ActorNode[] = [];
  /** How often an actor has changed: while it is the same, so is the tree. */
  changes = 0;
  readonly #nodes = new Map<string, ActorNode>();

  get(path: string): ActorNode | undefined {
    return this.#nodes.get(path);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Moves past an entry, to the moment after it. */
  apply(entry: TimelineEntry): void {
    const node = this.#ensure(entry.actor);
    node.src = entry.src;
    node.items ??= itemsOf(entry);
    this.#set(node, entry);
  }

  /** Moves back over an entry, to the moment before it. */
  revert(entry: TimelineEntry): void {
    const node = this.#ensure(entry.actor);
    this.#set(node, entry.previous);
  }

  #set(node: ActorNode, entry: TimelineEntry | undefined): void {
    this.changes++;
    const before = node.entry;
    const wasShown = isShown(node);
    node.entry = entry;
    const { parent } = node;
    if (parent === undefined) return;
    if (before) count(parent.counts, labelOf(before), -1);
    if (entry) count(parent.counts, labelOf(entry), 1);
    changeShown(node, wasShown);
  }

  #ensure(path: string): ActorNode {
    const known = this.#nodes.get(path);
    if (known) return known;
    const slash = path.lastIndexOf('/');
    // An actor whose parent is not in the recording still has its place.
    const parent = slash < 0 ? undefined : this.#ensure(path.slice(0, slash));
    const node: ActorNode = {
      path,
      name: path.slice(slash + 1),
      parent,
      children: [],
      src: '',
      items: undefined,
      entry: undefined,
      counts: new Map(),
      shown: 0,
    };
    this.#nodes.set(path, node);
    (parent?.children ?? this.roots).push(node);
    return node;
  }
}

/** Tells the ancestors of a node that it has appeared or disappeared. */
function changeShown(node: ActorNode, wasShown: boolean): void {
  const now = isShown(node);
  const { parent } = node;
  if (now === wasShown || parent === undefined) return;
  const parentWasShown = isShown(parent);
  parent.shown += now ? 1 : -1;
  changeShown(parent, parentWasShown);
}

function count(counts: Map<string, number>, label: string, by: number): void {
  const next = (counts.get(label) ?? 0) + by;
  if (next === 0) counts.delete(label);
  else counts.set(label, next);
}
