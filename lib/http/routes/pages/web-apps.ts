import { IfNoneMatch, NOT_MODIFIED } from '../../responses/conditional-get.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { AnyQuery, assetRoute, PAGE, PageFiles, pageRoute, revalidated } from './page-files.js';

/** The page that shows runs as state machines (D42). */
export function inspectorRoutes(folder?: string): Route[] {
  const files = new PageFiles('web', folder);
  // The fixed paths stand before `/inspect/{run_id}`, which would match them.
  return [
    defineRoute({
      ...PAGE,
      path: '/inspect/statecharts.json',
      id: 'inspectStatecharts',
      summary: 'Get the drawings of the state machines',
      headers: IfNoneMatch,
      responses: {
        200: { description: 'A list of statecharts.', media: { 'application/json': '[]' } },
        304: NOT_MODIFIED,
      },
      errors: ['not_found'],
      handle: async ({ headers }) => revalidated(headers, await files.read('../statecharts.json')),
    }),
    assetRoute(files, {
      path: '/inspect/assets',
      id: 'inspectAsset',
      summary: 'Get a file of the inspector',
    }),
    listInstead('/inspect', 'inspect'),
    pageRoute(files, {
      path: '/inspect/{run_id}',
      id: 'inspectRun',
      summary: 'Watch a run as state machines',
    }),
  ];
}

/** Leads from a path of runs without the id of one to the list of them, with its filters in the query. */
function listInstead(path: string, id: string): Route {
  return defineRoute({
    ...PAGE,
    path,
    id,
    summary: 'Lead to the list of runs',
    query: AnyQuery,
    responses: { 302: { description: 'The list of runs.', headers: { Location: 'The path of the list.' } } },
    handle: ({ query }) => ({ status: 302, headers: { Location: `/${writeQuery(query)}` } }),
  });
}

/** @param query a parameter that was given several times is a list */
function writeQuery(query: object): string {
  const written = new URLSearchParams();
  for (const [name, values] of Object.entries(query) as [string, string | string[]][]) {
    for (const value of [values].flat()) written.append(name, value);
  }
  return written.size === 0 ? '' : `?${written.toString()}`;
}

/** The pages on which people look at runs, repeat them, and write pipelines. All of them are one web app. */
export function consoleRoutes(folder?: string): Route[] {
  const files = new PageFiles('console', folder);
  return [
    pageRoute(files, { path: '/', id: 'console', summary: 'Look at the runs' }),
    listInstead('/runs', 'consoleRuns'),
    pageRoute(files, { path: '/runs/{run_id}', id: 'consoleRun', summary: 'Look at a run, and repeat it' }),
    pageRoute(files, {
      path: '/library',
      id: 'consoleLibrary',
      summary: 'Look at the pipelines of the folder, and at their schedules',
    }),
    pageRoute(files, { path: '/edit', id: 'consoleEditor', summary: 'Write a pipeline, and run it' }),
    pageRoute(files, { path: '/audit', id: 'consoleAudit', summary: 'Look at who did what on the server' }),
    assetRoute(files, { path: '/assets', id: 'consoleAsset', summary: 'Get a file of the console' }),
  ];
}
