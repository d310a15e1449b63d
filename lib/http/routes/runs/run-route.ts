import type { TObject, TSchema } from 'typebox';
import type { RunQueries } from '../../../runs/views/run-queries.js';
import { authorizeRun } from '../../auth/authenticate.js';
import {
  defineRoute,
  type Route,
  type RouteDeclaration,
  type RouteRequest,
  type RouteResult,
} from '../../routing/route.js';
import { RunIdParams } from '../../schemas/request.js';

type Declaration<P extends TObject, Q extends TObject, H extends TObject, B extends TSchema> = Omit<
  RouteDeclaration<P, Q, H, B>,
  'method' | 'path' | 'tag' | 'access' | 'handle'
> & {
  /** Default: GET. */
  readonly method?: Route['method'];
  /** Below the path of the run. Default: that path. */
  readonly path?: string;
  /** Default: `read`. */
  readonly access?: 'run';
  /** The `runId` of its result is that of the route, unless the result names another run. */
  readonly handle: (request: RouteRequest<P, Q, H, B>, runId: string) => RouteResult | Promise<RouteResult>;
};

/** Declares a route about one run, which its caller may see. `params` include RunIdParams, the default. */
export function defineRunRoute<
  P extends TObject = typeof RunIdParams,
  Q extends TObject = TObject,
  H extends TObject = TObject,
  B extends TSchema = TSchema,
>(
  queries: RunQueries,
  { method = 'GET', path = '', errors = [], handle, ...declaration }: Declaration<P, Q, H, B>,
): Route {
  return defineRoute({
    params: RunIdParams as unknown as P,
    access: 'read',
    ...declaration,
    method,
    path: `/pipelines/runs/{run_id}${path}`,
    tag: 'Runs',
    errors: ['run_not_found', ...errors],
    handle: async (request: RouteRequest<P, Q, H, B>) => {
      const { run_id } = request.params as { readonly run_id: string };
      const isOpen = declaration.opensRun !== true;
      const runId = isOpen ? authorizeRun(queries, request.caller, run_id) : run_id;
      return { runId, ...(await handle(request, runId)) };
    },
  });
}
