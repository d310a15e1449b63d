import type { InspectionOrigin } from '../../../lib/runs/inspection/entry.js';
import { Feed, type FeedListener, type Waiter } from '../../shared/server/feed.js';
import { type Server, ServerError } from '../../shared/server/server.js';

/**
 * An ability of a server besides showing the entries: the server of a command, over one run or a recording, has fewer.
 */
export type Offer = (typeof ALL_OFFERS)[number] | 'failures';

const ALL_OFFERS = ['actions', 'values', 'recording', 'stately'] as const;

/** Receives the inspection entries of a run. */
export interface InspectionListener extends FeedListener {
  /** Where the entries come from, and what the server can do for the page besides. */
  onOrigin(origin: InspectionOrigin, offers: readonly Offer[]): void;
}

/** The facts that a list of entries states about itself. */
interface InspectionSource {
  readonly origin: InspectionOrigin;
  /** Default: all offers. */
  readonly offers?: readonly Offer[];
}

/** An id after every entry: a list after it is empty, and says what the list is. */
const AFTER_ALL = String(Number.MAX_SAFE_INTEGER);

/** Reads the inspection entries of a run. */
export class InspectionFeed extends Feed {
  readonly #onOrigin: InspectionListener['onOrigin'];
  #hasAsked = false;

  constructor(server: Server, runId: string, listener: InspectionListener, waiter: Waiter) {
    super(server, `/pipelines/runs/${encodeURIComponent(runId)}/inspection`, listener, waiter);
    this.#onOrigin = (origin, offers) => listener.onOrigin(origin, offers);
  }

  protected override onConnect(): void {
    this.#hasAsked = false;
  }

  /** The stream does not say whether the entries were recorded or rebuilt; a list does. */
  protected override async afterPiece(): Promise<void> {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    try {
      const headers = { 'Last-Event-ID': AFTER_ALL };
      const { origin, offers = ALL_OFFERS } = await this.server.getJson<InspectionSource>(
        this.path,
        headers,
        this.closed,
      );
      this.#onOrigin(origin, offers);
    } catch (error) {
      // The entries are there all the same; the next connection asks again.
      if (!(error instanceof ServerError)) throw error;
    }
  }
}
