import type { WavetrainClient } from '../../../client/client.js';
import type { FolderPipeline, FolderPipelinePage } from '../../../client/requests.js';
import { errorCode, WavetrainError } from '../../../common/errors.js';
import { nearest } from '../../../definition/did-you-mean.js';
import type { CliContext } from '../../context.js';
import { UsageError } from '../../input/usage-errors.js';
import { PROGRAM } from '../../package-info.js';
import { serverFlag } from '../../render/run-summary.js';
import { formatAge } from '../../render/text.js';
import { callServer, type ServerFlags } from '../../runs/server-client.js';

export interface NamedFlags extends ServerFlags {
  readonly id: string;
  readonly tenant: string | undefined;
}

/** The options of a command on a definition in the folder of a server, as its help describes them. */
export const NAMED_ID = { name: 'ID', required: true } as const;
export const NAMED_TENANT_OPTION = '<ID> tenant whose pipeline it is; default "default"';

export const NO_PIPELINE_FOLDER =
  'the server has no folder of pipelines: start it with SERVICE_PIPELINES=FOLDER, the folder of your files';

/** Calls a server about one definition of its folder. Says which one may be meant when there is none with that id. */
export async function callNamed<T>(
  flags: NamedFlags,
  command: string,
  context: CliContext,
  call: (client: WavetrainClient) => Promise<T>,
): Promise<T> {
  return callServer(flags, context, async (client) => {
    try {
      return await call(client);
    } catch (error) {
      throw errorCode(error) === 'pipeline_not_found' ? await explain(error, flags, command, client) : error;
    }
  });
}

/** A definition without a usable version is there, but cannot be run. */
async function explain(
  error: unknown,
  { id, tenant, server }: NamedFlags,
  command: string,
  client: WavetrainClient,
): Promise<unknown> {
  const { enabled, pipelines } = await readAllPipelines(client, tenant);
  if (!enabled) return new WavetrainError('pipeline_not_found', NO_PIPELINE_FOLDER, { cause: error });
  const ids = pipelines.map((pipeline) => pipeline.id);
  if (ids.includes(id)) {
    if (command !== 'run') return error;
    const message = `"${id}" has errors, and the server has seen no version without any`;
    return new UsageError(message, `${PROGRAM} pipelines show ${id}${serverFlag(server)} lists them`);
  }
  const meant = nearest(id, ids);
  const hint =
    meant === undefined
      ? `${PROGRAM} pipelines list${serverFlag(server)} lists those that it has`
      : `did you mean ${PROGRAM} pipelines ${command} ${meant}${serverFlag(server)}?`;
  return new UsageError(`the server has no pipeline "${id}"`, hint);
}

/** The largest page of a server. */
const PER_PAGE = 500;

/** Lists the definitions in the folder of a server, page after page. */
export async function readAllPipelines(
  client: WavetrainClient,
  tenant_id: string | undefined,
): Promise<Pick<FolderPipelinePage, 'enabled' | 'pipelines'>> {
  const query = { tenant_id, limit: PER_PAGE };
  const { enabled, ...first } = await client.pipelines.list(query);
  const pipelines = [...first.pipelines];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const page = await client.pipelines.list({ ...query, cursor });
    pipelines.push(...page.pipelines);
    cursor = page.next_cursor;
  }
  return { enabled, pipelines };
}

/** As in `0 6 * * 1-5 Europe/Berlin`; null when there is none. */
export function describeSchedule(schedule: FolderPipeline['schedule']): string | null {
  if (schedule === null) return null;
  const { cron, timezone } = schedule;
  return `${cron.join('; ')}${timezone === 'UTC' ? '' : ` ${timezone}`}`;
}

/** As in `in 3 h`. */
export function describeNext(schedule: FolderPipeline['schedule'], now: number): string {
  if (schedule === null) return '-';
  const [next] = schedule.next_runs;
  if (schedule.paused) return 'paused';
  return next === undefined ? 'never' : `in ${formatAge(Math.max(0, Date.parse(next) - now))}`;
}

/** As in `succeeded, 3 h ago`. @param paint colours the status */
export function describeRun(
  { status, created_at: createdAt }: FolderPipeline['last_runs'][number],
  now: number,
  paint: (status: string) => string = String,
): string {
  return `${paint(status)}, ${formatAge(now - Date.parse(createdAt))} ago`;
}

/** The first error of a file as it is now; undefined when it has none. */
export function firstError({ ok, problems }: FolderPipeline): string | undefined {
  return ok ? undefined : problems.find(({ severity }) => severity === 'error')?.message;
}
