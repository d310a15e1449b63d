import Type, { type TProperties } from 'typebox';
import type { TaskStatus } from '../../../machines/types.js';
import { HandlerListField } from './event.js';
import {
  anyJson,
  anyJsonObject,
  count,
  Count,
  described,
  flag,
  list,
  nullable,
  RunId,
  schemaFor,
  text,
  Time,
  titled,
} from './shape.js';

export const TaskStatusSchema = schemaFor<TaskStatus>()(
  Type.Enum(['pending', 'running', 'succeeded', 'failed', 'skipped'], {
    title: 'TaskStatus',
    description:
      '`pending`: may still start. `skipped`: it calls nothing, for its `skip_reason`; without one, the run, or the fan-out, ended before it could start.',
  }),
);

export const AttemptRecordSchema = described('AttemptRecord', 'One attempt to call a tool.', {
  attempt: count('Number of the attempt, from 1.'),
  started_at: nullable(Time),
  finished_at: nullable(Time),
  error: nullable(text('Null when it succeeded or is under way.')),
});

const cause = {
  type: text('As in `TypeError`.'),
  message: Type.String(),
  code: Type.Optional(text('As in `ECONNREFUSED`.')),
};

export const ErrorCauseSchema = Type.Object(cause, { title: 'ErrorCause' });

export const ErrorRecordSchema = described('ErrorRecord', 'Why a task or an item failed.', {
  ...cause,
  causes: list(ErrorCauseSchema, 'The cause of the error, then the cause of that one.'),
  stack: Type.Optional(
    text(
      'Where a tool of your own threw it, and where its causes arose. Only for keys with the scope `run`.',
    ),
  ),
});

/** So many of the runs are named for which another one waits. */
export const MAX_NAMED_RUNS = 5;

export const WaitingForSchema = described('WaitingFor', 'What a run, a task or an item waits for.', {
  reason: Type.Enum(['server', 'tenant', 'breakpoints', 'max_running', 'restart', 'pool', 'repeat'], {
    title: 'WaitingReason',
    description:
      'Of a queued run: `server`: all slots of the server are taken. `tenant`: the tenant has its share of them, and others have the rest. `breakpoints`: the run has some, and others with breakpoints have their half of the slots. `max_running`: as many runs of its definition are at work as it allows. `restart`: the runs of the process before come first, and are still being read. Of what is at work: `pool`: a call waits for a place of a pool. `repeat`: a task waits for its next round.',
  }),
  since: Type.Unsafe<string>({
    ...Time,
    description: 'ISO 8601, UTC. Of a queued run, when it was submitted.',
  }),
  limit: Type.Optional(count('With `max_running`: how many runs may be at work.')),
  key: Type.Optional(text('With `max_running`: what `concurrency_key` has come to, if there is one.')),
  running: Type.Optional(
    list(RunId, `With \`max_running\`: the first ${MAX_NAMED_RUNS} of the runs that have to settle before.`),
  ),
  pool: Type.Optional(text('With `pool`: its name.')),
  until: Type.Optional(
    Type.Unsafe<string>({ ...Time, description: 'With `repeat`: when the round begins.' }),
  ),
  sub_pipeline: Type.Optional(text('Only of a run of a plan: the sub-pipeline of the task.')),
  task_id: Type.Optional(text('Only of a run: the task with the call that has waited longest.')),
  calls: Type.Optional(count('With `pool`: how many calls of the run, or of the task, wait.')),
});

const identity = {
  run_id: RunId,
  sub_pipeline: Type.Optional(text('The sub-pipeline of the plan.')),
  task_id: Type.String(),
} satisfies TProperties;

const call = {
  status: TaskStatusSchema,
  reused: flag('The output was reused from an earlier run.'),
  cached: flag('The output of an equal invocation was in the cache.'),
  started_at: nullable(Time),
  finished_at: nullable(Time),
  attempts: list(
    AttemptRecordSchema,
    'The last 20, the oldest first; none of a fan-out, whose items have them.',
  ),
  inputs: nullable(
    anyJsonObject(
      'The inputs with which the tool was or would be called. Null for a fan-out, whose items have them.',
    ),
  ),
  inputs_error: nullable(text('Why the inputs cannot be shown.')),
  output: anyJson(
    'Null when there is none. Of a fan-out that has not succeeded: the outputs of its items, and null for those without one.',
  ),
  error: nullable(ErrorRecordSchema),
  skip_reason: Type.Optional(
    text(
      'Why it called nothing: a condition that does not hold, or an output that it needs and that there is not; absent for any other.',
    ),
  ),
  waiting_for: Type.Optional(WaitingForSchema),
  cut: list(Type.String(), 'JSON pointers to what was cut; `whole=true` shows it.'),
} satisfies TProperties;

export const ItemCountsSchema = Type.Object(
  { total: Count, pending: Count, running: Count, succeeded: Count, failed: Count, skipped: Count },
  {
    description: 'Numbers of items by status; null for a task that calls its tool once, or has not begun.',
  },
);

export const TaskRecordSchema = described('TaskRecord', 'One task of a run, with its values.', {
  ...identity,
  tool: Type.String(),
  wave: count('Index of the wave, from 0; handlers have the indexes after those of tasks.'),
  handler: HandlerListField,
  items: nullable(ItemCountsSchema),
  rounds: Type.Optional(
    count('Number of rounds that have begun; only of a task with `repeat`. Each is among the `attempts`.'),
  ),
  cached_items: nullable(count('Number of items whose outputs were in the cache.')),
  ...call,
});

export const ItemRecordSchema = described('ItemRecord', 'One item of a fan-out, with its values.', {
  ...identity,
  item: count('Index in the fan-out, from 0.'),
  value: anyJson('The item itself, which templates read as `{{item}}`.'),
  ...call,
});

const next_cursor = nullable(text('Send it as `cursor` to get the next page.'));

export const TaskPageSchema = titled('TaskPage', {
  tasks: list(TaskRecordSchema, 'In the order of the waves.'),
  next_cursor,
});

export const ItemPageSchema = titled('ItemPage', {
  items: list(ItemRecordSchema, 'In the order of the list.'),
  next_cursor,
});
