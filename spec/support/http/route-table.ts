import { systemClock } from '../../../lib/common/clock.js';
import { createRoutes } from '../../../lib/http/routing/app.js';
import type { Route } from '../../../lib/http/routing/route.js';
import type { HttpServices } from '../../../lib/http/services.js';
import { Metrics } from '../../../lib/telemetry/metrics.js';

/** The routes of a server, for inspection: declaring routes needs only a few services, handling requests needs all. */
export function createRouteTable(): Route[] {
  const metrics = new Metrics();
  const routes = createRoutes({
    version: '0.0.0-spec',
    clock: systemClock,
    metrics,
    shareOf: (total: number) => ({ total }),
  } as unknown as HttpServices);
  metrics.close();
  return routes;
}
