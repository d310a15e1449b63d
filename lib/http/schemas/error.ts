import Type from 'typebox';
import type { ErrorCode } from '../../common/errors.js';
import { TaskFailureSchema } from '../../common/wire/failure.js';
import { RepairStepSchema, TokenCountsSchema } from '../../common/wire/model.js';
import { ProblemSchema } from '../../common/wire/problem.js';
import { anyJsonObject, count, nullable, type Shape } from '../../common/wire/shape.js';
import { ERROR_STATUSES } from '../errors/error-statuses.js';

function describeErrors(): string {
  const rows = Object.entries(ERROR_STATUSES).map(
    ([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`,
  );
  return [
    'The body of every error. `code` is stable and for programs, `message` is for people and may change.',
    '',
    '| status | code | meaning |',
    '|---|---|---|',
    ...rows.toSorted((a, b) => (a < b ? -1 : 1)),
  ].join('\n');
}

/** The body of every error response (D32). */
export const ErrorBodySchema = Type.Object(
  {
    detail: Type.Object(
      {
        code: Type.Unsafe<ErrorCode>({ type: 'string', description: 'A stable code, for programs.' }),
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
    ),
  },
  { title: 'ErrorBody', description: describeErrors() },
);

export type ErrorBody = Shape<typeof ErrorBodySchema>;
