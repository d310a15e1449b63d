import type { RestoredRun } from '../run-factory.js';
import type { RunEntry } from '../run-entry.js';

/** So many settled runs are rebuilt at once: one whose facts nobody waits for holds up no other. */
const MAX_REBUILDS = 16;

interface RestoringRegistry {
  enter(run: RestoredRun): RunEntry;
  goOn(entry: RunEntry): void;
  /** Receives a settled run that has come to another state than it had; a warning has named it. */
  leaveOut(entry: RunEntry): void;
  isClosing(): boolean;
}

/**
 * Enters the runs of a store into a registry (D68): those that had begun go on at once, queued ones when all of these are
 * there, and settled ones are rebuilt.
 *
 * @param runs those that have not settled first
 * @returns the settled runs, and how many others go on; undefined when the registry is closed before
 */
export async function restoreEntries(
  runs: AsyncIterable<RestoredRun>,
  registry: RestoringRegistry,
): Promise<{ readonly settled: readonly RunEntry[]; readonly goingOn: number } | undefined> {
  const queued: RunEntry[] = [];
  const settled: RunEntry[] = [];
  const rebuilds = new Set<Promise<void>>();
  let goingOn = 0;
  const beginQueued = (): void => {
    for (const entry of queued.splice(0)) registry.goOn(entry);
  };
  const rebuild = async (entry: RunEntry): Promise<void> => {
    await entry.run.rebuild();
    if (entry.run.isSettled) settled.push(entry);
    else registry.leaveOut(entry);
  };
  for await (const restored of runs) {
    const { run } = restored;
    const entry = registry.enter(restored);
    if (registry.isClosing()) return undefined;
    if (run.wasSettled) {
      beginQueued();
      const rebuilt = rebuild(entry).finally(() => rebuilds.delete(rebuilt));
      rebuilds.add(rebuilt);
      if (rebuilds.size === MAX_REBUILDS) await Promise.race(rebuilds);
      continue;
    }
    goingOn++;
    // One that had begun had a slot already.
    if (run.hasBegun) registry.goOn(entry);
    else queued.push(entry);
  }
  await Promise.all(rebuilds);
  if (registry.isClosing()) return undefined;
  beginQueued();
  return { settled, goingOn };
}
