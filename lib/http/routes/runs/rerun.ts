import type { Static } from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import type { RerunSubmission } from '../../../submission/submitter.js';
import { toStartedBy } from '../../auth/authenticate.js';
import type { Route } from '../../routing/route.js';
import { RerunRequestSchema } from '../../schemas/request.js';
import { AcceptedRerunSchema, RerunReportSchema } from '../../../common/wire/run.js';
import type { HttpServices } from '../../services.js';
import { readPipelineSource, readPlanSource } from '../definition-body.js';
import { EXAMPLE_PIPELINE, EXAMPLE_YAML } from '../examples.js';
import { createFingerprint } from '../fingerprint.js';
import { acceptedResponse, acceptedResult, IdempotencyHeaders, SUBMISSION_ERRORS } from '../start-run.js';
import { defineRunRoute } from './run-route.js';

const RERUN_BODY = {
  schema: RerunRequestSchema,
  required: false,
  yaml: EXAMPLE_YAML,
  examples: {
    failed: { from: 'failed' },
    changed: { pipeline: EXAMPLE_PIPELINE, params: { name: 'Grace' } },
  },
};

type RerunBody = Static<typeof RerunRequestSchema>;

/** `POST /pipelines/runs/{run_id}/rerun` (D35, D60) */
export function rerunRoute(services: HttpServices): Route {
  const { registry, queries, submitter } = services;
  return defineRunRoute(queries, {
    method: 'POST',
    path: '/rerun',
    id: 'rerunRun',
    summary: 'Run a settled run again: completely, from where it failed, or with changes',
    description:
      'Submits a new run with the definition and the values of the earlier one, and with those of the request in their place. A changed definition, which may also be sent as YAML, is validated first; with errors, nothing runs. What is reused is not called again: tasks, and with `from` "failed" or with changes also items of a fan-out, whose definition, tool and everything that they read are as they were.',
    access: 'run',
    headers: IdempotencyHeaders,
    body: RERUN_BODY,
    responses: acceptedResponse('new run', AcceptedRerunSchema),
    errors: ['run_not_settled', 'nothing_to_rerun', 'busy', ...SUBMISSION_ERRORS, 'idempotency_conflict'],
    handle: async ({ headers, yaml, body: json = {}, caller, address }, earlier) => {
      const body = yaml === undefined ? json : { yaml };
      const from = { startedBy: toStartedBy(caller), address };
      const key = headers['idempotency-key'];
      if (key === undefined) {
        const runId = await submitter.rerun(earlier, await readRerun(earlier, body, services), from);
        return acceptedResult({ ...queries.accepted(runId), rerun: await queries.rerunReport(runId) });
      }
      const fingerprint = createFingerprint('rerun', { ...body, run_id: earlier });
      const { run_id, status, isReplayed } = await registry.submitOnce(
        queries.tenantId(earlier),
        { key, fingerprint },
        async ({ reservation }) =>
          submitter.rerun(earlier, await readRerun(earlier, body, services), { reservation, ...from }),
      );
      const acceptance = { run_id, status, rerun: await queries.rerunReport(run_id) };
      return acceptedResult(acceptance, isReplayed);
    },
  });
}

/** `POST /pipelines/runs/{run_id}/rerun/preview` (D60) */
export function rerunPreviewRoute(services: HttpServices): Route {
  const { queries, submitter } = services;
  return defineRunRoute(queries, {
    method: 'POST',
    path: '/rerun/preview',
    id: 'previewRerun',
    summary: 'Say what a rerun would reuse and what it would run',
    description:
      'Takes the body of a rerun and checks it in the same way. Runs nothing. A task that only depends on another one is reused after all if that gives what it gave before.',
    access: 'run',
    body: RERUN_BODY,
    responses: { 200: { description: 'What the rerun would do.', schema: RerunReportSchema } },
    errors: [
      'run_not_settled',
      'nothing_to_rerun',
      ...SUBMISSION_ERRORS.filter((code) => code !== 'queue_full'),
    ],
    handle: async ({ yaml, body: json = {} }, runId) => {
      const body = yaml === undefined ? json : { yaml };
      const rerun = await readRerun(runId, body, services);
      return { body: await submitter.previewRerun(runId, rerun) };
    },
  });
}

/** Reads a rerun. Rejects with `invalid_request` for a definition of the other kind, and for more than one. */
async function readRerun(runId: string, body: RerunBody, services: HttpServices): Promise<RerunSubmission> {
  const { queries } = services;
  const { yaml, pipelines, ...others } = body;
  // Null means left out (D53); a definition may be any JSON, so only here it is known not to be one.
  const [pipeline, plan] = [others.pipeline ?? undefined, others.plan ?? undefined];
  const { pipeline: _, plan: __, ...request } = others;
  const kind = queries.kind(runId);
  const other = kind === 'plan' ? { pipeline } : { plan, pipelines };
  for (const [field, value] of Object.entries(other)) {
    if (value === undefined) continue;
    const message = `run ${runId} belongs to a ${kind}: send its changed definition in "${kind}" or "yaml", and not in "${field}"`;
    throw new WavetrainError('invalid_request', message);
  }
  if (pipeline === undefined && plan === undefined && yaml === undefined) {
    if (pipelines === undefined) return request;
    throw new WavetrainError(
      'invalid_request',
      'send the plan too, in "plan" or "yaml": "pipelines" has only its parts',
    );
  }
  if (kind === 'plan') {
    const planBody = { plan, ...(pipelines !== undefined && { pipelines }) };
    const definition = await readPlanSource({ yaml, body: planBody }, services, queries.tenantId(runId));
    return { ...request, definition, submitted_text: yaml };
  }
  return { ...request, definition: readPipelineSource({ yaml, body: { pipeline } }), submitted_text: yaml };
}
