import Type, { type TProperties } from 'typebox';
import { FailedTaskSchema } from './failure.js';
import { ModelUsageSchema } from './model.js';
import { count, Count, described, flag, list, onlyTrue, RunId, text, Time, titled } from './shape.js';

const common = {
  seq: Type.Integer({ minimum: 1, description: 'Number of the event within the run, from 1.' }),
  time: Time,
  run_id: RunId,
};
const subPipeline = text('The sub-pipeline of the plan.');

/** Where in a plan, or in nested runs, the event happened. */
const origin = {
  sub_pipeline: Type.Optional(subPipeline),
  within: Type.Optional(
    list(
      Type.String(),
      'Of an event of a nested run: the tasks that contain it, outermost first, as `task` or `task[item]`.',
    ),
  ),
};
const status = Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']);
const item = count('Index in the fan-out, from 0.');
const call = { ...origin, task_id: Type.String(), item: Type.Optional(item) };
const attempt = count('Number of the attempt, from 1.');

/** The list of handlers in which a task stands (D80). */
export const HandlerListField = Type.Optional(
  Type.Enum(['on_success', 'on_failure', 'on_cancel', 'finally'], {
    description: 'The list of handlers in which it stands; absent for tasks.',
  }),
);

const CachedField = onlyTrue('The output of an equal invocation was in the cache.');

const SkipReasonField = Type.Optional(text('Why the task or the item calls nothing; only of a `skip`.'));

export const TaskEventSchema = described(
  'TaskEvent',
  'Each task has one `start`, and one `finish` or `fail`; one that calls nothing has a `skip` instead of both.',
  {
    kind: Type.Enum(['start', 'finish', 'fail', 'skip']),
    ...common,
    ...origin,
    task_id: Type.String(),
    tool: Type.String(),
    wave: count('Index of the wave of the task, from 0; handlers have the indexes after those of tasks.'),
    handler: HandlerListField,
    items: Type.Optional(count('Number of items; only for a fan-out.')),
    failed_items: Type.Optional(
      count('Number of items whose errors were collected; absent if there are none.'),
    ),
    attempt: Type.Optional(count('Number of attempts; absent for a fan-out.')),
    duration_ms: Type.Optional(Type.Number({ minimum: 0 })),
    error: Type.Optional(Type.String()),
    reason: SkipReasonField,
    reused: onlyTrue('The output was reused from an earlier run.'),
    cached: CachedField,
    cached_items: Type.Optional(
      count('Number of items whose outputs were in the cache; absent if there are none.'),
    ),
  },
);

function liveEvent<K extends string, P extends TProperties>(kind: K, properties: P) {
  return Type.Object({ kind: Type.Literal(kind), ...common, ...properties });
}

const paused = onlyTrue('It waits at a breakpoint until it is continued.');

const runState = {
  status,
  paused,
  handling: onlyTrue('Its handlers run now: the status stays, and the run settles after them.'),
  error: Type.Optional(Type.String()),
  error_code: Type.Optional(Type.String()),
  failed_task: Type.Optional(FailedTaskSchema),
};

export const LiveEventSchema = Type.Union(
  [
    TaskEventSchema,
    liveEvent('run', runState),
    liveEvent('sub_pipeline', {
      sub_pipeline: subPipeline,
      ...runState,
      status: Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped']),
      reason: Type.Optional(text('Why the sub-pipeline calls nothing; only of `skipped`.')),
    }),
    liveEvent('wave', {
      ...origin,
      wave: Count,
      handler: HandlerListField,
      phase: Type.Enum(['start', 'finish']),
      tasks: Count,
    }),
    liveEvent('item', {
      ...origin,
      task_id: Type.String(),
      item,
      phase: Type.Enum(['finish', 'fail', 'skip']),
      attempt: count('Number of the attempt, from 1; 0 for an item that is reused, cached or skipped.'),
      error: Type.Optional(Type.String()),
      reason: SkipReasonField,
      reused: onlyTrue('The output of the item was reused from an earlier run.'),
      cached: CachedField,
    }),
    liveEvent('retry', {
      ...call,
      attempt,
      delay_ms: Type.Number({ minimum: 0, description: 'Time until the next attempt.' }),
      error: Type.String(),
    }),
    liveEvent('round', {
      ...origin,
      task_id: Type.String(),
      round: count('Number of the round that has ended, from 1.'),
      at_most: count('Number of rounds after which the task fails.'),
      attempt,
      reason: Type.Optional(
        text('Why the condition does not hold of the output of the round; absent when it holds.'),
      ),
      delay_ms: Type.Optional(
        Type.Number({ minimum: 0, description: 'Time until the next round; absent when there is none.' }),
      ),
    }),
    liveEvent('log', {
      ...call,
      message: Type.String(),
      waits_for: Type.Optional(
        text(
          'The language model, such as `openai/gpt-4o-mini`, that the call waits for; absent in messages of tools.',
        ),
      ),
    }),
    liveEvent('text', {
      ...call,
      request: count(
        'Counts the requests of the attempt, from 1: one that is repeated begins its text anew.',
      ),
      text: text('A part of the text with which a model answers.'),
    }),
    liveEvent('usage', { ...call, usage: ModelUsageSchema }),
  ],
  { title: 'LiveEvent', description: 'An event of the stream.' },
);

export const EventListSchema = titled('EventList', {
  run_id: RunId,
  events: Type.Array(LiveEventSchema),
  last_seq: count('Number of the newest event of the run.'),
  gap: flag('Events between `after` and the first one here have been dropped.'),
  closed: flag('There will be no more events.'),
});
