import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import Type from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import { hashEtag, IfNoneMatch, NOT_MODIFIED, returnIfModified } from '../../responses/conditional-get.js';
import { defineRoute, type Route, type RouteResult } from '../../routing/route.js';

/**
 * The page that shows runs as state machines (D42). Everybody may load the page; what it shows comes from the other
 * routes, with the key that its reader has entered.
 */
export function inspectorRoutes(folder = getBuildFolder()): Route[] {
  const files = new InspectorFiles(folder);
  const pages = [
    { path: '/inspect', id: 'inspectRuns', summary: 'List the runs, each with a link to its inspector' },
    { path: '/inspect/{run_id}', id: 'inspectRun', summary: 'Watch a run as state machines' },
  ];
  // The fixed paths stand before `/inspect/{run_id}`, which would match them.
  return [statecharts(files), asset(files), ...pages.map((page) => inspectorPage(files, page))];
}

/** Everything comes from this server; nothing is inline. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function inspectorPage(files: InspectorFiles, named: Pick<Route, 'path' | 'id' | 'summary'>): Route {
  return defineRoute({
    ...named,
    method: 'GET',
    tag: 'Documents',
    isPage: true,
    access: 'open',
    headers: IfNoneMatch,
    responses: {
      200: { description: 'The page.', media: { 'text/html': '<!DOCTYPE html>' } },
      304: NOT_MODIFIED,
    },
    errors: ['not_found'],
    handle: async ({ headers }) => revalidated(headers, await files.read('index.html'), PAGE_POLICY),
  });
}

function statecharts(files: InspectorFiles): Route {
  return defineRoute({
    method: 'GET',
    path: '/inspect/statecharts.json',
    id: 'inspectStatecharts',
    tag: 'Documents',
    summary: 'Get the drawings of the state machines',
    isPage: true,
    access: 'open',
    headers: IfNoneMatch,
    responses: {
      200: { description: 'A list of statecharts.', media: { 'application/json': '[]' } },
      304: NOT_MODIFIED,
    },
    errors: ['not_found'],
    handle: async ({ headers }) => revalidated(headers, await files.read('../statecharts.json')),
  });
}

/** The path of an asset contains its version, so its content never changes. */
const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

const ASSET_TYPES: ReadonlyMap<string, string> = new Map([
  ['inspect.js', 'text/javascript; charset=utf-8'],
  ['inspect.css', 'text/css; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
]);

function asset(files: InspectorFiles): Route {
  return defineRoute({
    method: 'GET',
    path: '/inspect/assets/{version}/{file}',
    id: 'inspectAsset',
    tag: 'Documents',
    summary: 'Get a file of the inspector',
    isPage: true,
    access: 'open',
    params: Type.Object({ version: Type.String(), file: Type.String() }),
    responses: {
      200: {
        description: 'The file.',
        media: { 'text/css': '', 'text/javascript': '', 'image/svg+xml': '' },
      },
    },
    errors: ['not_found'],
    handle: async ({ params: { version, file } }) => {
      const type = ASSET_TYPES.get(file);
      if (type === undefined || version !== (await files.version())) {
        throw new WavetrainError('not_found', `there is no file ${file} of version ${version}`);
      }
      return { bytes: await files.read(file), type, headers: FOR_EVER };
    },
  });
}

function revalidated(
  requested: Parameters<typeof returnIfModified>[0],
  bytes: Buffer,
  policy?: string,
): RouteResult {
  const headers = {
    ETag: hashEtag(bytes),
    'Cache-Control': 'no-cache',
    ...(policy !== undefined && { 'Content-Security-Policy': policy }),
  };
  return returnIfModified(requested, { headers }, () => ({ bytes }));
}

/** The files of the page, which the build writes to `dist/web`. */
class InspectorFiles {
  readonly #folder: string;
  /** By name, read once: all responses share the bytes. */
  readonly #files = new Map<string, Promise<Buffer>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The version in the paths of the assets. @throws WavetrainError `not_found` when the project was not built */
  async version(): Promise<string> {
    return (await this.read('VERSION')).toString().trim();
  }

  /** @throws WavetrainError `not_found` when the project was not built */
  async read(name: string): Promise<Buffer> {
    let file = this.#files.get(name);
    if (file === undefined) this.#files.set(name, (file = readFile(join(this.#folder, name))));
    try {
      return await file;
    } catch (error) {
      this.#files.delete(name);
      throw new WavetrainError(
        'not_found',
        'the inspector is missing because this source checkout was not built: run "npm run build"',
        { cause: error },
      );
    }
  }
}

function getBuildFolder(): string {
  const root = dirname(createRequire(import.meta.url).resolve('wavetrain/package.json'));
  return join(root, 'dist', 'web');
}
