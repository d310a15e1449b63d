import { createWriteStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WavetrainClient } from '../../../client/client.js';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import { joinFirst } from '../../../common/text.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { printJson } from '../../render/stdout.js';
import { toSingleLine } from '../../render/text.js';
import { artifactLine } from '../../run/written-files.js';
import { UsageError } from '../../input/usage-errors.js';
import { listArtifacts } from './download.js';
import { withRun } from '../kept-run.js';
import type { RunIdFlags } from '../server-client.js';

interface ArtifactFlags extends RunIdFlags {
  readonly name: string | undefined;
  readonly output: string | undefined;
  readonly json: boolean;
}

/** Lists the files of a run, or downloads one of them (D63). */
export async function showArtifacts(flags: ArtifactFlags, context: CliContext): Promise<ExitStatus> {
  const { name } = flags;
  if (name === undefined && flags.output !== undefined) {
    throw new UsageError(
      '--output needs the name of a file',
      'write runs artifacts RUN_ID NAME --output FILE',
    );
  }
  return withRun(flags, context, async ({ client, runId }) => {
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
  const artifacts = await listArtifacts(client, runId);
  if (isJson) return printJson({ artifacts }, context);
  const lines = artifacts.length === 0 ? ['no files'] : artifacts.map(artifactLine);
  context.stdout.write(`${lines.join('\n')}\n`);
}

/** Files that are named to whoever asks for one that there is not. */
const MAX_NAMES = 10;

async function addNames(error: unknown, client: WavetrainClient, runId: string): Promise<WavetrainError> {
  const names = (await listArtifacts(client, runId)).map(({ name }) => toSingleLine(name));
  const hint = names.length === 0 ? 'it has no files' : `it has ${joinFirst(names, MAX_NAMES)}`;
  return new WavetrainError('artifact_not_found', `${errorMessage(error)}\n  ${hint}`, { cause: error });
}

/** Without `--output` an existing file is not replaced. */
async function download(
  client: WavetrainClient,
  runId: string,
  name: string,
  output: string | undefined,
  { stdout, stderr, cwd }: CliContext,
): Promise<void> {
  const response = await client.artifact(runId, name).catch(async (error: unknown) => {
    throw errorCode(error) === 'artifact_not_found' ? await addNames(error, client, runId) : error;
  });
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
