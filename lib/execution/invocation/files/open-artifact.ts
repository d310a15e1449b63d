import type { FileHandle } from 'node:fs/promises';
import { errorMessage, ToolError } from '../../../common/errors.js';
import { ellipsize, joinFirst } from '../../../common/text.js';
import type { OpenedArtifact } from '../../../tools/files/artifacts.js';
import { readOpened } from '../../../tools/files/regular-file.js';
import type { ArtifactStore } from './artifact-store.js';

const MAX_SHOWN = 100;
const MAX_LISTED = 10;

/**
 * Opens a file of the run for a tool: one that a task has written which has succeeded. Rejects with a ToolError, not retryable, that
 * names the files that there are.
 */
export function openArtifact(store: ArtifactStore, runId: string, name: string): Promise<OpenedArtifact> {
  const found = store.find(runId, name);
  if (found === undefined) return Promise.reject(describeMissing(store, runId, name));
  const { path, artifact } = found;
  const pieces = readPieces(name, () => store.openFile(path));
  return Promise.resolve({ size: artifact.size, media_type: artifact.media_type, pieces });
}

async function* readPieces(
  name: string,
  open: () => Promise<FileHandle>,
): AsyncGenerator<Uint8Array, undefined> {
  let handle: FileHandle;
  try {
    handle = await open();
  } catch (error) {
    throw ToolError.nonRetryable(`the file "${name}" of the run cannot be read: ${errorMessage(error)}`);
  }
  return yield* readOpened(handle);
}

function describeMissing(store: ArtifactStore, runId: string, name: string): ToolError {
  const names = store.artifactsOf(runId).map((artifact) => artifact.name);
  const known = names.length === 0 ? 'it has none yet' : `it has ${joinFirst(names, MAX_LISTED)}`;
  const shown = JSON.stringify(ellipsize(name, MAX_SHOWN));
  return ToolError.nonRetryable(`the run has no file ${shown}: ${known}`);
}
