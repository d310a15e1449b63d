import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context } from 'koa';
import { WavetrainError } from '../../common/errors.js';

/** The page at /docs. */
export interface DocsPage {
  readonly html: string;
  /** Its content security policy: everything comes from this server, and only the scripts that we wrote run. */
  readonly policy: string;
}

/** Where the files of Swagger UI are. */
export const DOCS_ASSETS = '/docs-assets';

const OPTIONS = {
  url: '/openapi.json',
  // Else the document would be sent to a validator on the internet.
  validatorUrl: null,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
};

/** Makes the page that shows and tries out the API, over the assets of `version` (D39). */
export async function docsPage(version: string): Promise<DocsPage> {
  const html = withoutForeignHosts(await swaggerPage(version));
  return { html, policy: policyFor(html) };
}

async function swaggerPage(version: string): Promise<string> {
  // Imported when the page is first asked for: most servers are never asked.
  const { koaSwagger } = await import('koa2-swagger-ui');
  const show = koaSwagger({
    routePrefix: false,
    title: 'Wavetrain API',
    hideTopbar: true,
    swaggerVersion: version,
    swaggerCdnUrl: DOCS_ASSETS,
    favicon: `${DOCS_ASSETS}/${version}/favicon-32x32.png`,
    swaggerOptions: { ...OPTIONS },
  });
  const page = { type: '', body: '' };
  // It touches nothing else of a context.
  await show(page as unknown as Context, () => Promise.resolve());
  return page.body;
}

/** The page would ask for web fonts; and for a file by a name that Swagger UI does not give it. */
function withoutForeignHosts(html: string): string {
  return html.replaceAll(/<link href="https?:[^>]*>\s*/g, '').replace('swagger-ui.min.css', 'swagger-ui.css');
}

/** Styles may stand in the page, for Swagger UI writes some; of its scripts only those that are there now. */
function policyFor(html: string): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The files that the page asks for, by the media types they are sent in. */
const TYPE_OF: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
  ['swagger-ui-standalone-preset.js', 'text/javascript'],
  ['favicon-32x32.png', 'image/png'],
]);

/** A file as it is sent. */
interface DocsAsset {
  readonly bytes: Buffer;
  readonly type: string;
}

/** Swagger UI as the build put it beside the code, so that the page asks no other host for it (D39). */
export class DocsAssets {
  readonly #folder: string;

  constructor(folder = builtFolder()) {
    this.#folder = folder;
  }

  /**
   * Of Swagger UI. It stands in the addresses of the files, which may so be kept for ever.
   *
   * @throws WavetrainError `not_found` when there was no build
   */
  version(): string {
    const file = join(this.#folder, 'VERSION');
    if (existsSync(file)) return readFileSync(file, 'utf8').trim();
    throw new WavetrainError(
      'not_found',
      'the documentation page is not here, for this is a source checkout that was not built: run "npm run build"; GET /openapi.json has the same as data',
    );
  }

  /** @throws WavetrainError `not_found` */
  async read(version: string, name: string): Promise<DocsAsset> {
    const type = TYPE_OF.get(name);
    if (type === undefined || version !== this.version()) {
      throw new WavetrainError('not_found', `there is no file ${name} of version ${version}`);
    }
    return { bytes: await readFile(join(this.#folder, name)), type };
  }
}

function builtFolder(): string {
  const root = dirname(createRequire(import.meta.url).resolve('wavetrain/package.json'));
  return join(root, 'dist', 'swagger-ui');
}
