import type { Json } from '../../../lib/common/json/json.js';
import type { ActorNode, ActorTree } from './actor-tree.js';
import { readDetail } from './timeline.js';

/** Where a run waits at the moment that the tree shows. */
export interface Pause {
  /** Path of the run that waits: the root, or a sub-run of a plan. */
  readonly run: string;
  /** The wave that comes next, from 1; undefined when the entries do not say. */
  readonly wave: number | undefined;
  /** The tasks of that wave, as far as the snapshot lists them. */
  readonly tasks: readonly string[];
  /** A task has failed, so that the run fails when it goes on. */
  readonly hasFailed: boolean;
}

/** A plan may have many sub-runs that wait. */
const MOST_PAUSES = 3;

/** Finds the first runs that wait at a breakpoint. */
export function findPauses({ roots }: ActorTree): Pause[] {
  const pauses: Pause[] = [];
  const runs = (nodes: readonly ActorNode[]): void => {
    for (const node of nodes) {
      if (pauses.length === MOST_PAUSES) return;
      if (node.src === 'plan') runs(node.children);
      // A plan may have very many sub-runs, of which none waits.
      else if (node.src === 'sub-runs' && node.counts.has('paused')) runs(node.children);
      else if (node.src === 'run' && node.entry?.state === 'paused') pauses.push(readPause(node));
    }
  };
  runs(roots);
  return pauses;
}

function readPause({ path, entry }: ActorNode): Pause {
  const context = entry && memberOf(readDetail(entry)?.snapshot, 'context');
  const waves = memberOf(context, 'waves');
  const executed = memberOf(context, 'wavesExecuted');
  const failed = memberOf(context, 'failed');
  const index = typeof executed === 'number' ? executed : undefined;
  const next = Array.isArray(waves) && index !== undefined ? waves[index] : undefined;
  const tasks = Array.isArray(next) ? next.filter((task): task is string => typeof task === 'string') : [];
  const hasFailed = Array.isArray(failed) && failed.length > 0;
  return { run: path, wave: index === undefined ? undefined : index + 1, tasks, hasFailed };
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
