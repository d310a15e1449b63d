import { createWriteStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WavetrainClient } from '../../client/client.js';
import { errorCode, errorMessage, WavetrainError } from '../../common/errors.js';
import type { RunArtifact } from '../../execution/results.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { printJson } from '../render/stdout.js';
import { formatCount, toSingleLine } from '../render/text.js';
import { UsageError } from '../usage-errors.js';
import { callServer, resolveRunId, type RunIdFlags } from './server-client.js';

interface ArtifactFlags extends RunIdFlags {
  readonly name: string | undefined;
  readonly output: string | undefined;
  readonly json: boolean;
}

const PAGE_SIZE = 500;

/** Lists the files of a run, or downloads one of them (D63). */
export async function showArtifacts(flags: ArtifactFlags, context: CliContext): Promise<ExitStatus> {
  const { name } = flags;
  if (name === undefined && flags.output !== undefined) {
    throw new UsageError(
      '--output needs the name of a file',
      'write runs artifacts RUN_ID NAME --output FILE',
    );
  }
  return callServer(flags, context, async (client) => {
    const runId = await resolveRunId(client, flags.runId);
    if (name !== undefined) await download(client, runId, name, flags.output, context);
    else await list(client, runId, flags.json, context);
    return EXIT.done;
  });
}

async function list(
  client: WavetrainClient,
  runId: string,
  isJson: boolean,
  context: CliContext,
): Promise<void> {
  const artifacts: RunArtifact[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.artifacts(runId, { limit: PAGE_SIZE, cursor });
    artifacts.push(...page.artifacts);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  if (isJson) return printJson({ artifacts }, context);
  const lines = artifacts.length === 0 ? ['no files'] : artifacts.map(artifactLine);
  context.stdout.write(`${lines.join('\n')}\n`);
}

/** `report.xlsx  12,345 bytes  from export_rows[3]` */
export function artifactLine({ name, sub_pipeline: part, task_id: taskId, item, size }: RunArtifact): string {
  const task = `${part === undefined ? '' : `${part}/`}${taskId}${item === undefined ? '' : `[${item}]`}`;
  return `${toSingleLine(name)}  ${formatCount(size, 'byte')}  from ${toSingleLine(task)}`;
}

/** Without `--output` an existing file is not replaced. */
async function download(
  client: WavetrainClient,
  runId: string,
  name: string,
  output: string | undefined,
  { stdout, stderr, cwd }: CliContext,
): Promise<void> {
  const response = await client.artifact(runId, name);
  const body = Readable.fromWeb(response.body ?? new Blob([]).stream());
  if (output === '-') {
    for await (const chunk of body) stdout.write(chunk as Uint8Array);
    return;
  }
  const path = resolve(cwd, output ?? basename(name));
  try {
    await pipeline(body, createWriteStream(path, { flags: output === undefined ? 'wx' : 'w' }));
  } catch (error) {
    const hint = errorCode(error) === 'EEXIST' ? ': name another with --output' : '';
    throw new WavetrainError('unreadable_file', `cannot write ${path}: ${errorMessage(error)}${hint}`, {
      cause: error,
    });
  }
  stderr.write(`wrote ${toSingleLine(path)}\n`);
}
