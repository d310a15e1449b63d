import { createHash } from 'node:crypto';
import { ellipsize, escapeMarkup } from '../../common/text.js';
import type { RouteResult } from '../routing/route.js';
import { pagePolicy } from '../security/browser-guard.js';
import type { ErrorResponse } from './error-response.js';

const LINKS = [
  ['/', 'Runs', 'all runs of this server'],
  ['/library', 'Pipelines', 'the pipelines of its folder, with their schedules'],
  ['/edit', 'Editor', 'write a pipeline and run it'],
  ['/docs', 'API', 'the paths for programs, to read and to try'],
] as const;

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}' +
  'h1{font-size:1.4rem}code{overflow-wrap:anywhere}li{margin:.3rem 0}';

const POLICY = pagePolicy({
  'script-src': "'none'",
  'style-src': `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
});

/** Longer messages are cut: a path may be long. */
const MAX_MESSAGE = 300;

/** Shows a person why there is nothing at a path, and where to go on. The message is escaped: its path comes from anybody. */
export function notFoundPage({ headers, body }: ErrorResponse): RouteResult {
  const links = LINKS.map(([path, name, purpose]) => `<li><a href="${path}">${name}</a>: ${purpose}</li>`);
  const message = escapeMarkup(ellipsize(body.detail.message, MAX_MESSAGE));
  const text = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Not found · Wavetrain</title><style>${STYLE}</style></head>
<body><main>
<h1>There is nothing here</h1>
<p><code>${message}</code></p>
<p>Go on with:</p>
<ul>
${links.join('\n')}
</ul>
</main></body>
</html>
`;
  return { text, headers: { ...headers, 'Content-Security-Policy': POLICY, Vary: 'Accept' } };
}
