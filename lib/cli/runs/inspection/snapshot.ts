import type { WavetrainClient } from '../../../client/client.js';
import type { ActorSnapshot } from '../../../client/requests.js';
import { delay } from '../../../common/clock.js';
import { formatNumber } from '../../../common/text.js';
import {
  RUN_ID_DETAILS,
  HISTORY_DETAILS,
  RunIdCommand,
  textOption,
  flagOption,
} from '../../input/shared-options.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { untilSignal } from '../../input/process-events.js';
import { printJson } from '../../render/stdout.js';
import { toSingleLine } from '../../render/text.js';
import { UsageError } from '../../input/usage-errors.js';
import { formatEntry } from './transitions.js';
import { withRun } from '../kept-run.js';

export class RunsSnapshotCommand extends RunIdCommand {
  static override paths = [['runs', 'snapshot']];
  static override usage = RunIdCommand.Usage({
    description: 'shows the actors of a run and their states, for debugging',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      An actor has a path, such as run/wave/summary or plan/sub-runs/extract/wave. A snapshot has the
      state of the machine; the inputs, the attempts and the output of a task are in wavetrain runs show ID --task TASK. Ctrl-C
      stops watching; the run continues.`,
    examples: [
      ['all actors', '$0 runs snapshot 3f9c1a'],
      ['the state of one of them, as JSON', '$0 runs snapshot 3f9c1a --actor run/wave/summary --json'],
      ['every event that actors receive, as it happens', '$0 runs snapshot 3f9c1a --watch'],
    ],
  });

  actor = textOption`--actor <PATH> only this actor and those below it`;
  watch = flagOption`--watch print what the actors receive, and their states, until the run has settled`;
  json = flagOption`--json print the snapshot as one JSON document; with --watch, one per line`;

  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    return withRun(this, context, async ({ client, runId }) => {
      if (this.watch) {
        const watch = (signal: AbortSignal): Promise<ExitStatus> =>
          watchActors(client, runId, this, { ...context, signal });
        return (await untilSignal(context.processEvents, watch)) ?? EXIT.interrupted;
      }
      const { kind } = await client.record(runId);
      const root = kind === 'plan' ? 'plan' : 'run';
      const path = this.actor ?? root;
      const found = findActor(await client.snapshot(runId), root, path);
      if (this.json) printJson(found, context);
      else context.stdout.write(`${treeLines(path, found).join('\n')}\n`);
      return EXIT.done;
    });
  }
}

/** @throws UsageError that names the actors where the path leaves the tree */
function findActor(snapshot: ActorSnapshot, root: string, path: string): ActorSnapshot {
  const [first, ...ids] = path.split('/');
  if (first !== root) throw new UsageError(`there is no actor "${path}"`, `the actors are below "${root}"`);
  let found = snapshot;
  let at = root;
  for (const id of ids) {
    const children = found.children ?? {};
    const child = Object.hasOwn(children, id) ? children[id] : undefined;
    if (child === undefined) {
      const names = Object.keys(children).slice(0, MAX_NAMED);
      const hint = names.length === 0 ? 'has none below it' : `has ${names.join(', ')}`;
      throw new UsageError(`there is no actor "${path}"`, `"${at}" ${hint}`);
    }
    found = child.snapshot;
    at += `/${id}`;
  }
  return found;
}

const MAX_NAMED = 10;

const MAX_CHILDREN = 50;

function treeLines(name: string, { status, value, children = {} }: ActorSnapshot, indent = ''): string[] {
  const state = typeof value === 'string' ? value : status;
  const lines = [`${indent}${toSingleLine(name)}  ${state}`];
  const entries = Object.entries(children);
  for (const [id, child] of entries.slice(0, MAX_CHILDREN))
    lines.push(...treeLines(id, child.snapshot, `${indent}  `));
  const rest = entries.length - MAX_CHILDREN;
  if (rest > 0) lines.push(`${indent}  … and ${formatNumber(rest)} more`);
  return lines;
}

const POLL_MS = 500;

async function watchActors(
  client: WavetrainClient,
  runId: string,
  { actor, json }: RunsSnapshotCommand,
  { stdout, stderr, clock, signal }: CliContext & { readonly signal: AbortSignal },
): Promise<ExitStatus> {
  for (let after = 0; ; ) {
    const { entries, gap, closed, last_seq: last } = await client.inspection(runId, { after, signal });
    if (gap) stderr.write('some entries were dropped\n');
    for (const entry of entries) {
      const isShown = actor === undefined || `${entry.actor}/`.startsWith(`${actor}/`);
      if (isShown) stdout.write(`${json ? JSON.stringify(entry) : formatEntry(entry)}\n`);
    }
    after = entries.at(-1)?.seq ?? last;
    if (after < last) continue;
    if (closed) return EXIT.done;
    await delay(POLL_MS, { clock, signal });
  }
}
