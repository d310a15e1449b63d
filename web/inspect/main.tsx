import { render } from 'preact';
import { BrowserScheduler } from '../shared/server/browser-scheduler.js';
import { Server } from '../shared/server/server.js';
import { RunSession } from './session/run-session.js';
import { RunInspector } from './views/run-inspector.js';

const page = document.getElementById('page');
if (page) render(createPage(), page);

function createPage() {
  const server = new Server(window.sessionStorage, (path, init) => window.fetch(path, init));
  const runId = decodePart(window.location.pathname.split('/')[2] ?? '');
  return (
    <RunInspector session={new RunSession(server, runId, new BrowserScheduler(), window.location.hash)} />
  );
}

/** An address that is badly encoded names no run, and is shown as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
