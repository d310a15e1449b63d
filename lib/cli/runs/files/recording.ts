import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option } from 'clipanion';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { RUN_ID_DETAILS, HISTORY_DETAILS, RunIdCommand } from '../../input/shared-options.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { PROGRAM } from '../../package-info.js';
import { toSingleLine } from '../../render/text.js';
import { withRun } from '../kept-run.js';

/** As a file, `-` is standard output. */
const STDOUT = '-';

export class RunsRecordingCommand extends RunIdCommand {
  static override paths = [['runs', 'recording']];
  static override usage = RunIdCommand.Usage({
    description: 'downloads what the actors of a run have done, for wavetrain inspect and bug reports',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      The recording of a run that is at work ends with what it has done so far. Secrets are masked; the result and the
      failures of the run are in the file.`,
    examples: [['to look at it on another machine', '$0 runs recording 3f9c1a --output out.wtrec']],
  });

  output = Option.String('-o,--output', {
    description: '<FILE> write it to this file, which may exist; - prints it; default RUN_ID.wtrec',
  });

  /** Downloads what the actors of a run of a server have done so far. A file is replaced only by a whole recording. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    return withRun(this, context, async ({ client, runId }) => {
      const name = this.output ?? `${runId}.wtrec`;
      const path = resolve(context.cwd, name);
      const partial = `${path}.part`;
      const response = await client.recording(runId);
      const body = Readable.fromWeb(response.body ?? new Blob([]).stream());
      if (name === STDOUT) {
        for await (const chunk of body) context.stdout.write(chunk as Uint8Array);
        return EXIT.done;
      }
      try {
        await pipeline(body, createWriteStream(partial));
        await rename(partial, path);
      } catch (error) {
        await rm(partial, { force: true });
        throw new WavetrainError('unreadable_file', `cannot write ${path}: ${errorMessage(error)}`, {
          cause: error,
        });
      }
      context.stderr.write(
        `recorded in ${toSingleLine(name)}: ${PROGRAM} inspect ${toSingleLine(name)} shows it\n`,
      );
      return EXIT.done;
    });
  }
}
