import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** Puts a text on the clipboard, and says whether that worked. */
export function CopyButton({
  text,
  children,
}: {
  readonly text: string;
  readonly children: ComponentChildren;
}) {
  const [state, setState] = useState('');
  const copy = (): void => {
    // Browsers have a clipboard only on this machine and over HTTPS.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    if (clipboard === undefined) return setState('The browser allows it only over HTTPS');
    clipboard.writeText(text).then(
      () => setState('Copied'),
      () => setState('The browser did not allow it'),
    );
  };
  return (
    <>
      <button type="button" onClick={copy} onBlur={() => setState('')}>
        {children}
      </button>
      <span class="src" role="status">
        {state && ` ${state}`}
      </span>
    </>
  );
}
