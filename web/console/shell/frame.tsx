import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Server } from '../../shared/server/server.js';
import { KeyForm } from '../../shared/views/key-form.js';

const SECTIONS = [
  { id: 'runs', href: '/', title: 'Runs' },
  { id: 'library', href: '/library', title: 'Pipelines' },
  { id: 'edit', href: '/edit', title: 'Editor' },
  { id: 'audit', href: '/audit', title: 'Audit' },
] as const;

interface FrameProps {
  readonly server: Server;
  readonly section: (typeof SECTIONS)[number]['id'];
  /** Of the tab of the browser. */
  readonly title: string;
  readonly children: ComponentChildren;
}

/** The frame of every page of the console: its sections, and the form for a key where the server needs one. */
export function PageFrame({ server, section, title, children }: FrameProps) {
  useEffect(() => {
    document.title = `${title} · Wavetrain`;
  }, [title]);
  if (server.needsKey.value) return <KeyForm server={server} onKey={() => undefined} />;
  return (
    <div class="frame">
      <header class="sections">
        <a class="brand" href="/">
          Wavetrain
        </a>
        <nav aria-label="Sections">
          {SECTIONS.map(({ id, href, title: name }) => (
            <a key={id} href={href} aria-current={id === section ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <nav class="elsewhere" aria-label="More">
          <a href="/docs">API</a>
        </nav>
      </header>
      {children}
    </div>
  );
}
