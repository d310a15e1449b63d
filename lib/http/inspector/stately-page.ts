import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import Type from 'typebox';
import { WavetrainError } from '../../common/errors.js';
import { hashEtag, IfNoneMatch, NOT_MODIFIED, returnIfModified } from '../responses/conditional-get.js';
import { defineRoute, type Route } from '../routing/route.js';
import { RunIdParams } from '../schemas/request.js';

const PAGE = 'index.html';

/** Media types of the files of the page, by name. */
const FILE_TYPES: ReadonlyMap<string, string> = new Map([
  [PAGE, 'text/html; charset=utf-8'],
  ['page.css', 'text/css; charset=utf-8'],
  ['main.js', 'text/javascript; charset=utf-8'],
]);

/** Only this page may show another host, and only that of the official viewer. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  'frame-src https://stately.ai',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The page that bridges to the official Stately inspector, and its files. It is open as all pages are: it asks for a key
 * if the server needs one for the data of the run.
 */
export function statelyPageRoutes(files = new PageFiles()): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/inspect/stately/{run_id}',
      id: 'statelyPage',
      tag: 'Documents',
      summary: 'Show a run in the official Stately inspector',
      isPage: true,
      access: 'open',
      params: RunIdParams,
      headers: IfNoneMatch,
      responses: {
        200: { description: 'The page.', media: { 'text/html': '<!DOCTYPE html>' } },
        304: NOT_MODIFIED,
      },
      errors: ['not_found'],
      handle: async ({ headers }) => {
        const { bytes, type } = await files.read(PAGE);
        const head = { ETag: hashEtag(bytes), 'Cache-Control': 'no-cache' };
        const result = { headers: { ...head, 'Content-Security-Policy': PAGE_POLICY } };
        return returnIfModified(headers, result, () => ({ bytes, type }));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/inspect/stately-assets/{file}',
      id: 'statelyPageFile',
      tag: 'Documents',
      summary: 'Get a file of the page of the Stately inspector',
      isPage: true,
      access: 'open',
      params: Type.Object({ file: Type.String() }),
      headers: IfNoneMatch,
      responses: {
        200: { description: 'The file.', media: { 'text/css': '', 'text/javascript': '' } },
        304: NOT_MODIFIED,
      },
      errors: ['not_found'],
      handle: async ({ params, headers }) => {
        const { bytes, type } = await files.read(params.file === PAGE ? '' : params.file);
        const head = { ETag: hashEtag(bytes), 'Cache-Control': 'no-cache' };
        return returnIfModified(headers, { headers: head }, () => ({ bytes, type }));
      },
    }),
  ];
}

/** The files of the page, which the build writes to `dist`; each is read once. */
class PageFiles {
  readonly #folder = join(
    dirname(createRequire(import.meta.url).resolve('wavetrain/package.json')),
    'dist',
    'stately',
  );
  readonly #files = new Map<string, Promise<Buffer>>();

  /** @throws WavetrainError `not_found` */
  async read(name: string): Promise<{ readonly bytes: Buffer; readonly type: string }> {
    const type = FILE_TYPES.get(name);
    if (type === undefined) throw new WavetrainError('not_found', 'there is no such file');
    const path = join(this.#folder, name);
    if (!existsSync(path)) {
      throw new WavetrainError(
        'not_found',
        'the page is missing because this source checkout was not built: run "npm run build"',
      );
    }
    let file = this.#files.get(name);
    if (file === undefined) this.#files.set(name, (file = readFile(path)));
    return { bytes: await file, type };
  }
}
