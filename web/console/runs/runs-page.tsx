import type { Server } from '../../shared/server/server.js';
import { Frame } from '../shell/frame.js';

/** The runs of the server, newest first. */
export function RunsPage({ server }: { readonly server: Server }) {
  return (
    <Frame server={server} section="runs" title="Runs">
      <main class="page" />
    </Frame>
  );
}
