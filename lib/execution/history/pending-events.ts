import type { LiveEvent } from '../events/event.js';
import { WRITTEN_BY_CALLS } from '../events/written-events.js';
import type { CallFact } from './fact.js';

/** The events of the pipelines inside one task or item, and inside their tasks. */
interface Node {
  readonly events: LiveEvent[];
  readonly inner: Map<string, Node>;
}

/** The events that a run writes again while it is rebuilt: none of pipelines in ended attempts, which are not run again. */
export class PendingEvents {
  readonly #root = createNode();
  #hasNested = false;

  add(event: LiveEvent): void {
    if (WRITTEN_BY_CALLS.has(event.kind)) return;
    const { within, sub_pipeline } = event as { within?: readonly string[]; sub_pipeline?: string };
    if (within === undefined) return void this.#root.events.push(event);
    this.#hasNested = true;
    let node = this.#root;
    for (const name of [sub_pipeline ?? '', ...within]) node = getOrAdd(node.inner, name);
    node.events.push(event);
  }

  /** Drops the events of the attempt of the fact, which has ended. */
  endAttempt({ place, task, item }: CallFact): void {
    if (!this.#hasNested) return;
    let node: Node | undefined = this.#root;
    for (const name of toLocation(place)) node = node?.inner.get(name);
    node?.inner.delete(item === -1 ? task : `${task}[${item}]`);
  }

  /** Returns the events in the order in which they were written. */
  list(): readonly LiveEvent[] {
    if (!this.#hasNested) return this.#root.events;
    const events: LiveEvent[] = [];
    collect(this.#root, events);
    return events.toSorted((a, b) => a.seq - b.seq);
  }
}

/** The sub-pipeline of a place, or an empty text, and then the tasks whose pipelines contain it. */
function toLocation(place: string): string[] {
  const parts = place === '' ? [] : place.split('/');
  const hasSubPipeline = parts[0]?.includes('#') === false;
  return [...(hasSubPipeline ? [] : ['']), ...parts.map((part) => part.replace(/#.*/, ''))];
}

function createNode(): Node {
  return { events: [], inner: new Map() };
}

function getOrAdd(nodes: Map<string, Node>, name: string): Node {
  let node = nodes.get(name);
  if (node === undefined) nodes.set(name, (node = createNode()));
  return node;
}

function collect({ events, inner }: Node, into: LiveEvent[]): void {
  for (const event of events) into.push(event);
  for (const node of inner.values()) collect(node, into);
}
