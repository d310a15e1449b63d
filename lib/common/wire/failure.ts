import Type from 'typebox';
import { RepairStepSchema, TokenCountsSchema } from './model.js';
import { ProblemSchema } from './problem.js';
import { anyJsonObject, count, described, list, nullable, onlyTrue, text } from './shape.js';

export const TaskFailureSchema = described('TaskFailure', 'A failed task, or one failed item of a fan-out.', {
  sub_pipeline: Type.Optional(text('In a plan: the sub-pipeline that contains the task.')),
  task_id: Type.String(),
  error: Type.String(),
  attempts: Type.Integer({ minimum: 0, description: '0 when the tool was never called.' }),
  item: Type.Optional(Type.Integer({ minimum: 0, description: 'Index in the fan-out, from 0.' })),
  collected: onlyTrue(
    'The task has `on_item_error: collect` and went on without the item: this did not fail the run.',
  ),
  tolerated: onlyTrue('The task has `on_error: continue`: this did not fail the run.'),
});

export const SkippedTaskSchema = described('SkippedTask', 'A task, or a sub-pipeline, that called nothing.', {
  sub_pipeline: TaskFailureSchema.properties.sub_pipeline,
  task_id: Type.Optional(text('Absent for a sub-pipeline that was skipped as a whole.')),
  reason: text('A condition that does not hold, or an output or a key that it needs and that there is not.'),
});

export const FailedTaskSchema = described(
  'FailedTask',
  'The task, or the item of a fan-out, that failed a run.',
  {
    sub_pipeline: TaskFailureSchema.properties.sub_pipeline,
    task_id: TaskFailureSchema.properties.task_id,
    item: TaskFailureSchema.properties.item,
  },
);

export const ErrorDetailSchema = Type.Object(
  {
    code: text('A stable code, for programs.'),
    message: text('A sentence, for people.'),
    errors: Type.Optional(list(Type.String(), 'Of an invalid definition: every error.')),
    problems: Type.Optional(list(ProblemSchema, 'Of an invalid definition: errors and warnings as data.')),
    sub_pipeline: Type.Optional(text('Of a failed plan: the sub-pipeline that contains the task.')),
    task_id: Type.Optional(text('Of a failed run: the task that failed first.')),
    error: Type.Optional(text('Of a failed run: the error of that task.')),
    inputs: Type.Optional(
      anyJsonObject('Of a failed run: the inputs of that task or item, with values over 2 KiB cut.'),
    ),
    cut: Type.Optional(list(Type.String(), 'Of a failed run: JSON pointers to what was cut in `inputs`.')),
    hint: Type.Optional(text('Of a failed run: the requests that show more of it and rerun it.')),
    failures: Type.Optional(list(TaskFailureSchema, 'Of a failed run: every failure.')),
    attempts: Type.Optional(count('Of a failed compilation: the answers of the model.')),
    repair_history: Type.Optional(
      list(RepairStepSchema, 'Of a failed compilation: each answer that was rejected, and why.'),
    ),
    last_yaml: Type.Optional(text('Of a failed compilation: the last answer; empty if the model declined.')),
    last_error: Type.Optional(text('Of a failed compilation: why the last answer was rejected.')),
    usage: Type.Optional(TokenCountsSchema),
    model: Type.Optional(text('Of a failed compilation: `provider/model`.')),
    version: Type.Optional(
      nullable(
        text(
          'Of a file that has changed: its version now; null when it cannot be read, and when a new file was refused.',
        ),
      ),
    ),
    run_id: Type.Optional(text('The run that the error is about.')),
    id: Type.Optional(text('Of an internal error: the id under which the log has the details.')),
  },
  { additionalProperties: false },
);
