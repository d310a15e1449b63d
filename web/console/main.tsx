import { render } from 'preact';
import { Server } from '../shared/server/server.js';
import { AuditConsole } from './audit/audit-page.js';
import { EditorPage } from './edit/editor-page.js';
import { LibraryPage } from './library/library-page.js';
import { RunConsole } from './run/run-page.js';
import { RunsPage } from './runs/runs-page.js';

const page = document.getElementById('page');
if (page) render(createPage(), page);

function createPage() {
  const server = new Server(window.sessionStorage, (path, init) => window.fetch(path, init));
  const [, name = '', id = ''] = window.location.pathname.split('/');
  switch (name) {
    case 'runs':
      return <RunConsole server={server} runId={decodePart(id)} />;
    case 'audit':
      return <AuditConsole server={server} />;
    case 'library':
      return <LibraryPage server={server} />;
    case 'edit':
      return <EditorPage server={server} />;
    default:
      return <RunsPage server={server} />;
  }
}

/** An address that is badly encoded names no run, and is shown as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
