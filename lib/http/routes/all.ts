import type { Route } from '../route.js';
import type { HttpServices } from '../services.js';
import { docsRoutes } from './docs.js';
import { documentRoutes } from './documents.js';
import { eventRoutes } from './events.js';
import { healthRoutes } from './health.js';
import { metricsRoutes } from './metrics.js';
import { pipelineRoutes } from './pipelines.js';
import { planRoutes } from './plans.js';
import { runActionRoutes } from './run-actions.js';
import { runRoutes } from './runs.js';
import { submissionRoutes } from './submission.js';

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
