import { batch, signal } from '@preact/signals';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { InspectionOrigin } from '../../../lib/runs/inspection/entry.js';
import type { Statechart } from '../../../lib/runs/inspection/statechart.js';
import { ActorTree } from '../model/actor-tree.js';
import { NO_FILTER, type SequenceFilter } from '../model/sequence-filter.js';
import { RunTimeline, type TimelineEntry } from '../model/timeline.js';
import { toneOf } from '../../shared/model/tones.js';
import { type Folding, revealActor } from '../model/tree-rows.js';
import type { FeedState } from '../../shared/server/feed.js';
import { InspectionFeed, type Offer } from '../server/inspection-feed.js';
import { messageOf, type Server, ServerError } from '../../shared/server/server.js';
import type { Frames } from '../../shared/server/frame-loop.js';
import { type Moment, readMoment, writeMoment } from '../model/addresses.js';

/** Actors whose changes of state change the record of the run. */
const RECORDED = new Set(['run', 'plan', 'wave', 'sub-runs']);

/** Entries that wait to be shown before the feed waits for the page. */
const MOST_WAITING = 5000;

/** The record is read again at most this often. */
const RECORD_PAUSE_MS = 400;

/**
 * What the page of one run shows: its entries, the moment that the reader looks at, and the actor. Entries are taken in
 * once a frame and never for long, so that the page stays quick however many come.
 */
export class RunSession {
  readonly runId: string;
  readonly server: Server;
  readonly timeline = new RunTimeline((dropped) => this.#drop(dropped));
  readonly tree = new ActorTree();
  /** Counts the changes of the timeline and of the tree, which are no signals themselves. */
  readonly version = signal(0);
  /** The entry after which the page shows the run; null for the last one. */
  readonly cursor = signal<number | null>(null);
  readonly selected = signal('');
  readonly feed = signal<FeedState>({ kind: 'connecting' });
  /** Number of entries that the server had dropped before they reached the page. */
  readonly missed = signal(0);
  readonly origin = signal<InspectionOrigin | undefined>(undefined);
  /** What the server can do for the page; nothing until it has said so. */
  readonly offers = signal<readonly Offer[]>([]);
  readonly record = signal<RunRecord | undefined>(undefined);
  readonly charts = signal<readonly Statechart[]>([]);
  readonly problem = signal('');
  readonly folding = signal<Folding>({ closed: new Set(), opened: new Set() });
  readonly filter = signal<SequenceFilter>(NO_FILTER);
  readonly #frames: Frames;
  #waiting: string[] = [];
  #onRoom: (() => void) | undefined;
  #position = 0;
  #feed: InspectionFeed | undefined;
  #isRecordStale = false;
  #readsRecord = false;

  constructor(server: Server, runId: string, frames: Frames, hash: string) {
    this.server = server;
    this.runId = runId;
    this.#frames = frames;
    this.goTo(readMoment(hash));
  }

  /** Path of the API for this run. */
  path(rest = ''): string {
    return `/pipelines/runs/${encodeURIComponent(this.runId)}${rest}`;
  }

  /** Reads the run until it has settled or the session is closed. */
  start(): void {
    this.#feed = new InspectionFeed(this.server, this.runId, this.#listener(), this.#frames);
    this.#frames.report(this.#feed.run(), (error) => (this.problem.value = messageOf(error)));
    this.#frames.report(this.#readCharts(), (error) => (this.problem.value = messageOf(error)));
    this.refreshRecord();
  }

  /** Tries again what needed a key, or has failed. */
  restart(): void {
    this.close();
    this.feed.value = { kind: 'connecting' };
    this.start();
  }

  /** Connects again at once. */
  retry(): void {
    this.#feed?.retry();
  }

  close(): void {
    this.#feed?.close();
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

  /** Sends `continue`, `step` or `cancel` to the run. @throws ServerError */
  async act(action: 'continue' | 'step' | 'cancel', body?: object): Promise<void> {
    this.record.value = await this.server.post<RunRecord>(this.path(`/${action}`), body);
  }

  refreshRecord(): void {
    this.#isRecordStale = true;
    if (this.#readsRecord) return;
    this.#readsRecord = true;
    this.#frames.report(this.#readRecord(), (error) => (this.problem.value = messageOf(error)));
  }

  #listener() {
    return {
      onEntry: (text: string): void => {
        this.#waiting.push(text);
        this.#frames.request(() => this.#takeIn());
      },
      onState: (state: FeedState): void => this.#changeState(state),
      onGap: (after: number, next: number): void => {
        this.missed.value += Math.max(0, next - after - 1);
      },
      onOrigin: (origin: InspectionOrigin, offers: readonly Offer[]): void => {
        this.origin.value = origin;
        this.offers.value = offers;
      },
      keepUp: (): Promise<void> => {
        if (this.#waiting.length < MOST_WAITING) return Promise.resolve();
        return new Promise((resolve) => (this.#onRoom = resolve));
      },
    };
  }

  #changeState(state: FeedState): void {
    this.feed.value = state;
    if (state.kind === 'ended' || state.kind === 'live') this.refreshRecord();
  }

  /** Takes in waiting entries for as long as a frame allows. */
  #takeIn(): void {
    const mayGoOn = this.#frames.budget();
    let taken = 0;
    let changesRecord = false;
    while (taken < this.#waiting.length && mayGoOn()) {
      this.timeline.add(this.#waiting[taken++] ?? '');
      const last = this.timeline.entries.at(-1);
      changesRecord ||= last !== undefined && RECORDED.has(last.src) && last.from !== last.state;
    }
    this.#waiting = this.#waiting.slice(taken);
    this.#moveTree();
    if (changesRecord) this.refreshRecord();
    if (this.#waiting.length > 0) this.#frames.request(() => this.#takeIn());
    else this.#onRoom?.();
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

  /** What happened in dropped entries stays in the tree. */
  #drop(dropped: readonly TimelineEntry[]): void {
    for (; this.#position < dropped.length; this.#position++) {
      this.tree.apply(dropped[this.#position] as TimelineEntry);
    }
    this.#position -= dropped.length;
  }

  async #readCharts(): Promise<void> {
    this.charts.value = await this.server.getJson<Statechart[]>('/inspect/statecharts.json');
  }

  async #readRecord(): Promise<void> {
    try {
      while (this.#isRecordStale) {
        this.#isRecordStale = false;
        this.record.value = await this.server.getJson<RunRecord>(this.path());
        await this.#frames.wait(RECORD_PAUSE_MS);
      }
    } catch (error) {
      // The feed tells when the run or the server is gone, or a key is needed.
      if (!(error instanceof ServerError)) throw error;
    } finally {
      this.#readsRecord = false;
    }
  }
}
