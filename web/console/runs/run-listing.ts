import type { RunPage } from '../../../lib/runs/record.js';

/** What the server says of the runs that match. */
export interface RunListing extends RunPage {
  /** By status, whatever status the list shows; a paused run counts as running too. */
  readonly counts?: Readonly<Partial<Record<string, number>>> | undefined;
  /** Why queued runs wait. */
  readonly queue?: { readonly queued: number; readonly waits_for: 'server' | 'tenant' | null } | undefined;
}
