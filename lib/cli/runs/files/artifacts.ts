import { createWriteStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Option } from 'clipanion';
import type { WavetrainClient } from '../../../client/client.js';
import { errorCode, errorMessage, WavetrainError } from '../../../common/errors.js';
import { joinFirst } from '../../../common/text.js';
import {
  RUN_ID_DETAILS,
  HISTORY_DETAILS,
  RunIdCommand,
  textOption,
  flagOption,
} from '../../input/shared-options.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { printJson } from '../../render/stdout.js';
import { toSingleLine } from '../../render/text.js';
import { artifactLine } from '../../run/written-files.js';
import { UsageError } from '../../input/usage-errors.js';
import { listArtifacts, printBody, openBody, STDOUT } from './download.js';
import { withRun } from '../kept-run.js';

export class RunsArtifactsCommand extends RunIdCommand {
  static override paths = [['runs', 'artifacts']];
  static override usage = RunIdCommand.Usage({
    description: 'lists the files that the tools of a run have written, or downloads one of them',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      With NAME the file is downloaded into the working directory, unless a file of that name is there.`,
    examples: [
      ['all files of a run', '$0 runs artifacts 3f9c1a'],
      ['download one of them', '$0 runs artifacts 3f9c1a report.xlsx --output report.xlsx'],
    ],
  });

  name = Option.String({ name: 'NAME', required: false });
  output = textOption`--output <FILE> with NAME: write it to this file, which may exist; - prints it`;
  json = flagOption`--json print the list as one JSON document`;

  /** Lists the files of a run, or downloads one of them (D63). */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const { name } = this;
    if (name === undefined && this.output !== undefined) {
      throw new UsageError(
        '--output needs the name of a file',
        'write runs artifacts RUN_ID NAME --output FILE',
      );
    }
    return withRun(this, context, async ({ client, runId }) => {
      if (name !== undefined) await download(client, runId, name, this.output, context);
      else await list(client, runId, this.json, context);
      return EXIT.done;
    });
  }
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
  if (output === STDOUT) return printBody(response, { stdout });
  const path = resolve(cwd, output ?? basename(name));
  try {
    await pipeline(openBody(response), createWriteStream(path, { flags: output === undefined ? 'wx' : 'w' }));
  } catch (error) {
    const hint = errorCode(error) === 'EEXIST' ? ': name another with --output' : '';
    throw new WavetrainError('unreadable_file', `cannot write ${path}: ${errorMessage(error)}${hint}`, {
      cause: error,
    });
  }
  stderr.write(`wrote ${toSingleLine(path)}\n`);
}
