import type { InspectionEntrySchema, InspectionListSchema } from '../../common/wire/inspection.js';
import type { Shape } from '../../common/wire/shape.js';

/**
 * An event that one actor of a run has received, with the states of the actor before and after. The entries of a run
 * are in the order in which the events were sent, so that a cause comes before its effects. The paths of actors are such as
 * `run`, `run/wave/summary`, `run/wave/each/fan-out/3` and `plan/sub-runs/extract/wave/a`.
 */
export interface InspectionEntry extends Shape<typeof InspectionEntrySchema> {}

export type ActorStatus = InspectionEntry['status'];

/** A list of what the actors of a run have done so far, in order. */
export interface InspectionList extends Shape<typeof InspectionListSchema> {}

export type InspectionOrigin = InspectionList['origin'];

/** The events of an entry that no actor has received. */
export const CREATED = '@created';
export const ATTACHED = '@attached';
export const RESUMED = '@resumed';
