import Type from 'typebox';
import { type Route, route } from '../routing/route.js';
import type { HttpServices } from '../services.js';

export function healthRoutes({ isReady, registry, version }: HttpServices): Route[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      id: 'health',
      tag: 'Server',
      summary: 'Is the server alive?',
      access: 'open',
      isProbe: true,
      answers: {
        200: {
          description: 'It is.',
          schema: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }),
        },
      },
      handle: () => ({ body: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      id: 'ready',
      tag: 'Server',
      summary: 'Does the server take new runs?',
      access: 'open',
      isProbe: true,
      answers: {
        200: { description: 'It does.', schema: ReadinessSchema },
        503: { description: 'It is shutting down.', schema: ReadinessSchema },
      },
      handle: () => {
        const ready = isReady();
        return { status: ready ? 200 : 503, body: { ready, ...registry.load, version } };
      },
    }),
  ];
}

const ReadinessSchema = Type.Object(
  {
    ready: Type.Boolean(),
    queued: Type.Integer({ minimum: 0, description: 'Runs that wait for a place.' }),
    running: Type.Integer({ minimum: 0, description: 'Runs at work.' }),
    version: Type.String(),
  },
  { title: 'Readiness' },
);

const EXAMPLE = `# HELP wavetrain_runs_total Runs that came to a status since the server began. Every run begins as queued.
# TYPE wavetrain_runs_total counter
wavetrain_runs_total{status="queued"} 12
wavetrain_runs_total{status="succeeded"} 11
`;

export function metricsRoutes({ figures }: HttpServices): Route[] {
  return [
    route({
      method: 'GET',
      path: '/metrics',
      id: 'getMetrics',
      tag: 'Server',
      summary: 'Figures of the server, for Prometheus',
      description: [
        'Runs by status, durations of tasks by tool, attempts and retries, tools at work, requests by route, and the',
        'memory, processor time and event-loop lag of the process. The figures are of all tenants, so a key needs',
        'the scope `metrics`.',
      ].join(' '),
      access: 'metrics',
      answers: {
        200: { description: 'The text format of Prometheus.', media: { [figures.contentType]: EXAMPLE } },
      },
      handle: async () => ({ text: await figures.read() }),
    }),
  ];
}
