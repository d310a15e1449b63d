import Type from 'typebox';
import type { Route } from '../../routing/route.js';
import { NamedRunSchema } from '../../schemas/library.js';
import { PlanResultSchema, RunResultSchema } from '../../../common/wire/run.js';
import type { HttpServices } from '../../services.js';
import { createRunRoutes, type StartRequest } from '../start-run.js';
import { NAMED_PATH, requireLibrary } from './named-path.js';

const FROM_FOLDER =
  'the server runs the definition that it has in its folder: send another one to /pipelines/run or /plans/run';

const MISPLACED_FIELDS = {
  pipeline: FROM_FOLDER,
  plan: FROM_FOLDER,
  yaml: FROM_FOLDER,
  pipelines: FROM_FOLDER,
};

/** `POST /pipelines/{id}/run` and `POST /pipelines/{id}/run_async` (D69). */
export function namedRunRoutes(services: HttpServices): Route[] {
  return createRunRoutes(services, {
    kind: 'named',
    path: NAMED_PATH,
    tag: 'Library',
    descriptions: {
      run: 'The definition is the last version of its file without errors; a run that has begun keeps it.',
      runAsync:
        'The definition is the last version of its file without errors; a run that has begun keeps it. The run is found at `/pipelines/runs/{run_id}`.',
    },
    body: {
      required: false,
      misplacedFields: MISPLACED_FIELDS,
      examples: { hello: { params: { name: 'Ada' } } },
    },
    runSchema: NamedRunSchema,
    runAsyncSchema: NamedRunSchema,
    resultSchema: Type.Union([RunResultSchema, PlanResultSchema]),
    describe: (request) => `named ${getId(request)}`,
    errors: ['pipeline_not_found', 'busy'],
    read: async (request, tenantId) => {
      const id = getId(request);
      const { library } = requireLibrary(services, id);
      const { tenant_id: _, ...values } = request.body ?? {};
      return library.toSubmission(await library.entry(tenantId, id), values);
    },
  });
}

function getId({ params }: StartRequest<unknown>): string {
  return (params as { readonly id: string }).id;
}
