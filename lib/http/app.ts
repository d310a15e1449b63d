import Router, { type RouterMiddleware } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { WavetrainError } from '../common/errors.js';
import { errorResponse, internalErrorResponse } from './errors/error-response.js';
import { docsRoutes, documentRoutes } from './routes/docs.js';
import { eventRoutes } from './routes/events.js';
import { healthRoutes, metricsRoutes } from './routes/health.js';
import { pipelineRoutes, pipelineRunRoutes } from './routes/pipelines.js';
import { planRoutes } from './routes/plans.js';
import { runActionRoutes, runRoutes } from './routes/runs.js';
import { createBodyReader } from './routing/body.js';
import { Endpoint } from './routing/endpoint.js';
import type { Route } from './routing/route.js';
import { SECURITY_HEADERS } from './security/browser-guard.js';
import type { HttpServices } from './services.js';

/** Lists every route of the server, in the order of the OpenAPI document. */
export function createRoutes(services: HttpServices): Route[] {
  const routes: Route[] = [
    ...pipelineRoutes(services),
    ...pipelineRunRoutes(services),
    ...planRoutes(services),
    ...runRoutes(services),
    ...eventRoutes(services),
    ...runActionRoutes(services),
    ...healthRoutes(services),
    ...metricsRoutes(services),
    ...docsRoutes(),
    ...documentRoutes(services.version, () => routes),
  ];
  return routes;
}

/** Creates the Koa application: logs requests, sends every error in one shape (D32), guards, routes. */
export function createApp(services: HttpServices): Koa {
  const app = new Koa();
  app.use(requestLog(services));
  app.use(errorHandler(services));
  app.use(browserGuard(services));
  app.use(router(services));
  app.use(notFound);
  // Koa emits errors of the response stream, mostly because a client has disconnected.
  app.on('error', (error: unknown) => services.log.warn({ err: error }, 'connection failed'));
  return app;
}

/** The parts of `ctx.state` that appear in the log line of the request. */
interface RequestState {
  readonly route?: string;
  readonly caller?: string | null;
  readonly runId?: string;
  readonly code?: string;
}

/** Writes one log line and one metric per request, once its response was sent or its client has disconnected. */
function requestLog({ log, metrics, clock, isReady }: HttpServices): Middleware {
  const headers = Object.entries(SECURITY_HEADERS);
  return async (ctx, next) => {
    const startedAt = clock.now();
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    ctx.res.once('close', () => {
      const { method, path, res } = ctx;
      const durationMs = clock.now() - startedAt;
      const { route = 'none', caller, runId, code } = ctx.state as RequestState;
      metrics.recordRequest(route, method, res.statusCode, durationMs);
      const facts = {
        method,
        path,
        status: res.statusCode,
        duration_ms: durationMs,
        ...(code && { code }),
        ...(runId && { run_id: runId }),
        ...(caller && { key: caller }),
        ...(!res.writableFinished && { left: true }),
      };
      log.info(facts, 'request');
    });
    await next();
    // A connection kept alive for the next request would delay the shutdown.
    if (!isReady()) ctx.set('Connection', 'close');
  };
}

function errorHandler({ log, newId }: HttpServices): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      let response = errorResponse(thrown);
      if (response === undefined) {
        const id = newId();
        log.error({ err: thrown, id, method: ctx.method, path: ctx.path }, 'internal error');
        response = internalErrorResponse(id);
      }
      const { status, headers, body } = response;
      ctx.state['code'] = body.detail.code;
      ctx.status = status;
      ctx.set({ ...headers });
      ctx.body = body;
      // The rest of an unread body would be parsed as the next request.
      if (!ctx.req.complete) ctx.set('Connection', 'close');
    }
  };
}

function browserGuard({ guard }: HttpServices): Middleware {
  return async (ctx, next) => {
    // A proxy in front of the server may have checked another one of them.
    if ((ctx.req.headersDistinct['host'] ?? []).length > 1) {
      throw new WavetrainError('invalid_request', 'the request has more than one Host header');
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

function router(services: HttpServices): RouterMiddleware {
  // Case-sensitive, because a proxy may block a path by its exact spelling.
  const table = new Router({ sensitive: true });
  const readBody = createBodyReader(services.bodyLimitBytes);
  for (const route of createRoutes(services)) {
    const endpoint = new Endpoint(route, services, readBody);
    table.register(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), [route.method], async (ctx) => {
      ctx.state['route'] = route.path;
      await endpoint.handle(ctx, { ...ctx['params'] });
    });
  }
  return table.routes();
}

/** A context in which the router lists the routes whose path matches the request. */
interface RoutedContext extends Context {
  readonly matched?: readonly { readonly methods: readonly string[] }[];
}

/** Runs when no route matched: refuses the path, or only the method when the path exists. */
function notFound({ path, matched = [], response }: RoutedContext): never {
  // The router lists HEAD before GET.
  const allowed = matched.flatMap(({ methods }) => methods.toReversed()).join(', ');
  if (allowed !== '') {
    response.set('Allow', allowed);
    throw new WavetrainError('method_not_allowed', `${path} accepts only ${allowed}`);
  }
  const hint = path.startsWith('/plans/runs') ? ': runs of plans are under /pipelines/runs too' : '';
  throw new WavetrainError('not_found', `there is no path ${path}${hint}`);
}
