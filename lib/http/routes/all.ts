import type { Route } from '../route.js';
import type { HttpServices } from '../services.js';
import { documentRoutes } from './documents.js';
import { healthRoutes } from './health.js';
import { pipelineRoutes } from './pipelines.js';
import { runRoutes } from './runs.js';
import { submissionRoutes } from './submission.js';

/** The route table: every path there is, in the order of the documents. */
export function allRoutes(services: HttpServices): Route[] {
  const routes: Route[] = [
    ...pipelineRoutes(services),
    ...submissionRoutes(services),
    ...runRoutes(services),
    ...healthRoutes(services),
    ...documentRoutes(services.version, () => routes),
  ];
  return routes;
}
