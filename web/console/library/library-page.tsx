import type { Server } from '../../shared/server/server.js';
import { Frame } from '../shell/frame.js';

/** The pipelines of the server's folder, with their schedules and their last runs. */
export function LibraryPage({ server }: { readonly server: Server }) {
  return (
    <Frame server={server} section="library" title="Pipelines">
      <main class="page" />
    </Frame>
  );
}
