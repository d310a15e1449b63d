import Type from 'typebox';
import { eventLoopScheduler } from '../../common/scheduling/event-loop-scheduler.js';
import { resolveTenant } from '../auth/authenticate.js';
import { type Route, defineRoute } from '../routing/route.js';
import { UNREADY_REASONS } from '../routing/server-readiness.js';
import { countLibrary, type HttpServices } from '../services.js';

const PROBE = { method: 'GET', tag: 'Server', access: 'open', isProbe: true, isPolled: true } as const;

/** Routes for the probes of a load balancer or an orchestrator. */
export function healthRoutes({ readiness, queries, version, library }: HttpServices): Route[] {
  return [
    defineRoute({
      ...PROBE,
      path: '/health',
      id: 'health',
      summary: 'Check that the server is alive',
      responses: {
        200: {
          description: 'The server is alive.',
          schema: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }),
        },
      },
      handle: () => ({ body: { status: 'ok' } }),
    }),
    defineRoute({
      ...PROBE,
      path: '/ready',
      id: 'ready',
      summary: 'Check that the server accepts new runs',
      responses: {
        200: { description: 'The server accepts new runs.', schema: ReadinessSchema },
        503: { description: 'The server accepts no runs: `reason` says why.', schema: ReadinessSchema },
      },
      handle: () => {
        const { reason } = readiness;
        const ready = reason === undefined;
        const body = {
          ready,
          ...(!ready && { reason }),
          ...queries.load,
          version,
          ...(library && { library: countLibrary(library) }),
        };
        return { status: ready ? 200 : 503, body };
      },
    }),
  ];
}

const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    reason: Type.Optional(
      Type.Union(
        UNREADY_REASONS.map((reason) => Type.Literal(reason)),
        {
          description:
            'Why it is not ready: it is shutting down; runs cannot be kept in its store, so that it must be started again; or it is restoring the runs of its store.',
        },
      ),
    ),
    queued: Type.Integer({ minimum: 0, description: 'Number of runs that wait for a free slot.' }),
    running: Type.Integer({ minimum: 0, description: 'Number of running runs.' }),
    version: Type.String(),
    library: Type.Optional(
      Type.Object(
        {
          pipelines: Type.Integer({ minimum: 0 }),
          broken: Type.Integer({ minimum: 0, description: 'Those whose files have errors.' }),
          schedules: Type.Integer({ minimum: 0 }),
        },
        { description: 'The pipelines and plans in the folder of the server, where it has one.' },
      ),
    ),
  },
  { title: 'Readiness' },
);

const METRICS_EXAMPLE = `# HELP wavetrain_runs_total Runs that have reached a status since the server started. Every run starts as queued.
# TYPE wavetrain_runs_total counter
wavetrain_runs_total{pipeline="nightly",status="queued",trigger="schedule"} 12
wavetrain_runs_total{pipeline="nightly",status="succeeded",trigger="schedule"} 11
`;

/** The route that Prometheus scrapes. */
export function metricsRoutes({ metrics }: HttpServices): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/metrics',
      id: 'getMetrics',
      tag: 'Server',
      summary: 'Get the metrics of the server, for Prometheus',
      description:
        'Runs by pipeline, status and trigger, with their durations; the last success and the lateness of schedules; task durations by tool, attempts and retries, tools in flight, requests by route, errors by code, the memory that `SERVICE_MEMORY` limits, and the memory, CPU time and event-loop lag of the process. The metrics cover all tenants, so a key needs the scope `metrics`.',
      access: 'metrics',
      isPolled: true,
      responses: {
        200: {
          description: 'The text format of Prometheus.',
          media: { [metrics.contentType]: METRICS_EXAMPLE },
        },
      },
      handle: async ({ caller }) => {
        const tenantId = resolveTenant(caller);
        return { text: await metrics.read(() => eventLoopScheduler.waitWhenOver(tenantId, 'requests')) };
      },
    }),
  ];
}
