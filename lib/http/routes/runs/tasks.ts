import Type from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import type { CallRecord } from '../../../runs/tasks/task-record.js';
import type { Caller } from '../../auth/authenticate.js';
import type { Route } from '../../routing/route.js';
import { pageFields, RunIdParams, WholeQuery } from '../../schemas/request.js';
import {
  ItemPageSchema,
  ItemRecordSchema,
  TaskPageSchema,
  TaskRecordSchema,
  TaskStatusSchema,
} from '../../../common/wire/task.js';
import type { HttpServices } from '../../services.js';
import { closedObject, optionalBoolean, optionalText } from '../../schemas/fields.js';
import { defineRunRoute } from './run-route.js';

const TaskParams = Type.Object({
  ...RunIdParams.properties,
  task_id: Type.String({ description: 'The id of the task.' }),
});

const ItemParams = Type.Object({
  ...TaskParams.properties,
  item: Type.String({ description: 'Index of the item in the fan-out, from 0.' }),
});

const valueFields = {
  sub_pipeline: optionalText({
    maxLength: 128,
    description: 'The sub-pipeline of the task. Required for a run of a plan, except in a list of its tasks.',
  }),
  ...WholeQuery,
};

const ValueQuery = closedObject(valueFields);

const PageQuery = closedObject({
  status: Type.Optional(TaskStatusSchema),
  values: optionalBoolean({
    default: true,
    description:
      'Whether records contain values. With `false`, `inputs` and `output` are null, and of an item only the beginning is shown: for a view of states and times.',
  }),
  ...valueFields,
  ...pageFields('Largest number on the page, which has fewer when they would exceed 1 MiB.'),
});

const VALUES =
  'Inputs are rendered again from what the run keeps. Values of more than about 64 KiB are cut, on a page those of more than 2 KiB; the field `cut` has JSON pointers to what was cut, and `whole=true` shows it.';

const ERRORS = ['task_not_found', 'memory_full'] as const;

/** Routes that show the tasks of a run and the items of its fan-outs, with their values (D59). */
export function taskRoutes({ queries }: HttpServices): Route[] {
  return [
    defineRunRoute(queries, {
      path: '/tasks',
      id: 'listTasks',
      summary: 'List the tasks of a run, with their inputs, outputs and errors',
      description: VALUES,
      query: PageQuery,
      responses: { 200: { description: 'One page of tasks.', schema: TaskPageSchema } },
      errors: ERRORS,
      handle: async ({ query, caller }, runId) => {
        const { tasks, next_cursor } = await queries.tasks(runId, query);
        return { body: { tasks: tasks.map((task) => showTo(caller, task)), next_cursor } };
      },
    }),
    defineRunRoute(queries, {
      path: '/tasks/{task_id}',
      id: 'getTask',
      summary: 'Get one task of a run, with its inputs, its output and its error',
      description: VALUES,
      params: TaskParams,
      query: ValueQuery,
      responses: { 200: { description: 'The task.', schema: TaskRecordSchema } },
      errors: ERRORS,
      handle: async ({ params, query, caller }, runId) => ({
        body: showTo(caller, await queries.task(runId, params.task_id, query)),
      }),
    }),
    defineRunRoute(queries, {
      path: '/tasks/{task_id}/items',
      id: 'listItems',
      summary: 'List the items of a fan-out, with their inputs, outputs and errors',
      description: VALUES,
      params: TaskParams,
      query: PageQuery,
      responses: { 200: { description: 'One page of items.', schema: ItemPageSchema } },
      errors: ERRORS,
      // A page of a large run needs little of it.
      opensRun: true,
      handle: async (request, runId) => {
        const { params, query, caller } = request;
        const openSignal = (): AbortSignal => request.disconnected();
        const page = await queries.readItems(runId, params.task_id, query, caller.tenants, openSignal);
        const { items, next_cursor } = page;
        return { body: { items: items.map((item) => showTo(caller, item)), next_cursor } };
      },
    }),
    defineRunRoute(queries, {
      path: '/tasks/{task_id}/items/{item}',
      id: 'getItem',
      summary: 'Get one item of a fan-out, with its inputs, its output and its error',
      description: VALUES,
      params: ItemParams,
      query: ValueQuery,
      responses: { 200: { description: 'The item.', schema: ItemRecordSchema } },
      errors: ERRORS,
      handle: async ({ params, query, caller }, runId) => {
        const item = await queries.item(runId, params.task_id, parseItem(params), query);
        return { body: showTo(caller, item) };
      },
    }),
  ];
}

function parseItem({ task_id: taskId, item }: { readonly task_id: string; readonly item: string }): number {
  if (/^\d{1,9}$/.test(item)) return Number(item);
  throw new WavetrainError(
    'task_not_found',
    `task "${taskId}" has no item "${item}": items are counted from 0`,
  );
}

/** Removes the stack, which names paths of files, for callers that may not run the tools. */
export function showTo<R extends CallRecord>({ scopes }: Caller, record: R): R {
  if (record.error?.stack === undefined || scopes.includes('run')) return record;
  const { stack: _, ...error } = record.error;
  return { ...record, error };
}
