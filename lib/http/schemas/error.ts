import Type, { type Static } from 'typebox';
import type { ErrorCode } from '../../common/errors.js';
import { ProblemSchema } from './definition.js';
import { TaskFailureSchema } from './run.js';

/** The body of every answer that is an error (D32). */
export const ErrorBodySchema = Type.Object(
  {
    detail: Type.Object(
      {
        code: Type.Unsafe<ErrorCode>({ type: 'string', description: 'A stable word for programs.' }),
        message: Type.String({ description: 'A sentence for people.' }),
        errors: Type.Optional(
          Type.Array(Type.String(), { description: 'Of an invalid definition: every error.' }),
        ),
        problems: Type.Optional(
          Type.Array(ProblemSchema, {
            description: 'Of an invalid definition: errors and warnings as data.',
          }),
        ),
        sub_pipeline: Type.Optional(
          Type.String({ description: 'Of a failed plan: the sub-pipeline of that task.' }),
        ),
        task_id: Type.Optional(Type.String({ description: 'Of a failed run: the task that failed first.' })),
        error: Type.Optional(Type.String({ description: 'Of a failed run: what that task failed of.' })),
        failures: Type.Optional(
          Type.Array(TaskFailureSchema, { description: 'Of a failed run: all failures.' }),
        ),
        run_id: Type.Optional(Type.String({ description: 'The run that the error is about.' })),
        id: Type.Optional(Type.String({ description: 'Of a bug: the id under which the log tells more.' })),
      },
      { additionalProperties: false },
    ),
  },
  { title: 'ErrorBody' },
);

export type ErrorBody = Static<typeof ErrorBodySchema>;
