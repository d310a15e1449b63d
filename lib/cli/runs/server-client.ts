import type { WavetrainClient } from '../../client/client.js';
import type { ListQuery } from '../../client/requests.js';
import { readClientConfig } from '../../common/config/config.js';
import { type ErrorCode, errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import type { RunSummary } from '../../common/wire/run-summary.js';
import type { CliContext } from '../context.js';
import { readEnvFile } from '../input/flags.js';
import type { CatalogCommand } from '../input/shared-options.js';
import { PROGRAM } from '../package-info.js';
import { UsageError } from '../input/usage-errors.js';

/** Names the server to call. There is no flag for the API key, because other users can see command lines. */
export interface ServerFlags {
  readonly server: string | undefined;
  /** The folder of a history that is asked instead. */
  readonly store?: string | undefined;
  readonly envFile: string | undefined;
}

export interface RunIdFlags extends ServerFlags {
  readonly runId: string;
}

/** Few, because the user is waiting. */
const RETRIES = 1;

/** Calls a server. Adds a hint to the error when the server is unreachable, rejects the key or does not have the run. */
export async function callServer<T>(
  { server, envFile }: ServerFlags,
  context: CliContext,
  call: (client: WavetrainClient) => Promise<T>,
): Promise<T> {
  await readEnvFile(envFile, context);
  const { WavetrainClient } = await import('../../client/index.js');
  const { url, key } = readClientConfig(context.env);
  const client = new WavetrainClient({ url: server ?? url, key, clock: context.clock, retries: RETRIES });
  try {
    return await call(client);
  } catch (thrown) {
    throw withHint(thrown);
  }
}

/** Refuses the flags that add tools to this process. @throws UsageError that says how a server gets them */
export function assertNoOwnTools({ tools, mcp }: Partial<Pick<CatalogCommand, 'tools' | 'mcp'>>): void {
  const refuse = (flag: string, hint: string): never => {
    throw new UsageError(`--${flag} does not go with --server`, `a server has its own ${hint}`);
  };
  if (tools !== undefined)
    refuse('tools', `tools: ${PROGRAM} serve --tools FILE, or SERVICE_TOOLS, adds yours`);
  if (mcp !== undefined)
    refuse('mcp', `MCP servers: ${PROGRAM} serve --mcp FILE, or SERVICE_MCP_FILE, adds yours`);
}

const START_HINT = `start one with ${PROGRAM} serve, or name another with --server or WAVETRAIN_SERVER`;
const KEY_HINT = 'set WAVETRAIN_API_KEY to a key that the server accepts';
const SCOPE_HINT = 'the operator of the server gives it to a key under "scopes" in SERVICE_API_KEYS_FILE';
/** Why a server may no longer have a run (D26). */
const RETENTION_HINT = [
  'a server without SERVICE_STORE loses its runs when it stops; a settled one is removed after SERVICE_RUN_TTL, or when there',
  'are more than SERVICE_RUN_KEEP, or it was deleted;',
  `${PROGRAM} runs list shows the runs that it has`,
].join(' ');

function withHint(thrown: unknown): unknown {
  const code = errorCode(thrown);
  switch (code) {
    case 'server_unreachable':
      return addHint(code, thrown, START_HINT);
    case 'run_not_found':
      return addHint(code, thrown, RETENTION_HINT);
    case 'unauthorized':
      return addHint(code, thrown, KEY_HINT);
    case 'forbidden':
      return errorMessage(thrown).includes('lacks the scope') ? addHint(code, thrown, SCOPE_HINT) : thrown;
    default:
      return thrown;
  }
}

function addHint(code: ErrorCode, thrown: unknown, hint: string): WavetrainError {
  return new WavetrainError(code, `${errorMessage(thrown)}\n  ${hint}`, { cause: thrown });
}

const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PART_OF_RUN_ID = /^[0-9a-f-]{4,}$/;
const MAX_IDS_LISTED = 5;

/** Returns the whole run id for its beginning or end. @throws UsageError unless exactly one run of the server matches */
export async function resolveRunId(client: WavetrainClient, idOrPart: string): Promise<string> {
  const part = readIdPart(idOrPart);
  if (RUN_ID.test(part)) return part;
  const { runs } = await client.list({ id: part, limit: MAX_PAGE_SIZE });
  const ids = runs.map(({ run_id }) => run_id);
  return matchRunId(part, ids, RETENTION_HINT);
}

/** @throws UsageError for what is no part of an id */
function readIdPart(idOrPart: string): string {
  const part = idOrPart.toLowerCase();
  if (PART_OF_RUN_ID.test(part)) return part;
  throw new UsageError(
    `"${idOrPart}" is neither a run id nor at least 4 characters of its beginning or end`,
    `${PROGRAM} runs list shows the ids`,
  );
}

/** A server, or a history, has no run of an id, or of a part of one. */
export class UnknownRunError extends UsageError {}

/** Finds the one run whose id begins or ends with a part. @param hint says where runs may have gone. @throws UsageError */
export function matchRunId(idOrPart: string, ids: readonly string[], hint: string): string {
  const part = readIdPart(idOrPart);
  const matches = ids.filter((id) => id.startsWith(part) || id.endsWith(part));
  const [runId, ...others] = matches;
  if (runId === undefined) {
    throw new UnknownRunError(`no run has an id that begins or ends with "${part}"`, hint);
  }
  if (others.length > 0) {
    const more = matches.length > MAX_IDS_LISTED ? ', …' : '';
    throw new UsageError(
      `${matches.length} runs have an id that begins or ends with "${part}"`,
      `write more of one id: ${matches.slice(0, MAX_IDS_LISTED).join(', ')}${more}`,
    );
  }
  return runId;
}

const MAX_PAGE_SIZE = 500;

export interface RunList<R = RunSummary> {
  readonly runs: readonly R[];
  /** There are more runs than were asked for. */
  readonly hasMore: boolean;
  /** Runs of an earlier version that the server is still bringing over: the list lacks them. */
  readonly migrating?: number | undefined;
}

export async function listNewestRuns(
  client: WavetrainClient,
  query: ListQuery,
  most: number,
): Promise<RunList> {
  const runs: RunSummary[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(most - runs.length, MAX_PAGE_SIZE);
    const page = await client.list({ ...query, limit, cursor });
    runs.push(...page.runs);
    const { migrating } = page;
    if (page.next_cursor === null) return { runs, hasMore: false, migrating };
    if (runs.length >= most) return { runs, hasMore: true, migrating };
    cursor = page.next_cursor;
  }
}
