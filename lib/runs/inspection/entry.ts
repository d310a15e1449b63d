import type { Json } from '../../common/json/json.js';

/**
 * An event that one actor of a run has received, with the states of the actor before and after. The entries of a run
 * are in the order in which the events were sent, so that a cause comes before its effects.
 */
export interface InspectionEntry {
  /** Counts from 1. */
  readonly seq: number;
  /** ISO 8601, UTC, milliseconds (D27). */
  readonly time: string;
  /** Where the actor is in the tree: `run`, `run/wave/summary`, `run/wave/each/fan-out/3`, `plan/sub-runs/extract/wave/a`. */
  readonly actor: string;
  /** The statechart of the actor: `run`, `wave`, `task` and so on. */
  readonly src: string;
  /**
   * The type of the event; `@created` when the actor was created, `@attached` when recording began later; `@resumed` when it
   * was `continue` or `step`, of a run that nobody watched.
   */
  readonly event: string;
  /** The other fields of the event, cut. */
  readonly data: Json;
  /** Path of the actor that sent the event; null for one that no actor sent: a caller, a tool or a clock. */
  readonly source: string | null;
  /** The state before; null when the actor was created, and when it is not known. */
  readonly from: string | null;
  /** The state after. */
  readonly state: string;
  /**
   * Id of the edge of its statechart that was taken, the last one if there were several. Null when none was, as by an event
   * that the state ignores, and when it is not known. Older recordings lack it.
   */
  readonly transition: string | null;
  readonly status: ActorStatus;
  /** The snapshot after the event, cut to some 4,000 characters (Limits). Masked, as records are (D61). */
  readonly snapshot: Json;
}

export type ActorStatus = 'active' | 'done' | 'error' | 'stopped';

/** `live`: recorded while the run was at work; `events`: made later of the events of a run that nobody watched (D29). */
export type InspectionOrigin = 'live' | 'events';

/** The events of an entry that no actor has received. */
export const CREATED = '@created';
export const ATTACHED = '@attached';
export const RESUMED = '@resumed';

/** A list of what the actors of a run have done so far, in order. */
export interface InspectionList {
  readonly run_id: string;
  readonly entries: readonly InspectionEntry[];
  /** Number of the newest entry. */
  readonly last_seq: number;
  /** Entries between `after` and the first one here have been dropped. */
  readonly gap: boolean;
  /** There will be no more entries. */
  readonly closed: boolean;
  readonly origin: InspectionOrigin;
}
