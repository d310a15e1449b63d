import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WavetrainClient } from '../../../client/client.js';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { makeFolders } from '../../../common/files.js';
import type { RunArtifact } from '../../../execution/results.js';
import type { RunRecord } from '../../../runs/record.js';
import type { CliContext } from '../../context.js';
import { filesOnServer, type WrittenFile, type WrittenFiles } from '../../run/written-files.js';

interface DownloadOptions {
  /** The folder of the files, which is created when there is a first one. */
  readonly folder: string;
  /** The value of `--server`, for the command in the message. */
  readonly server: string | undefined;
  readonly signal: AbortSignal;
}

const PAGE_SIZE = 500;

export async function listArtifacts(
  client: WavetrainClient,
  runId: string,
  signal?: AbortSignal,
): Promise<RunArtifact[]> {
  const artifacts: RunArtifact[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.artifacts(runId, { limit: PAGE_SIZE, cursor, ...(signal && { signal }) });
    artifacts.push(...page.artifacts);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return artifacts;
}

/** Downloads all files of a settled run, as `run` would have written them here. Never rejects: what failed is a problem. */
export async function downloadArtifacts(
  client: WavetrainClient,
  record: RunRecord,
  { folder, server, signal }: DownloadOptions,
): Promise<WrittenFiles> {
  const { run_id: runId, artifact_count: total } = record;
  if (total === 0) return { files: [], total };
  const files: WrittenFile[] = [];
  try {
    await makeFolders(folder);
    for (const artifact of await listArtifacts(client, runId, signal)) {
      files.push({ artifact, path: await downloadOne(client, runId, artifact.name, folder, signal) });
    }
    return { files, total: files.length };
  } catch (error) {
    const onServer = filesOnServer(record, server);
    const reason = signal.aborted ? 'interrupted' : errorMessage(error);
    const problem = `downloaded ${files.length} of ${total} files to ${folder}: ${reason}; ${onServer.command ?? ''} has them`;
    return { files: [...files, ...onServer.files.slice(files.length)], total, problem };
  }
}

async function downloadOne(
  client: WavetrainClient,
  runId: string,
  name: string,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  // The server is another's: its files go nowhere else.
  if (name === '' || name === '.' || name === '..' || /[\\/\0]/.test(name)) {
    throw new WavetrainError('internal', `the server names a file ${JSON.stringify(name)}`, {
      fault: 'service',
    });
  }
  const path = join(folder, name);
  const response = await client.artifact(runId, name, { signal });
  await saveBody(response, path, { partial: join(folder, `.wavetrain-${runId}.part`), signal });
  return path;
}

export function openBody({ body }: Pick<Response, 'body'>): Readable {
  return Readable.fromWeb(body ?? new Blob([]).stream());
}

/** As the file of a body, `-` is standard output. */
export const STDOUT = '-';

export async function printBody(response: Response, { stdout }: Pick<CliContext, 'stdout'>): Promise<void> {
  for await (const chunk of openBody(response)) stdout.write(chunk as Uint8Array);
}

/** Writes a body beside the place of the file first: a download that is cut short replaces nothing. */
export async function saveBody(
  response: Response,
  path: string,
  { partial, signal }: { readonly partial: string; readonly signal?: AbortSignal },
): Promise<void> {
  try {
    await rm(partial, { force: true });
    await pipeline(openBody(response), createWriteStream(partial, { flags: 'wx' }), {
      ...(signal && { signal }),
    });
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}
