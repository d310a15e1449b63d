import Type from 'typebox';
import { RepairStepSchema, TokenCountsSchema } from './model.js';
import { ProblemSchema } from './problem.js';
import { anyJsonObject, count, nullable } from './shape.js';

export const TaskFailureSchema = Type.Object(
  {
    sub_pipeline: Type.Optional(
      Type.String({ description: 'In a plan: the sub-pipeline that contains the task.' }),
    ),
    task_id: Type.String(),
    error: Type.String(),
    attempts: Type.Integer({ minimum: 0, description: '0 when the tool was never called.' }),
    item: Type.Optional(Type.Integer({ minimum: 0, description: 'Index in the fan-out, from 0.' })),
    collected: Type.Optional(
      Type.Literal(true, {
        description:
          'The task has `on_item_error: collect` and went on without the item: this did not fail the run.',
      }),
    ),
  },
  { title: 'TaskFailure', description: 'A failed task, or one failed item of a fan-out.' },
);

export const FailedTaskSchema = Type.Object(
  {
    sub_pipeline: TaskFailureSchema.properties.sub_pipeline,
    task_id: TaskFailureSchema.properties.task_id,
    item: TaskFailureSchema.properties.item,
  },
  { title: 'FailedTask', description: 'The task, or the item of a fan-out, that failed a run.' },
);

export const ErrorDetailSchema = Type.Object(
  {
    code: Type.String({ description: 'A stable code, for programs.' }),
    message: Type.String({ description: 'A sentence, for people.' }),
    errors: Type.Optional(
      Type.Array(Type.String(), { description: 'Of an invalid definition: every error.' }),
    ),
    problems: Type.Optional(
      Type.Array(ProblemSchema, {
        description: 'Of an invalid definition: errors and warnings as data.',
      }),
    ),
    sub_pipeline: Type.Optional(
      Type.String({ description: 'Of a failed plan: the sub-pipeline that contains the task.' }),
    ),
    task_id: Type.Optional(Type.String({ description: 'Of a failed run: the task that failed first.' })),
    error: Type.Optional(Type.String({ description: 'Of a failed run: the error of that task.' })),
    inputs: Type.Optional(
      anyJsonObject('Of a failed run: the inputs of that task or item, with values over 2 KiB cut.'),
    ),
    cut: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Of a failed run: JSON pointers to what was cut in `inputs`.',
      }),
    ),
    hint: Type.Optional(
      Type.String({ description: 'Of a failed run: the requests that show more of it and rerun it.' }),
    ),
    failures: Type.Optional(
      Type.Array(TaskFailureSchema, { description: 'Of a failed run: every failure.' }),
    ),
    attempts: Type.Optional(count('Of a failed compilation: the answers of the model.')),
    repair_history: Type.Optional(
      Type.Array(RepairStepSchema, {
        description: 'Of a failed compilation: each answer that was rejected, and why.',
      }),
    ),
    last_yaml: Type.Optional(
      Type.String({
        description: 'Of a failed compilation: the last answer; empty if the model declined.',
      }),
    ),
    last_error: Type.Optional(
      Type.String({ description: 'Of a failed compilation: why the last answer was rejected.' }),
    ),
    usage: Type.Optional(TokenCountsSchema),
    model: Type.Optional(Type.String({ description: 'Of a failed compilation: `provider/model`.' })),
    version: Type.Optional(
      nullable(
        Type.String({
          description:
            'Of a file that has changed: its version now; null when it cannot be read, and when a new file was refused.',
        }),
      ),
    ),
    run_id: Type.Optional(Type.String({ description: 'The run that the error is about.' })),
    id: Type.Optional(
      Type.String({ description: 'Of an internal error: the id under which the log has the details.' }),
    ),
  },
  { additionalProperties: false },
);
