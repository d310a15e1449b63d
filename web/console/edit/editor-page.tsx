import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf, type Server } from '../../shared/server/server.js';
import { Notice } from '../../shared/views/notices.js';
import { PageFrame } from '../shell/frame.js';
import type { Opened } from './session/opened.js';

type WorkbenchType = ComponentType<{ readonly server: Server; readonly opened: Opened }>;

/** Where pipelines are written, checked and run. The editor is loaded when the page is opened: no other page needs it. */
export function EditorPage({ server }: { readonly server: Server }) {
  const [loaded, setLoaded] = useState<{ readonly Workbench: WorkbenchType } | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    import('./workbench.js').then(setLoaded, (error: unknown) => setProblem(messageOf(error)));
  }, []);
  return (
    <PageFrame server={server} section="edit" title="Editor">
      {loaded === undefined ? (
        <main class="page">
          {problem === '' ? (
            <p class="empty">Loading the editor…</p>
          ) : (
            <Notice tone="bad">
              The editor could not be loaded: {problem}. Load the page again; the server may have a newer
              version.
            </Notice>
          )}
        </main>
      ) : (
        <loaded.Workbench server={server} opened={readAddress(window.location.search)} />
      )}
    </PageFrame>
  );
}

/** `/edit?pipeline=ID&tenant=TENANT` opens a file of the server, `/edit?run=ID&task=TASK` the definition of a run at a task. */
function readAddress(search: string): Opened {
  const query = new URLSearchParams(search);
  return {
    pipeline: query.get('pipeline') ?? '',
    tenant: query.get('tenant') ?? '',
    run: query.get('run') ?? '',
    task: query.get('task') ?? '',
  };
}
