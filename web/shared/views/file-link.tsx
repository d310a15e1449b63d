import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { RunConnection } from '../server/run-connection.js';
import { messageOf } from '../server/server.js';

interface FileLinkProps {
  readonly run: RunConnection;
  /** Below the path of the run. */
  readonly path: string;
  /** The name that the file is saved with. */
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Downloads a file of the run. A link cannot carry the key, so the file is fetched first where there is one. */
export function FileLink({ run, path, name, children }: FileLinkProps) {
  const [problem, setProblem] = useState('');
  const { server } = run;
  const fetchFile = async (): Promise<void> => {
    const response = await server.open(run.path(path));
    saveFile(await response.blob(), name);
  };
  return (
    <>
      <a
        class="button"
        href={run.path(path)}
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
