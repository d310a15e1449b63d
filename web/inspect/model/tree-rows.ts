import { type ActorNode, type ActorTree, isShown, labelOf } from './actor-tree.js';
import { compareLabels } from '../../shared/model/tones.js';

/** From this many children on, they are folded into one row for each state. */
export const FOLD_FROM = 40;

/** A visible row of the tree: an actor, or the children of an actor that are in one state. */
export type TreeRow = ActorRow | GroupRow;

interface BaseRow {
  readonly id: string;
  /** From 1. */
  readonly level: number;
  /** Undefined for a row that has nothing below it. */
  readonly isOpen: boolean | undefined;
}

interface ActorRow extends BaseRow {
  readonly kind: 'actor';
  readonly node: ActorNode;
}

interface GroupRow extends BaseRow {
  readonly kind: 'group';
  readonly node: ActorNode;
  readonly label: string;
  readonly count: number;
}

/** The rows that were opened or closed by hand. Actors are open at first, groups are closed. */
export interface Folding {
  readonly closed: ReadonlySet<string>;
  readonly opened: ReadonlySet<string>;
}

/** Lists the visible rows of a tree, from above to below. */
export function listTreeRows(tree: ActorTree, folding: Folding): TreeRow[] {
  const rows: TreeRow[] = [];
  for (const root of tree.roots) addActor(rows, root, 1, folding);
  return rows;
}

function addActor(rows: TreeRow[], node: ActorNode, level: number, folding: Folding): void {
  if (!isShown(node)) return;
  const id = node.path;
  const isOpen = node.shown === 0 ? undefined : !folding.closed.has(id);
  rows.push({ kind: 'actor', id, level, isOpen, node });
  if (!isOpen) return;
  if (node.shown < FOLD_FROM) {
    for (const child of node.children) addActor(rows, child, level + 1, folding);
  } else {
    addGroups(rows, node, level + 1, folding);
  }
}

function addGroups(rows: TreeRow[], node: ActorNode, level: number, folding: Folding): void {
  for (const label of [...node.counts.keys()].sort(compareLabels)) {
    const id = groupId(node.path, label);
    const isOpen = folding.opened.has(id);
    rows.push({ kind: 'group', id, level, isOpen, node, label, count: node.counts.get(label) ?? 0 });
    if (!isOpen) continue;
    for (const child of node.children) {
      if (child.entry && labelOf(child.entry) === label) addActor(rows, child, level + 1, folding);
    }
  }
  // Most fan-outs have none, and very many children.
  if (countRecorded(node) === node.shown) return;
  for (const child of node.children) if (!child.entry) addActor(rows, child, level, folding);
}

function countRecorded({ counts }: ActorNode): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

function groupId(path: string, label: string): string {
  return `${path}//${label}`;
}

/** Returns the folding in which the actor is visible. */
export function revealActor(folding: Folding, node: ActorNode): Folding {
  const closed = new Set(folding.closed);
  const opened = new Set(folding.opened);
  for (let child = node, { parent } = node; parent; child = parent, { parent } = parent) {
    closed.delete(parent.path);
    if (parent.shown >= FOLD_FROM && child.entry) opened.add(groupId(parent.path, labelOf(child.entry)));
  }
  return { closed, opened };
}

/** Returns the folding in which the row is open, or closed. */
export function foldRow(folding: Folding, row: TreeRow, isOpen: boolean): Folding {
  const { kind, id } = row;
  const closed = new Set(folding.closed);
  const opened = new Set(folding.opened);
  if (kind === 'actor') change(closed, id, !isOpen);
  else change(opened, id, isOpen);
  return { closed, opened };
}

function change(set: Set<string>, id: string, isIn: boolean): void {
  if (isIn) set.add(id);
  else set.delete(id);
}
