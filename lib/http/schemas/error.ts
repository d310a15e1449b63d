import Type from 'typebox';
import type { ErrorDetail } from '../../common/errors.js';
import { ErrorDetailSchema } from '../../common/wire/failure.js';
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
  { detail: ErrorDetailSchema },
  { title: 'ErrorBody', description: describeErrors() },
);

export type ErrorBody = { readonly detail: ErrorDetail };
