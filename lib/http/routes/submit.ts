import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { TaskFailedError, WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { IdempotencyKey } from '../../runs/idempotency.js';
import type { Acceptance, RunRecord } from '../../runs/record.js';
import { errorAnswer } from '../errors/error-response.js';
import type { Answer, AnswerDocument } from '../routing/route.js';
import { AcceptedSchema } from '../schemas/run.js';
import type { HttpServices } from '../services.js';

/** What is the same of pipelines and plans when a run is to begin. */

/** Refusals before there is a run. */
export const REFUSALS = [
  'invalid_definition',
  'invalid_params',
  'invalid_options',
  'invalid_inputs',
  'queue_full',
  'shutting_down',
] as const;

/** What is told of waiting for a result. */
export const WAITING =
  'The connection stays open until the run has settled. The run goes on when the client leaves; then it stands in `GET /pipelines/runs` with its result. A run whose result was delivered is forgotten; one that failed or was cancelled is kept, to be looked at and rerun.';

export const RUN_ID_HEADER = {
  'Wavetrain-Run-Id': 'The id that the run had, as in logs and events. Errors of the run carry it too.',
};

/** Answers when the run has settled, with its result or why it has none; a result is delivered once (D26). */
export async function resultOf({ registry, isReady }: HttpServices, runId: string): Promise<Answer> {
  const record = await registry.settled(runId);
  const { result, events } = record;
  const answer: Answer =
    result === null ? errorAnswer(failureOf(record, isReady())) : { body: { ...result, events } };
  return {
    ...answer,
    headers: { ...answer.headers, 'Wavetrain-Run-Id': runId },
    runId,
    ...(result !== null && { onSent: () => registry.forget(runId) }),
  };
}

/** Why a run has no result, as an error. */
function failureOf({ run_id, status, failures, error }: RunRecord, isReady: boolean): WavetrainError {
  if (status === 'failed') return new TaskFailedError(run_id, failures, error ?? 'failed');
  return isReady
    ? new WavetrainError('run_cancelled', `run ${run_id} was cancelled`)
    : new WavetrainError('shutting_down', `run ${run_id} was cancelled, for the server is shutting down`);
}

export const IDEMPOTENCY = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes a repeated submission safe: the same key with the same body (keys of JSON objects in any order) answers the run that there is, for as long as it is kept; with another body it is refused.',
    }),
  ),
});

export const ACCEPTED: AnswerDocument = {
  description: 'The run was accepted.',
  schema: AcceptedSchema,
  headers: {
    Location: 'Where the record of the run is.',
    'Idempotent-Replayed': '`true` when the run was submitted before with the same key.',
  },
};

interface Repeatable {
  readonly headers: Static<typeof IDEMPOTENCY>;
  readonly yaml: string | undefined;
  readonly body: object | undefined;
}

/** Begins a run, unless the same key began it before: then it answers with that one (D36). */
export async function acceptedOnce(
  { registry }: HttpServices,
  kind: DefinitionKind,
  tenantId: string,
  { headers: { 'idempotency-key': key }, yaml, body }: Repeatable,
  submit: (idempotency: IdempotencyKey | undefined) => Promise<string>,
): Promise<Answer> {
  const idempotency = key === undefined ? undefined : { key, fingerprint: fingerprintOf(kind, yaml ?? body) };
  const earlier = idempotency && registry.submitted(tenantId, idempotency);
  if (earlier !== undefined) {
    const { run_id, status } = registry.record(earlier);
    return acceptedAnswer({ run_id, status }, REPLAYED);
  }
  return acceptedAnswer(registry.acceptance(await submit(idempotency)));
}

const REPLAYED = { 'Idempotent-Replayed': 'true' };

/** Of the text, when it was YAML; else of what it says: the order of keys means nothing in JSON (D36). */
function fingerprintOf(kind: DefinitionKind, body: unknown): string {
  const text = `${kind} ${JSON.stringify(body, withKeysInOrder)}`;
  return createHash('sha256').update(text).digest('base64');
}

function withKeysInOrder(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Says that a run was accepted, and where its record is (D31). */
export function acceptedAnswer(acceptance: Acceptance, headers: Record<string, string> = {}): Answer {
  const { run_id } = acceptance;
  return { body: acceptance, headers: { Location: `/pipelines/runs/${run_id}`, ...headers }, runId: run_id };
}
