import Type from 'typebox';
import { RunBusyError } from '../../../common/errors.js';
import { readSignature } from '../../../library/webhooks/signatures.js';
import { toRunValues } from '../../../library/webhooks/webhook-values.js';
import type { WebhookRequest } from '../../../library/webhooks/webhooks.js';
import { resolveTenant, ANONYMOUS } from '../../auth/authenticate.js';
import { defineRoute, type RequestStart, type Route } from '../../routing/route.js';
import { TenantId } from '../../schemas/request.js';
import { AcceptedSchema } from '../../../common/wire/run.js';
import { anyJsonObject } from '../../../common/wire/shape.js';
import type { Submission } from '../../../submission/submitter.js';
import type { HttpServices } from '../../services.js';
import { createFingerprint } from '../fingerprint.js';
import { acceptedResponse, acceptedResult, SUBMISSION_ERRORS } from '../start-run.js';
import { NAMED_PATH, requireLibrary } from './named-path.js';
import { closedObject, optionalText } from '../../schemas/fields.js';

const WebhookQuery = closedObject({
  token: optionalText({
    maxLength: 4096,
    description: 'The secret, for senders that can only be given a URL.',
  }),
  tenant_id: Type.Optional(TenantId),
});

const WebhookHeaders = Type.Object({
  'x-webhook-token': optionalText({ maxLength: 4096, description: 'The secret.' }),
  'x-hub-signature-256': optionalText({
    maxLength: 200,
    description: '`sha256=` and the HMAC of the body with the secret, in hexadecimal, as GitHub sends it.',
  }),
  'webhook-id': optionalText({
    minLength: 1,
    maxLength: 255,
    description: 'The id of the delivery, which is signed.',
  }),
  'webhook-timestamp': optionalText({
    maxLength: 20,
    description: 'When it was sent, in seconds since 1970, which is signed.',
  }),
  'webhook-signature': optionalText({
    maxLength: 2000,
    description:
      '`v1,` and the HMAC of `ID.TIMESTAMP.BODY` with the secret, in Base64, as standardwebhooks.com says; several are separated by blanks.',
  }),
  'idempotency-key': optionalText({
    minLength: 1,
    maxLength: 255,
    description: 'The same key never starts a second run.',
  }),
  'x-github-delivery': optionalText({
    minLength: 1,
    maxLength: 255,
    description: 'The same, as GitHub calls it.',
  }),
});

type Params = typeof NAMED_PATH.params;
type Start = RequestStart<Params, typeof WebhookQuery, typeof WebhookHeaders>;

/** `POST /pipelines/{id}/webhook` (D71). */
export function webhookRoute(services: HttpServices): Route {
  const { queries, submitter, log, metrics } = services;
  return defineRoute({
    ...NAMED_PATH,
    path: `${NAMED_PATH.path}/webhook`,
    method: 'POST',
    id: 'startByWebhook',
    tag: 'Library',
    summary: 'Start a pipeline or a plan of the server from elsewhere, with the secret of its webhook',
    description:
      'For definitions with `webhook: {secret: NAME}`. The request proves to know the secret by a header, by `token` in the query, or by a signature of the body. Whatever is wrong with it, the response is the same.',
    access: 'open',
    query: WebhookQuery,
    headers: WebhookHeaders,
    body: {
      schema: anyJsonObject('Its fields become params, or as `webhook` of the definition says.'),
      required: false,
      examples: { push: { name: 'Ada' } },
    },
    responses: acceptedResponse('run', AcceptedSchema),
    errors: [
      'pipeline_not_found',
      'too_many_failures',
      'memory_full',
      ...SUBMISSION_ERRORS,
      'secret_missing',
      'idempotency_conflict',
    ],
    admit: async (start) => {
      const request = toWebhookRequest(start);
      const { webhooks } = requireLibrary(services, request.id);
      if (await webhooks.admit(request)) return request.tenantId;
      return {
        check: (text) => {
          webhooks.checkSignature(request, text);
          return request.tenantId;
        },
        fail: (bytes) => webhooks.countFailure(request, bytes),
      };
    },
    handle: async (request) => {
      const start = toWebhookRequest(request);
      const { library, webhooks } = requireLibrary(services, start.id);
      const entry = webhooks.entry(start);
      const values = toRunValues(entry, request.body);
      const key = webhooks.deliveryKey(start, entry);
      const read = (): Submission => ({
        ...library.toSubmission(entry, values),
        trigger: 'webhook',
        startedBy: { kind: 'webhook', name: entry.id },
        address: request.address,
      });
      try {
        if (key === undefined) return acceptedResult(queries.accepted(await submitter.submit(read())));
        const fingerprint = createFingerprint('webhook', request.body);
        const { run_id, status, isReplayed } = await submitter.submitOnce(
          start.tenantId,
          { key, fingerprint },
          read,
        );
        return acceptedResult({ run_id, status }, isReplayed);
      } catch (error) {
        if (!(error instanceof RunBusyError)) throw error;
        // A sender that gets an error sends the same again, which would come too late.
        log.info({ tenant: start.tenantId, pipeline: entry.id }, `a webhook: skipped: ${error.message}`);
        metrics.recordSkipped('webhook');
        return acceptedResult({ run_id: error.runId, status: queries.record(error.runId).status });
      }
    },
  });
}

function toWebhookRequest({ params, query, headers, address }: Start): WebhookRequest {
  return {
    id: params.id,
    tenantId: resolveTenant(ANONYMOUS, query.tenant_id),
    token: headers['x-webhook-token'] ?? query.token,
    signature: readSignature(headers),
    deliveryId: headers['idempotency-key'] ?? headers['x-github-delivery'] ?? headers['webhook-id'],
    address,
  };
}
