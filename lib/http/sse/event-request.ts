import Type from 'typebox';
import type { TSchema } from 'typebox';
import type { RunQueries } from '../../runs/views/run-queries.js';
import type { RunStatus } from '../../../machines/types.js';
import { WavetrainError } from '../../common/errors.js';
import { type NumberedLog, OPENING_FRAME, STREAM_TYPE } from './frames.js';
import type { EventSource } from './stream.js';
import { closedObject, optionalInteger } from '../schemas/fields.js';

export const JSON_MEDIA_TYPE = 'application/json';

export const DEFAULT_EVENT_LIMIT = 1000;
const MAX_LIMIT = 10_000;

const EventsQuery = closedObject({
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

const LastEventId = Type.Object({
  'last-event-id': optionalInteger({
    minimum: 0,
    description: 'Like `after`, which it overrides. Browsers send it to resume.',
  }),
});

/**
 * Declares a route that streams numbered entries of a run, or lists them.
 *
 * @param data the first entry of the example, as JSON
 */
export function streamed(schema: TSchema, noun: 'event' | 'entry', data: string) {
  return {
    query: EventsQuery,
    headers: LastEventId,
    defaultMediaType: STREAM_TYPE,
    responses: {
      200: {
        description: 'The stream, or the list so far.',
        schema,
        media: { [STREAM_TYPE]: `${OPENING_FRAME}id: 1\ndata: ${data}\n\n` },
      },
      204: { description: `The run has settled and the client has every ${noun}: there will be no more.` },
    },
  };
}

export function assertNoLimit(limit: number | undefined): void {
  if (limit === undefined) return;
  throw new WavetrainError(
    'invalid_request',
    `"limit" is only for lists: omit it, or send Accept: ${JSON_MEDIA_TYPE}`,
  );
}

/** The entries of a run that a stream sends. */
export function runSource(queries: RunQueries, runId: string, log: NumberedLog): EventSource {
  return { runId, tenantId: queries.tenantId(runId), log, status: () => findStatus(queries, runId) };
}

/** The status of a run; undefined when the run was deleted. */
function findStatus(queries: RunQueries, runId: string): RunStatus | undefined {
  try {
    return queries.record(runId).status;
  } catch (thrown) {
    if (thrown instanceof WavetrainError && thrown.code === 'run_not_found') return undefined;
    throw thrown;
  }
}
