import { batch, signal } from '@preact/signals';
import type { InspectionOrigin } from '../../../lib/runs/inspection/entry.js';
import type { Statechart } from '../../../lib/runs/inspection/statechart.js';
import { toneOf } from '../../shared/model/tones.js';
import type { FeedListener } from '../../shared/server/feed.js';
import type { PageScheduler } from '../../shared/server/page-scheduler.js';
import { RunConnection } from '../../shared/server/run-connection.js';
import type { Server } from '../../shared/server/server.js';
import { ActorTree } from '../model/actor-tree.js';
import { type Moment, readMoment, writeMoment } from '../model/addresses.js';
import { NO_FILTER, type SequenceFilter } from '../model/sequence-filter.js';
import { RunTimeline, type TimelineEntry } from '../model/timeline.js';
import { type Folding, revealActor } from '../model/tree-rows.js';
import { InspectionFeed, type Offer } from '../server/inspection-feed.js';

/** Actors whose changes of state change the record of the run. */
const RECORDED = new Set(['run', 'plan', 'wave', 'sub-runs']);

/** The state of the page of one run: its entries, the moment that the reader looks at, and the actor. */
export class RunSession extends RunConnection {
  readonly timeline = new RunTimeline((dropped) => this.#drop(dropped));
  readonly tree = new ActorTree();
  /** Counts the changes of the timeline and of the tree, which are no signals themselves. */
  readonly version = signal(0);
  /** The entry after which the page shows the run; null for the last one. */
  readonly cursor = signal<number | null>(null);
  readonly selected = signal('');
  /** Number of entries that the server had dropped before they reached the page. */
  readonly missedCount = signal(0);
  readonly origin = signal<InspectionOrigin | undefined>(undefined);
  /** The server's abilities for the page; none until the server has named them. */
  readonly offers = signal<readonly Offer[]>([]);
  readonly charts = signal<readonly Statechart[]>([]);
  readonly folding = signal<Folding>({ closed: new Set(), opened: new Set() });
  readonly filter = signal<SequenceFilter>(NO_FILTER);
  #position = 0;

  constructor(server: Server, runId: string, scheduler: PageScheduler, hash: string) {
    super(server, runId, scheduler);
    this.goTo(readMoment(hash));
  }

  override start(): void {
    super.start();
    this.report(this.#readCharts());
  }

  /** Shows a moment, given by a link or chosen by hand. */
  goTo({ seq, actor }: Partial<Moment>): void {
    batch(() => {
      if (actor !== undefined) this.selected.value = actor;
      if (seq !== undefined) this.cursor.value = seq;
      this.#moveTree();
    });
  }

  /** Shows an actor, and opens the tree where it is. */
  reveal(actor: string): void {
    this.goTo({ actor });
    const node = this.tree.get(actor);
    if (node) this.folding.value = revealActor(this.folding.value, node);
  }

  /** Shows where an actor failed: the actor, at the event that told it so. */
  showFailure(actor: string): void {
    const failed = this.timeline.entries.findLast(
      (entry) => entry.actor === actor && entry.from !== entry.state && toneOf(entry.state) === 'failed',
    );
    if (failed) this.goTo({ seq: failed.seq });
    this.reveal(actor);
  }

  /** The hash of a link to what the page shows. */
  hash(): string {
    return writeMoment({ seq: this.cursor.value, actor: this.selected.value });
  }

  /** The last entry up to the moment shown. */
  get shownEntry(): TimelineEntry | undefined {
    return this.timeline.entries[this.#position - 1];
  }

  /** The actor whose chart and snapshot are shown: the selected one, or the root. */
  get shownActor(): string {
    return this.selected.value || (this.tree.roots[0]?.path ?? '');
  }

  protected override openFeed(listener: FeedListener): InspectionFeed {
    const onOrigin = (origin: InspectionOrigin, offers: readonly Offer[]): void => {
      this.origin.value = origin;
      this.offers.value = offers;
    };
    return new InspectionFeed(this.server, this.runId, { ...listener, onOrigin }, this.scheduler);
  }

  protected override missed(after: number, next: number): void {
    this.missedCount.value += Math.max(0, next - after - 1);
  }

  protected override takeIn(entries: Iterable<string>): boolean {
    let changesRecord = false;
    for (const text of entries) {
      this.timeline.add(text);
      const last = this.timeline.entries.at(-1);
      changesRecord ||= last !== undefined && RECORDED.has(last.src) && last.from !== last.state;
    }
    this.#moveTree();
    return changesRecord;
  }

  #moveTree(): void {
    const { entries, firstSeq } = this.timeline;
    const cursor = this.cursor.value;
    const target = cursor === null ? entries.length : this.timeline.countUpTo(Math.max(cursor, firstSeq));
    for (; this.#position < target; this.#position++) {
      this.tree.apply(entries[this.#position] as TimelineEntry);
    }
    for (; this.#position > target; this.#position--) {
      this.tree.revert(entries[this.#position - 1] as TimelineEntry);
    }
    this.version.value++;
  }

  /** Keeps in the tree what happened in dropped entries. */
  #drop(dropped: readonly TimelineEntry[]): void {
    for (; this.#position < dropped.length; this.#position++) {
      this.tree.apply(dropped[this.#position] as TimelineEntry);
    }
    this.#position -= dropped.length;
  }

  async #readCharts(): Promise<void> {
    this.charts.value = (await this.read<Statechart[]>('/inspect/statecharts.json')) ?? this.charts.value;
  }
}
