import type { Server } from '../../shared/server/server.js';
import { Frame } from '../shell/frame.js';

/** One run: its waves, its times, its values, and what can be done with it. */
export function RunPage({ server, runId }: { readonly server: Server; readonly runId: string }) {
  return (
    <Frame server={server} section="runs" title="Run">
      <main class="page">{runId}</main>
    </Frame>
  );
}
