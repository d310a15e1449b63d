import { createHash } from 'node:crypto';
import type { Context } from 'koa';

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
