import { type Route, route } from '../route.js';
import type { HttpServices } from '../services.js';

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
