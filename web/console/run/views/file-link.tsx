import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../../shared/server/server.js';
import type { FollowedRun } from '../run-session.js';

interface FileLinkProps {
  readonly session: FollowedRun;
  /** Below the path of the run. */
  readonly path: string;
  /** The name that the file is saved with. */
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Downloads a file of the run. A link cannot carry the key, so the file is fetched first where there is one. */
export function FileLink({ session, path, name, children }: FileLinkProps) {
  const [problem, setProblem] = useState('');
  const { server } = session;
  const fetchFile = async (): Promise<void> => {
    const response = await server.open(session.path(path));
    saveFile(await response.blob(), name);
  };
  return (
    <>
      <a
        class="button"
        href={session.path(path)}
        download={name}
        onClick={(event) => {
          if (!server.hasKey) return;
          event.preventDefault();
          setProblem('');
          fetchFile().catch((error: unknown) => setProblem(messageOf(error)));
        }}
      >
        {children}
      </a>
      {problem !== '' && (
        <span class="problem" role="alert">
          <bdi>{problem}</bdi>
        </span>
      )}
    </>
  );
}

/** Lets the browser save bytes as a file. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
