import Type from 'typebox';
import type { RunQueries } from '../../runs/views/run-queries.js';
import type { RunStatus } from '../../../machines/types.js';
import { WavetrainError } from '../../common/errors.js';
import { closedObject, optionalInteger } from '../schemas/fields.js';

/** The parts of requests that the routes that follow a run have in common. */
export const JSON_MEDIA_TYPE = 'application/json';

export const DEFAULT_EVENT_LIMIT = 1000;
const MAX_LIMIT = 10_000;

export const EventsQuery = closedObject({
  after: optionalInteger({
    minimum: 0,
    default: 0,
    description: 'Number of the last event that the client already has.',
  }),
  limit: optionalInteger({
    minimum: 1,
    maximum: MAX_LIMIT,
    description: `Number of events in a list; default ${DEFAULT_EVENT_LIMIT}. Not allowed for a stream.`,
  }),
});

export const LastEventId = Type.Object({
  'last-event-id': optionalInteger({
    minimum: 0,
    description: 'Like `after`, which it overrides. Browsers send it to resume.',
  }),
});

export function assertNoLimit(limit: number | undefined): void {
  if (limit === undefined) return;
  throw new WavetrainError(
    'invalid_request',
    `"limit" is only for lists: omit it, or send Accept: ${JSON_MEDIA_TYPE}`,
  );
}

/** The status of a run; undefined when the run was deleted. */
export function findStatus(queries: RunQueries, runId: string): RunStatus | undefined {
  try {
    return queries.record(runId).status;
  } catch (thrown) {
    if (thrown instanceof WavetrainError && thrown.code === 'run_not_found') return undefined;
    throw thrown;
  }
}
