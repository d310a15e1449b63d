import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { Writable } from 'node:stream';
import type { WavetrainClient } from '../../client/client.js';
import { readClientConfig } from '../../common/config/config.js';
import { readServerConfig } from '../../common/config/server-config.js';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import type { ApiKey } from '../../http/auth/authenticate.js';
import type { RunningServer } from '../../http/server-options.js';
import type { RunRecord } from '../../runs/record.js';
import type { KeptRuns, ShellRun } from '../../runs/store/shell/kept-runs.js';
import type { CliContext } from '../context.js';
import { assertRevivable } from '../run/local/earlier-definition.js';
import { loadSetup } from '../input/load-definition.js';
import { readEnvFile } from '../input/flags.js';
import { openSecrets } from '../input/secrets.js';
import { PROGRAM, readPackageJson, readStatecharts } from '../package-info.js';
import { serverFlag } from '../render/run-summary.js';
import { hasHistory, openKeptRuns } from '../run/local/history.js';
import { UsageError } from '../input/usage-errors.js';
import {
  callServer,
  matchRunId,
  resolveRunId,
  type RunIdFlags,
  type ServerFlags,
  UnknownRunError,
} from './server-client.js';

/** The state of a run that has not settled, which its record does not say: its shell is at work, or gone. */
export type KeptState = 'running' | 'interrupted';

/** A run of a server, or of the history of this folder. */
export interface FoundRun {
  readonly client: WavetrainClient;
  readonly runId: string;
  /** True for a run of the history. */
  readonly isKept: boolean;
  /** Undefined for a run that has settled, and for any run of a server. */
  readonly state: KeptState | undefined;
  /** Names the place of the run in commands, such as ` --store FOLDER`; empty for the one that is asked first. */
  readonly placeFlag: string;
}

/**
 * Calls whoever has a run: a server when the flags or the environment name one, else the history of this folder when it has
 * the run, which it shows as it stands, else the default server. @throws as `callServer`, and UsageError unless one run matches
 */
export async function withRun<T>(
  flags: RunIdFlags,
  context: CliContext,
  call: (found: FoundRun) => Promise<T>,
): Promise<T> {
  const history = await openHistory(flags, context);
  const kept = history && findKept(flags, history);
  if (history === undefined || kept === undefined) {
    return callServer(flags, context, async (client) => {
      const runId = await resolveRunId(client, flags.runId);
      return call({ client, runId, isKept: false, state: undefined, placeFlag: serverFlag(flags.server) });
    }).catch(async (error: unknown) => {
      const explained = await explainFirst(error, flags, history && lacksRun(flags, history), context);
      throw await explainElsewhere(explained, flags, context);
    });
  }
  const placeFlag = flags.store === undefined ? '' : ` --store ${flags.store}`;
  return callTemporaryServer(kept, history, context, (client) =>
    call({ client, runId: kept.id, isKept: true, state: stateOf(kept, history), placeFlag }),
  );
}

/** Returns true when the history is asked first: not where a server is named. @throws UsageError when both are named */
async function asksHistory({ server, store, envFile }: ServerFlags, context: CliContext): Promise<boolean> {
  await readEnvFile(envFile, context);
  if (store !== undefined) {
    if (server !== undefined) throw new UsageError('give --server or --store, not both');
    return true;
  }
  return context.keepsHistory && (server ?? readClientConfig(context.env).url) === undefined;
}

/** Opens the history, unless a server is named, or there is none. @throws UsageError when a folder is named that has none */
export async function openHistory(flags: ServerFlags, context: CliContext): Promise<KeptRuns | undefined> {
  if (!(await asksHistory(flags, context))) return undefined;
  const { store } = flags;
  if (hasHistory({ store }, context)) return openKeptRuns({ store }, context);
  if (store === undefined) return undefined;
  throw new UsageError(
    `there is no folder ${store}`,
    `${PROGRAM} run FILE --store ${store} keeps its runs there`,
  );
}

/** Says that the shell of a run is at work or gone; undefined when the run has settled. */
export function stateOf(run: ShellRun, history: KeptRuns): KeptState | undefined {
  if (history.summary(run.id) !== undefined) return undefined;
  const isGone = !history.isAtWork(run.id);
  return isGone ? 'interrupted' : 'running';
}

/** @throws UsageError for a run that another shell is at work on */
export function assertNotAtWork(run: ShellRun, history: KeptRuns): void {
  if (!history.isAtWork(run.id)) return;
  throw new UsageError(
    `run ${run.id} is still at work in process ${run.command.pid}`,
    'wait until it has ended, or end it there with Ctrl-C',
  );
}

/** A record that says of a run of the history what is true of it: rebuilding it has stopped what was at work. */
export function withState(record: RunRecord, { state }: Pick<FoundRun, 'state'>): ShownRecord {
  return state === undefined
    ? record
    : { ...record, status: state, settled: state === 'interrupted', finished_at: null };
}

/** A record, of which a run of the history may be `interrupted`. */
export type ShownRecord = Omit<RunRecord, 'status'> & { readonly status: RunRecord['status'] | KeptState };

/** Finds a run of the history. @throws UsageError when several match, and when the history was named and has none */
export function findKept(flags: RunIdFlags, history: KeptRuns): ShellRun | undefined {
  const ids = matchingIds(flags, history);
  const found = ids.length === 0 ? undefined : history.read(matchRunId(flags.runId, ids, ''));
  if (found === undefined && flags.store !== undefined) throw new UsageError(lacksRun(flags, history));
  return found;
}

function matchingIds({ runId }: RunIdFlags, history: KeptRuns): string[] {
  const part = runId.toLowerCase();
  return part.length < 4 ? [] : history.ids().filter((id) => id.startsWith(part) || id.endsWith(part));
}

function lacksRun({ runId }: RunIdFlags, { path }: KeptRuns): string {
  return `${path} has no run whose id begins or ends with "${runId}"`;
}

/** Says what the history lacks before it says why the default server, which nobody has named, does not have it either. */
export async function explainFirst(
  error: unknown,
  flags: ServerFlags,
  lacking: string | undefined,
  context: CliContext,
): Promise<unknown> {
  const code = errorCode(error);
  if (code !== 'server_unreachable' && code !== 'run_not_found') return error;
  if (!(await asksHistory(flags, context))) return error;
  const server = code === 'run_not_found' ? 'nor has the default server' : 'and there is no server to ask';
  const message = `${lacking ?? NO_HISTORY}, ${server}:\n  ${errorMessage(error)}`;
  return new WavetrainError(code, message, { cause: error });
}

/** Says in a folder with runs that something is of servers alone, where no server is named and there is none to ask. */
export async function explainServersOnly(
  thrown: unknown,
  what: string,
  flags: ServerFlags,
  context: CliContext,
): Promise<unknown> {
  if (errorCode(thrown) !== 'server_unreachable' || (await openHistory(flags, context)) === undefined)
    return thrown;
  const ofFolder = `${what} are of servers (${PROGRAM} runs list lists the runs of this folder)`;
  return explainFirst(thrown, flags, ofFolder, context);
}

const NO_HISTORY = `this folder has no runs (${PROGRAM} run FILE keeps its runs in .wavetrain)`;

/** Says of a run that the server of the environment does not show that the history of this folder has it, when it does. */
export async function explainElsewhere(
  thrown: unknown,
  flags: RunIdFlags,
  context: CliContext,
): Promise<unknown> {
  const code = errorCode(thrown);
  const isMissing = code === 'run_not_found';
  if (!isMissing && code !== 'server_unreachable' && !(thrown instanceof UnknownRunError)) return thrown;
  if (flags.server !== undefined || !context.keepsHistory || !hasHistory({}, context)) return thrown;
  if (await asksHistory(flags, context)) return thrown;
  const history = await openKeptRuns({}, context).catch(() => undefined);
  if (history === undefined || matchingIds(flags, history).length === 0) return thrown;
  const hint = `the history of this folder has it: add --store ${relative(context.cwd, history.path)}`;
  if (thrown instanceof UnknownRunError) return new UsageError(thrown.message, hint);
  // The hint of a run that is missing says where it may have gone.
  const said = isMissing && thrown instanceof Error ? thrown.cause : thrown;
  const message = `${errorMessage(said)}\n  ${hint}`;
  return new WavetrainError(isMissing ? 'run_not_found' : 'server_unreachable', message, { cause: thrown });
}

/** Refuses a run of the history where a command, such as `runs watch`, is for runs of servers. @throws UsageError */
export async function assertOnServer(
  flags: RunIdFlags,
  command: string,
  findHint: (runId: string) => string,
  context: CliContext,
): Promise<void> {
  const history = await openHistory(flags, context);
  const kept = history && findKept(flags, history);
  if (history === undefined || kept === undefined) return;
  const message = `${command} is for runs of a server, and ${kept.id} is a run of ${history.path}`;
  throw new UsageError(message, findHint(kept.id));
}

/** Enough for any run of the history. */
const MANY_YEARS_S = 10 * 365 * 86_400;

/** Starts a server on this machine for whoever knows its key, with one run of the history, and closes it after the call. */
async function callTemporaryServer<T>(
  run: ShellRun,
  history: KeptRuns,
  context: CliContext,
  call: (client: WavetrainClient) => Promise<T>,
): Promise<T> {
  const { WavetrainClient: Client } = await import('../../client/index.js');
  const key = Buffer.from(context.secretBytes(32)).toString('hex');
  const server = await startTemporaryServer(run, history, context, key);
  try {
    await server.restored;
    return await call(new Client({ url: server.url, key, clock: context.clock, retries: 0 }));
  } finally {
    await server.close(0);
  }
}

async function startTemporaryServer(
  run: ShellRun,
  history: KeptRuns,
  context: CliContext,
  key: string,
): Promise<RunningServer> {
  const { ALL_TENANTS, createLog, serverFileAccess, ShellStore, startServer } = await import(
    '../lazy/server.js'
  );
  const { tools, mcp, cwd } = run.command;
  const text = JSON.stringify(run.submission);
  const setup = await loadSetup({ text, files: new Map(), folder: cwd }, { tools, mcp }, context).catch(
    (error: unknown) => {
      throw addToolsHint(error, run, 'it can be shown when they can be loaded again');
    },
  );
  await assertRevivable(run, { ...setup, complete: true });
  const config = readServerConfig({ SERVICE_API_PORT: '0', SERVICE_RUN_TTL: String(MANY_YEARS_S) });
  const { clock, newId } = context;
  const keys: ApiKey[] = [
    {
      name: 'shell',
      sha256: createHash('sha256').update(key).digest('hex'),
      tenants: [ALL_TENANTS],
      scopes: ['read'],
    },
  ];
  return startServer({
    config,
    catalog: setup.catalog,
    files: serverFileAccess([]),
    keys,
    secrets: await openSecrets(context),
    log: createLog({ stream: new NullStream(), interactive: false, colours: false, level: 'silent', clock }),
    clock,
    newId,
    version: readPackageJson().version,
    statecharts: readStatecharts,
    store: new ShellStore({ ...history.places, earlier: history.withFacts(run) }),
  });
}

/** Says which tools a run had, where they cannot be loaded. @param hint what to do about it */
export function addToolsHint(error: unknown, { id, command }: ShellRun, hint: string): unknown {
  const { tools = [] } = command;
  if (errorCode(error) !== 'bad_tool_file' || tools.length === 0) return error;
  const flags = tools.map((file) => `--tools ${file}`).join(' ');
  const message = `${errorMessage(error)}\n  run ${id} had ${flags}: ${hint}`;
  return new WavetrainError('bad_tool_file', message, { cause: error });
}

class NullStream extends Writable {
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}
