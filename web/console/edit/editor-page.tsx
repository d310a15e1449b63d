import type { Server } from '../../shared/server/server.js';
import { Frame } from '../shell/frame.js';

/** Where pipelines are written, checked and run. */
export function EditorPage({ server }: { readonly server: Server }) {
  return (
    <Frame server={server} section="edit" title="Editor">
      <main class="page" />
    </Frame>
  );
}
