import Type, { type TProperties } from 'typebox';
import type { LiveEvent, TaskEvent } from '../../execution/events/event.js';
import { Count, RunId, Time, wire } from './wire.js';

const stamp = {
  seq: Type.Integer({ minimum: 1, description: 'Counts all events of the run.' }),
  time: Time,
  run_id: RunId,
};
const subPipeline = Type.String({ description: 'The sub-pipeline of the plan.' });
/** Where it happened, when the run holds others. */
const place = {
  sub_pipeline: Type.Optional(subPipeline),
  within: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'When a task has run a pipeline of its own, which this is about: that task, or `task[item]`; the outermost first.',
    }),
  ),
};
const status = Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']);
const item = Type.Integer({ minimum: 0, description: 'Position in the fan-out, from 0.' });
const attempt = Type.Integer({ minimum: 0, description: 'From 1.' });

export const TaskEventSchema = wire<TaskEvent>()(
  Type.Object(
    {
      kind: Type.Enum(['start', 'finish', 'fail']),
      ...stamp,
      ...place,
      task_id: Type.String(),
      tool: Type.String(),
      wave: Count,
      items: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of items, for a fan-out.' })),
      attempt: Type.Optional(
        Type.Integer({ minimum: 0, description: 'Attempts made; absent for a fan-out.' }),
      ),
      duration_ms: Type.Optional(Type.Number({ minimum: 0 })),
      error: Type.Optional(Type.String()),
      reused: Type.Optional(
        Type.Literal(true, { description: 'The output was taken over from an earlier run.' }),
      ),
    },
    {
      title: 'TaskEvent',
      description: 'One start and one finish or fail for each task, of each sub-pipeline.',
    },
  ),
);

function liveEvent<K extends string, P extends TProperties>(kind: K, properties: P) {
  return Type.Object({ kind: Type.Literal(kind), ...stamp, ...properties });
}

const LiveEventSchema = wire<LiveEvent>()(
  Type.Union(
    [
      TaskEventSchema,
      liveEvent('run', { status, error: Type.Optional(Type.String()) }),
      liveEvent('sub_pipeline', {
        sub_pipeline: subPipeline,
        status,
        error: Type.Optional(Type.String()),
      }),
      liveEvent('wave', { ...place, wave: Count, phase: Type.Enum(['start', 'finish']), tasks: Count }),
      liveEvent('item', {
        ...place,
        task_id: Type.String(),
        item,
        phase: Type.Enum(['finish', 'fail']),
        attempt,
        error: Type.Optional(Type.String()),
      }),
      liveEvent('retry', {
        ...place,
        task_id: Type.String(),
        item: Type.Optional(item),
        attempt,
        delay_ms: Type.Number({ minimum: 0, description: 'Until the next attempt.' }),
        error: Type.String(),
      }),
      liveEvent('log', {
        ...place,
        task_id: Type.String(),
        item: Type.Optional(item),
        message: Type.String(),
      }),
    ],
    { title: 'LiveEvent', description: 'One event of the live stream.' },
  ),
);

/** The events of a run so far. */
export interface EventList {
  readonly run_id: string;
  readonly events: readonly LiveEvent[];
  readonly last_seq: number;
  readonly gap: boolean;
  readonly closed: boolean;
}

export const EventListSchema = wire<EventList>()(
  Type.Object(
    {
      run_id: RunId,
      events: Type.Array(LiveEventSchema),
      last_seq: Type.Integer({ minimum: 0, description: 'Number of the newest event of the run.' }),
      gap: Type.Boolean({
        description: 'Events between the one asked for and the first here are kept no longer.',
      }),
      closed: Type.Boolean({ description: 'No further event will come.' }),
    },
    { title: 'EventList' },
  ),
);
