import Router, { type RouterMiddleware } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import { WavetrainError } from '../../common/errors.js';
import { AUDITED_ROUTES } from '../logging/audit/audited-routes.js';
import { auditRefusal } from '../logging/audit/request-audit.js';
import { statelyPageRoutes } from '../inspector/stately-page.js';
import { loggedErrorResponse } from '../errors/error-response.js';
import { notFoundPage } from '../errors/not-found-page.js';
import { REQUEST_MESSAGE } from '../logging/log.js';
import { ResponseSender } from '../responses/response-sender.js';
import { adminRoutes } from '../routes/admin.js';
import { artifactRoutes } from '../routes/runs/artifacts.js';
import { compileRoutes } from '../routes/compile.js';
import { eventRoutes } from '../sse/event-routes.js';
import { healthRoutes, metricsRoutes } from '../routes/health.js';
import { libraryRoutes } from '../routes/library/library.js';
import { docsRoutes, documentRoutes } from '../routes/pages/docs.js';
import { consoleRoutes, inspectorRoutes } from '../routes/pages/web-apps.js';
import { pipelineRoutes, pipelineRunRoutes } from '../routes/pipelines.js';
import { planRoutes } from '../routes/plans.js';
import { runActionRoutes, runRoutes } from '../routes/runs/runs.js';
import { submissionRoutes } from '../routes/runs/submission.js';
import { taskRoutes } from '../routes/runs/tasks.js';
import { createBodyReader } from './body.js';
import { Endpoint } from './endpoint.js';
import type { Route } from './route.js';
import { UNKNOWN_TENANT } from '../../common/scheduling/event-loop-scheduler.js';
import type { HttpServices } from '../services.js';

/** Lists every route of the server, in the order of the OpenAPI document. */
export function createRoutes(services: HttpServices): Route[] {
  const routes: Route[] = [
    ...pipelineRoutes(services),
    ...compileRoutes(services),
    ...pipelineRunRoutes(services),
    ...libraryRoutes(services),
    ...planRoutes(services),
    ...runRoutes(services),
    ...submissionRoutes(services),
    ...taskRoutes(services),
    ...artifactRoutes(services),
    ...eventRoutes(services),
    ...runActionRoutes(services),
    ...healthRoutes(services),
    ...metricsRoutes(services),
    ...adminRoutes(services),
    ...docsRoutes(),
    ...statelyPageRoutes(),
    ...inspectorRoutes(),
    ...consoleRoutes(),
    ...documentRoutes(services, () => routes),
  ];
  return routes;
}

/** Creates the Koa application: logs requests, sends every error in one shape (D32), guards, routes. */
export function createApp(services: HttpServices): Koa {
  const app = new App();
  const sender = new ResponseSender(services);
  app.use(requestLog(services));
  app.use(errorHandler(services, sender));
  app.use(browserGuard(services));
  app.use(router(services, sender));
  app.use(notFound);
  app.on('error', (error: unknown) => services.log.error({ err: error }, 'response failed'));
  return app;
}

/**
 * Koa without its own end of a request. Every response is sent by a ResponseSender, and the log line of the request
 * says that a client has disconnected: Koa's listeners for that take longer than reading the body.
 */
class App extends Koa {
  /** Called by Koa with the context of a request and all middleware. */
  async handleRequest(ctx: Context, handle: (ctx: Context) => Promise<void>): Promise<void> {
    // As Koa does: the log line of a client that disconnects before its response has this status.
    ctx.res.statusCode = 404;
    try {
      await handle(ctx);
    } catch (error) {
      ctx.onerror(error as Error);
    }
  }
}

/** The facts that are known about a request so far, in `ctx.state`. */
interface RequestState {
  readonly route?: string;
  readonly isPolled?: boolean;
  readonly caller?: string | null;
  readonly runId?: string;
  readonly code?: string;
  /** The tenant that the memory of the response counts for. */
  readonly tenantId?: string;
}

/** The log line of a request. */
interface RequestFacts {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  code?: string;
  run_id?: string;
  key?: string;
  /** The client has disconnected before the end of the response. */
  left?: true;
}

/**
 * Writes one log line and one metric per request, once its response was sent or its client has disconnected; no line for the
 * requests of monitors that succeed.
 */
function requestLog(services: HttpServices): Middleware {
  const { clock } = services;
  return (ctx, next) => {
    const startedAt = clock.monotonicNow();
    ctx.res.once('close', () => recordRequest(ctx, Math.round(clock.monotonicNow() - startedAt), services));
    return next();
  };
}

function recordRequest(ctx: Context, durationMs: number, { log, metrics }: HttpServices): void {
  const { method, path, res } = ctx;
  const { route = 'none', isPolled, caller, runId, code } = ctx.state as RequestState;
  metrics.recordRequest(route, method, res.statusCode, durationMs, code);
  if (isPolled === true && res.statusCode < 400) return;
  const facts: RequestFacts = { method, path, status: res.statusCode, duration_ms: durationMs };
  if (code) facts.code = code;
  if (runId) facts.run_id = runId;
  if (caller) facts.key = caller;
  if (!res.writableFinished) facts.left = true;
  log.info(facts, REQUEST_MESSAGE);
}

function errorHandler(services: HttpServices, sender: ResponseSender): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const { method, path } = ctx;
      const response = loggedErrorResponse(thrown, services, { method, path });
      const { code } = response.body.detail;
      ctx.state['code'] = code;
      auditRefusal(ctx, code, services.audit);
      if (ctx.res.headersSent) ctx.res.destroy();
      else {
        const { tenantId = UNKNOWN_TENANT } = ctx.state as RequestState;
        if (response.status === 404 && wantsPage(ctx))
          await sender.send(ctx, 404, 'text/html', notFoundPage(response), tenantId);
        else await sender.send(ctx, response.status, 'application/json', response, tenantId);
      }
    }
  };
}

/** True of a person who has opened an address; programs accept anything, or JSON. */
function wantsPage({ method, req: { headers } }: Context): boolean {
  const { accept = '' } = headers;
  return (method === 'GET' || method === 'HEAD') && /^text\/html\b/i.test(accept);
}

function browserGuard({ guard }: HttpServices): Middleware {
  return async (ctx, next) => {
    guard.checkHeaders(ctx.req, ctx.method);
    await next();
  };
}

function router(services: HttpServices, sender: ResponseSender): RouterMiddleware {
  // Case-sensitive, because a proxy may block a path by its exact spelling.
  const table = new Router({ sensitive: true });
  const readBody = createBodyReader(services.bodyLimitBytes);
  for (const route of createRoutes(services)) {
    const endpoint = new Endpoint(route, services, readBody, sender);
    const layer = table.register(route.path.replaceAll(/\{(\w+)\}/g, ':$1'), [route.method], async (ctx) => {
      ctx.state['route'] = route.path;
      ctx.state['audited'] = AUDITED_ROUTES[route.id];
      ctx.state['isPolled'] = route.isPolled;
      await endpoint.handle(ctx, ctx['params']);
    });
    if (route.reserved) layer.regexp = exclude(layer.regexp as RegExp, route.path, route.reserved);
  }
  return table.routes();
}

/** Matches what an expression matches, unless the first parameter of the path is one of some words. */
function exclude({ source, flags }: RegExp, path: string, words: Iterable<string>): RegExp {
  const [before = ''] = path.split('{');
  return new RegExp(`^(?!${before}(?:${[...words].join('|')})(?:/|$))${source.replace(/^\^/, '')}`, flags);
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
  const hint = path.startsWith('/plans/runs')
    ? ': runs of plans are under /pipelines/runs too'
    : ': GET /openapi.json lists the paths';
  throw new WavetrainError('not_found', `there is no path ${path}${hint}`);
}
