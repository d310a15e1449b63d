import type { RunStatus } from '../../../machines/vocabulary.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readNumber } from '../flags/numbers.js';
import { printJson } from '../json-output.js';
import { styleOf } from '../style.js';
import { terminalOf } from '../terminal.js';
import { ask, type ServerFlags } from './ask.js';
import { listLines } from './list-lines.js';
import { newestRuns } from './pages.js';

export interface ListFlags extends ServerFlags {
  readonly status: string | undefined;
  readonly pipeline: string | undefined;
  readonly tenant: string | undefined;
  readonly limit: string | undefined;
  readonly all: boolean;
  readonly json: boolean;
}

const STATUSES: readonly RunStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];
const USUAL_LIMIT = 20;
const LIMIT = { least: 1, whole: true, unit: 'runs', example: '50' } as const;

/** Lists runs of a server, the newest first. */
export async function listRuns(flags: ListFlags, context: CliContext): Promise<ExitStatus> {
  const limit = readNumber('--limit', flags.limit, LIMIT) ?? USUAL_LIMIT;
  if (flags.all && flags.limit !== undefined) throw new BadUsage('give --limit or --all, not both');
  const query = { status: statusIn(flags), pipeline_id: flags.pipeline, tenant_id: flags.tenant };
  const most = flags.all ? Number.POSITIVE_INFINITY : limit;
  const { runs, hasMore } = await ask(flags, context, (client) => newestRuns(client, query, most));
  const terminal = terminalOf(context.stdout, context.env);
  if (flags.json) printJson({ runs }, context);
  else {
    const lines = listLines(runs, { terminal, style: styleOf(terminal), now: context.clock.now() });
    context.stdout.write(`${lines.join('\n')}\n`);
    if (hasMore) context.stderr.write('there are more: --all lists every run, --limit N so many\n');
  }
  return EXIT.done;
}

function statusIn({ status }: ListFlags): RunStatus | undefined {
  if (status === undefined) return undefined;
  const known = STATUSES.find((one) => one === status);
  if (known !== undefined) return known;
  throw new BadUsage(`--status takes ${STATUSES.join(', ')}, not "${status}"`);
}
