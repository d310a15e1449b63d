import type { WavetrainClient } from '../../client/client.js';
import type { ListQuery } from '../../client/requests.js';
import { readClientConfig } from '../../common/config.js';
import { type ErrorCode, errorCode, messageOf, WavetrainError } from '../../common/errors.js';
import type { RunSummary } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { readEnvFile } from '../input/flags.js';
import { PROGRAM } from '../package-info.js';
import { BadUsage } from '../usage-errors.js';

/** Which server is asked. The key comes from the environment alone: others see command lines. */
export interface ServerFlags {
  readonly server: string | undefined;
  readonly envFile: string | undefined;
}

/** Somebody waits at the keyboard: a server that is not there is told soon. */
const RETRIES = 1;

/** Does something with a server; when that fails for the way to it, the error says what to do. */
export async function ask<T>(
  { server, envFile }: ServerFlags,
  context: CliContext,
  what: (client: WavetrainClient) => Promise<T>,
): Promise<T> {
  await readEnvFile(envFile, context);
  const { WavetrainClient } = await context.services.client();
  const { url, key } = readClientConfig(context.env);
  const client = new WavetrainClient({ url: server ?? url, key, clock: context.clock, retries: RETRIES });
  try {
    return await what(client);
  } catch (thrown) {
    throw withAdvice(thrown);
  }
}

const START = `start one with ${PROGRAM} serve, or name another with --server or WAVETRAIN_SERVER`;
const GIVE_KEY = 'put a key that the server knows into WAVETRAIN_API_KEY';

function withAdvice(thrown: unknown): unknown {
  switch (errorCode(thrown)) {
    case 'server_unreachable':
      return advised('server_unreachable', thrown, START);
    case 'run_not_found':
      return advised('run_not_found', thrown, KEPT);
    case 'unauthorized':
      return advised('unauthorized', thrown, GIVE_KEY);
    default:
      return thrown;
  }
}

function advised(code: ErrorCode, thrown: unknown, advice: string): WavetrainError {
  return new WavetrainError(code, `${messageOf(thrown)}\n  ${advice}`, { cause: thrown });
}

/** Why a run may be gone (D26). */
export const KEPT = [
  'runs live in the memory of the server: they are gone when it ends, and settled ones are kept for a while only',
  '(SERVICE_RUN_TTL seconds, usually a day, and SERVICE_RUN_KEEP runs, usually 1000, the oldest go first);',
  `${PROGRAM} runs list shows those that are there`,
].join(' ');

const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PART = /^[0-9a-f-]{4,}$/;

const MOST_NAMED = 5;

/**
 * The id of a run that was named by it, or by its beginning or end.
 *
 * @throws BadUsage when no run has such an id, or more than one
 */
export async function findRun(client: WavetrainClient, named: string): Promise<string> {
  const name = named.toLowerCase();
  if (WHOLE.test(name)) return name;
  if (!PART.test(name)) {
    throw new BadUsage(
      `"${named}" is no run id, nor at least 4 characters of the beginning or end of one`,
      LIST,
    );
  }
  const found: string[] = [];
  for await (const { run_id } of client.runs({ limit: LARGEST_PAGE })) {
    if (run_id.startsWith(name) || run_id.endsWith(name)) found.push(run_id);
  }
  const [only, ...others] = found;
  if (only === undefined) throw new BadUsage(`there is no run whose id begins or ends with "${name}"`, KEPT);
  if (others.length > 0) throw ambiguous(name, found);
  return only;
}

const LIST = `${PROGRAM} runs list shows the ids`;

function ambiguous(name: string, found: readonly string[]): BadUsage {
  const more = found.length > MOST_NAMED ? ', …' : '';
  return new BadUsage(
    `${found.length} runs have an id that begins or ends with "${name}"`,
    `name one of them: ${found.slice(0, MOST_NAMED).join(', ')}${more}`,
  );
}

/** Runs that a server tells at once. */
const LARGEST_PAGE = 500;

/** The newest runs, at most so many; `hasMore` when the server has others. */
interface Newest {
  readonly runs: readonly RunSummary[];
  readonly hasMore: boolean;
}

export async function newestRuns(client: WavetrainClient, query: ListQuery, most: number): Promise<Newest> {
  const runs: RunSummary[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(most - runs.length, LARGEST_PAGE);
    const page = await client.list({ ...query, limit, cursor });
    runs.push(...page.runs);
    if (page.next_cursor === null) return { runs, hasMore: false };
    if (runs.length >= most) return { runs, hasMore: true };
    cursor = page.next_cursor;
  }
}
