import Type from 'typebox';
import { type Route, route } from '../route.js';
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
