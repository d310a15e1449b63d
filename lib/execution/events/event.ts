import type { EventListSchema, LiveEventSchema, TaskEventSchema } from '../../common/wire/event.js';
import type { Shape } from '../../common/wire/shape.js';

/** The start or the end of a task: one `start` and one `finish` or `fail`, whatever its items and attempts (Events, D29). */
export interface TaskEvent extends Shape<typeof TaskEventSchema> {}

export type TaskEventKind = TaskEvent['kind'];

/** An event of the live stream (D29). */
export type LiveEvent = Shape<typeof LiveEventSchema>;

/** A sub-pipeline of a plan has a new status. */
export type SubPipelineEvent = Extract<LiveEvent, { kind: 'sub_pipeline' }>;

export type WaveEvent = Extract<LiveEvent, { kind: 'wave' }>;

export type ItemEvent = Extract<LiveEvent, { kind: 'item' }>;

/** Where an event happened: in a sub-pipeline of the plan, in a nested run inside a task, or in both. */
export type EventLocation = Pick<TaskEvent, 'sub_pipeline' | 'within'>;

/** The events of a run so far. */
export interface EventList extends Shape<typeof EventListSchema> {}
