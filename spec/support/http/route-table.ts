import { systemClock } from '../../../lib/common/clock.js';
import type { Route } from '../../../lib/http/routing/route.js';
import { allRoutes } from '../../../lib/http/routes/index.js';
import type { HttpServices } from '../../../lib/http/services.js';
import { Metrics } from '../../../lib/telemetry/metrics.js';

/** The routes of a server, to be looked at: declaring them asks for few of its services, answering for more. */
export function routeTable(): Route[] {
  const figures = new Metrics();
  const routes = allRoutes({ version: '0.0.0-spec', clock: systemClock, figures } as unknown as HttpServices);
  figures.close();
  return routes;
}
