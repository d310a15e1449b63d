import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { WavetrainError } from '../../../common/errors.js';
import { distFile } from '../../../common/files.js';
import { hashEtag, IfNoneMatch, NOT_MODIFIED, returnIfModified } from '../../responses/conditional-get.js';
import { pagePolicy } from '../../security/browser-guard.js';
import { defineRoute, type Route, type RouteResult } from '../../routing/route.js';

/** Everybody may load a page and its files. */
export const PAGE = { method: 'GET', tag: 'Documents', isPage: true, access: 'open' } as const;

/** The query of a page may say what the page shows; only its script reads that. */
export const AnyQuery = Type.Object({});

/** A page for browsers. What it shows comes from the other routes, with the key of its reader. */
export function pageRoute(
  files: PageFiles,
  named: Pick<Route, 'path' | 'id' | 'summary' | 'params' | 'query'>,
  policy = pagePolicy(),
): Route {
  return defineRoute({
    query: AnyQuery,
    ...named,
    ...PAGE,
    headers: IfNoneMatch,
    responses: {
      200: { description: 'The page.', media: { 'text/html': '<!DOCTYPE html>' } },
      304: NOT_MODIFIED,
    },
    errors: ['not_found'],
    handle: async ({ headers }) => revalidated(headers, await files.read('index.html'), { policy }),
  });
}

/** The path of an asset contains its version, so its content never changes. */
const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

const ASSET_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
]);

/** The media type of a file of a page; undefined for a name that none has. */
export function assetType(file: string): string | undefined {
  const [, extension] = /^[\w-]{1,64}\.([a-z]{2,3})$/.exec(file) ?? [];
  return ASSET_TYPES.get(extension);
}

/** The scripts, the styles and the icon of a page, below `path`. */
export function assetRoute(
  files: PageFiles,
  named: Pick<Route, 'path' | 'id' | 'summary'>,
  image: 'image/png' | 'image/svg+xml' = 'image/svg+xml',
): Route {
  return defineRoute({
    ...named,
    ...PAGE,
    path: `${named.path}/{version}/{file}`,
    params: Type.Object({ version: Type.String(), file: Type.String() }),
    responses: {
      200: {
        description: 'The file.',
        media: { 'text/css': '', 'text/javascript': '', [image]: '' },
      },
    },
    errors: ['not_found'],
    handle: async ({ params: { version, file } }) => {
      const type = assetType(file);
      if (type === undefined || version !== (await files.version())) {
        throw new WavetrainError('not_found', `there is no file ${file} of version ${version}`);
      }
      return { bytes: await files.read(file), type, headers: FOR_EVER };
    },
  });
}

/** Answers with bytes, or with 304 when the client has them. */
export function revalidated(
  requested: Parameters<typeof returnIfModified>[0],
  bytes: Buffer,
  { policy, ...content }: { readonly policy?: string; readonly type?: string } = {},
): RouteResult {
  const headers = {
    ETag: hashEtag(bytes),
    'Cache-Control': 'no-cache',
    ...(policy !== undefined && { 'Content-Security-Policy': policy }),
  };
  return returnIfModified(requested, { headers }, () => ({ bytes, ...content }));
}

/** The files of a page, which the build has written to a folder. */
export class PageFiles {
  readonly #folder: string;
  /** By name, read once: all responses share the bytes. */
  readonly #files = new Map<string, Promise<Buffer>>();

  /** @param folder default: the folder of that name in `dist` */
  constructor(name: 'console' | 'stately' | 'swagger-ui' | 'web', folder = distFile(name)) {
    this.#folder = folder;
  }

  /** The version in the paths of the assets. @throws WavetrainError `not_found` when the project was not built */
  async version(): Promise<string> {
    return (await this.read('VERSION')).toString().trim();
  }

  /** @throws WavetrainError `not_found` when there is no such file, or the project was not built */
  async read(name: string): Promise<Buffer> {
    let file = this.#files.get(name);
    if (file === undefined) this.#files.set(name, (file = readFile(join(this.#folder, name))));
    try {
      return await file;
    } catch (error) {
      this.#files.delete(name);
      throw new WavetrainError(
        'not_found',
        `there is no ${name}; if this is a source checkout, it was not built: run "npm run build"`,
        { cause: error },
      );
    }
  }
}
