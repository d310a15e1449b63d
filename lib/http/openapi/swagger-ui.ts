import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { pagePolicy } from '../security/browser-guard.js';

/** The path under which the files of Swagger UI are served. */
export const DOCS_ASSETS_PATH = '/docs-assets';

const SWAGGER_OPTIONS = {
  url: '/openapi.json',
  // By default the document would be sent to a validator on the internet.
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
};

/**
 * Renders the page that shows the API and sends requests to it, with the assets of `version` (D39). By its policy,
 * everything comes from this server, and only known inline scripts run.
 */
export async function renderDocsPage(
  version: string,
): Promise<{ readonly html: Buffer; readonly policy: string }> {
  const html = removeForeignHosts(await renderSwaggerUi(version));
  return { html: Buffer.from(html), policy: createPolicy(html) };
}

async function renderSwaggerUi(version: string): Promise<string> {
  // Imported at the first request, because most servers never serve the page.
  const { koaSwagger } = await import('koa2-swagger-ui');
  const middleware = koaSwagger({
    routePrefix: false,
    title: 'Wavetrain API',
    hideTopbar: true,
    swaggerVersion: version,
    swaggerCdnUrl: DOCS_ASSETS_PATH,
    favicon: `${DOCS_ASSETS_PATH}/${version}/favicon-32x32.png`,
    swaggerOptions: { ...SWAGGER_OPTIONS },
  });
  const page = { type: '', body: '' };
  // The middleware uses nothing else of a context.
  await middleware(page as unknown as Context, () => Promise.resolve());
  return page.body;
}

/** Removes links to web fonts, and corrects the name of the style sheet. */
function removeForeignHosts(html: string): string {
  return html.replaceAll(/<link href="https?:[^>]*>\s*/g, '').replace('swagger-ui.min.css', 'swagger-ui.css');
}

/** Allows inline styles, which Swagger UI adds, and of inline scripts only those in `html`. */
function createPolicy(html: string): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return pagePolicy({
    'script-src': `'self' ${scripts.join(' ')}`,
    'style-src': "'self' 'unsafe-inline'",
  });
}
