import Type from 'typebox';

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
