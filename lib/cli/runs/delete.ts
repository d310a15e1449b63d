import { formatCount } from '../../common/text.js';
import type { RunFolders } from '../../runs/store/run-folders.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { UsageError } from '../input/usage-errors.js';
import { assertNotAtWork, findKept, openHistory } from './kept-run.js';
import { callServer, resolveRunId, type ServerFlags } from './server-client.js';

interface DeleteFlags extends ServerFlags {
  readonly runId: string | undefined;
  readonly all: boolean;
}

/** Deletes a settled run of a server or of the history of this folder, or all runs of the history. */
export async function deleteRuns(flags: DeleteFlags, context: CliContext): Promise<ExitStatus> {
  const { runId, all } = flags;
  if ((runId === undefined) !== all) throw new UsageError('write the id of a run, or --all');
  const folders = await openHistory(flags, context);
  if (runId === undefined) {
    if (folders === undefined) {
      throw new UsageError(
        '--all is for the history of a folder, and there is none here',
        'the runs of a server are deleted one by one',
      );
    }
    context.stderr.write(`deleted ${formatCount(deleteAll(folders), 'run')} of ${folders.path}\n`);
    return EXIT.done;
  }
  const kept = folders && findKept({ ...flags, runId }, folders);
  if (folders !== undefined && kept !== undefined) {
    assertNotAtWork(kept, folders);
    assertNotNeeded(kept.id, folders);
    folders.remove(kept.id);
    context.stderr.write(`deleted ${kept.id}\n`);
    return EXIT.done;
  }
  const deleted = await callServer(flags, context, async (client) => {
    const id = await resolveRunId(client, runId);
    await client.remove(id);
    return id;
  });
  context.stderr.write(`deleted ${deleted}\n`);
  return EXIT.done;
}

/** Returns the number of runs that were deleted: those that are at work stay, and those whose files they may use. */
function deleteAll(folders: RunFolders): number {
  const ids = folders.ids();
  const atWork = ids.filter((id) => folders.isStillAtWork(id));
  const staying = new Set([...atWork, ...[...folders.sourcesOf(atWork).values()].flat()]);
  const leaving = ids.filter((id) => !staying.has(id));
  for (const id of leaving) folders.remove(id);
  return leaving.length;
}

/** @throws UsageError for a run whose files another one may use */
function assertNotNeeded(id: string, folders: RunFolders): void {
  const found = [...folders.sourcesOf(folders.ids())].find(([, sources]) => sources.includes(id));
  if (found === undefined) return;
  const [user] = found;
  throw new UsageError(
    `run ${id} has files that its rerun ${user} may use`,
    'delete that one first, or --all',
  );
}
