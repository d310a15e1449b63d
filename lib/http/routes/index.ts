import type { Route } from '../routing/route.js';
import type { HttpServices } from '../services.js';
import { docsRoutes, documentRoutes } from './docs.js';
import { eventRoutes } from './events.js';
import { healthRoutes, metricsRoutes } from './health.js';
import { pipelineRoutes, submissionRoutes } from './pipelines.js';
import { planRoutes } from './plans.js';
import { runActionRoutes, runRoutes } from './runs.js';

/** The route table: every path there is, in the order of the documents. */
export function allRoutes(services: HttpServices): Route[] {
  const routes: Route[] = [
    ...pipelineRoutes(services),
    ...submissionRoutes(services),
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
