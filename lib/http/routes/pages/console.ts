import type { Route } from '../../routing/route.js';
import { assetRoute, PageFiles, pageRoute } from './page-files.js';

/** The pages on which people look at runs, repeat them, and write pipelines. All of them are one web app. */
export function consoleRoutes(folder?: string): Route[] {
  const files = new PageFiles('console', folder);
  return [
    pageRoute(files, { path: '/', id: 'console', summary: 'Look at the runs' }),
    pageRoute(files, { path: '/runs/{run_id}', id: 'consoleRun', summary: 'Look at a run, and repeat it' }),
    pageRoute(files, {
      path: '/library',
      id: 'consoleLibrary',
      summary: 'Look at the pipelines of the folder, and at their schedules',
    }),
    pageRoute(files, { path: '/edit', id: 'consoleEditor', summary: 'Write a pipeline, and run it' }),
    assetRoute(files, { path: '/assets', id: 'consoleAsset', summary: 'Get a file of the console' }),
  ];
}
