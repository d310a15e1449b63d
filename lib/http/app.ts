import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { WavetrainError } from '../common/errors.js';
import { bodyReader } from './routing/body.js';
import { Endpoint } from './routing/endpoint.js';
import { bugAnswer, errorAnswer, type ErrorAnswer } from './errors/error-response.js';
import { HEADERS_OF_EVERY_ANSWER } from './security/headers.js';
import type { Route } from './routing/route.js';
import type { HttpServices } from './services.js';

/** The application: every request is logged, guarded, answered by its route, and refused in one shape (D32). */
export function createApp(routes: readonly Route[], services: HttpServices): Koa {
  const app = new Koa();
  app.use(told(services));
  app.use(answeringErrors(services));
  app.use(guarded(services));
  const router = routerOf(routes, services);
  app.use(router.routes());
  app.use(unknown(routes));
  // What is thrown behind the answer: a client that left, mostly.
  app.on('error', (error: unknown) => services.log.warn({ err: error }, 'a connection failed'));
  return app;
}

function routerOf(routes: readonly Route[], services: HttpServices): Router {
  // A proxy before the server may shut a path: it must not have a second spelling.
  const router = new Router({ sensitive: true });
  const readBody = bodyReader(services.bodyLimitBytes);
  for (const route of routes) {
    const endpoint = new Endpoint(route, services, readBody);
    router.register(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), [route.method], async (ctx) => {
      ctx.state['route'] = route.path;
      await endpoint.answer(ctx, { ...ctx['params'] });
    });
  }
  return router;
}

/** One line in the log and one figure for each request, once its answer has left or its client has. */
function told({ log, figures, clock, isReady }: HttpServices): Middleware {
  const headers = Object.entries(HEADERS_OF_EVERY_ANSWER);
  return async (ctx, next) => {
    const began = clock.now();
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    ctx.res.once('close', () => {
      const durationMs = clock.now() - began;
      const {
        route = 'none',
        caller,
        runId,
        code,
      } = ctx.state as { route?: string; caller?: string; runId?: string; code?: string };
      const status = ctx.res.statusCode;
      figures.answered(route, ctx.method, status, durationMs);
      const about = { method: ctx.method, path: ctx.path, status, duration_ms: durationMs };
      const left = ctx.res.writableFinished ? {} : { left: true };
      log.info(
        {
          ...about,
          ...(code && { code }),
          ...(runId && { run_id: runId }),
          ...(caller && { key: caller }),
          ...left,
        },
        'request',
      );
    });
    await next();
    // A connection that is kept for the next request would hold up the end.
    if (!isReady()) ctx.set('Connection', 'close');
  };
}

function answeringErrors(services: HttpServices): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      answer(ctx, errorAnswer(thrown) ?? reported(thrown, ctx, services));
    }
  };
}

function reported(thrown: unknown, ctx: Context, { log, newId }: HttpServices): ErrorAnswer {
  const id = newId();
  log.error({ err: thrown, id, method: ctx.method, path: ctx.path }, 'a bug');
  return bugAnswer(id);
}

function answer(ctx: Context, { status, headers, body }: ErrorAnswer): void {
  ctx.state['code'] = body.detail.code;
  ctx.status = status;
  ctx.set({ ...headers });
  ctx.body = body;
  // What is left of a body that nobody reads would be taken for the next request.
  if (!ctx.req.complete) ctx.set('Connection', 'close');
}

function guarded({ guard }: HttpServices): Middleware {
  return async (ctx, next) => {
    // A proxy before the server may have read the other one.
    if (hostsIn(ctx.req.rawHeaders) > 1) {
      throw new WavetrainError('invalid_request', 'there is more than one Host header');
    }
    guard.check({
      method: ctx.method,
      host: ctx.req.headers.host ?? '',
      origin: ctx.req.headers.origin ?? '',
      fetchSite: ctx.req.headers['sec-fetch-site'] ?? '',
    });
    await next();
  };
}

/** How often Host stands among names and values in turn. */
function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/** Nothing answered: there is no such path, or not with this method. */
function unknown(routes: readonly Route[]): Middleware {
  const patterns = routes.map(({ path, method }) => ({ method, pattern: patternOf(path) }));
  return (ctx) => {
    const allowed = patterns
      .filter(({ pattern }) => pattern.test(ctx.path))
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    if (allowed.length === 0) throw nothingAt(ctx.path);
    ctx.set('Allow', allowed.join(', '));
    throw new WavetrainError('method_not_allowed', `${ctx.path} takes ${allowed.join(', ')}`);
  };
}

function nothingAt(path: string): WavetrainError {
  const hint = path.startsWith('/plans/runs') ? ': runs of plans are under /pipelines/runs too' : '';
  return new WavetrainError('not_found', `there is nothing at ${path}${hint}`);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`);
}
