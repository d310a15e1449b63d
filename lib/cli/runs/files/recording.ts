import { resolve } from 'node:path';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import { RUN_ID_DETAILS, HISTORY_DETAILS, RunIdCommand, textOption } from '../../input/shared-options.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { PROGRAM } from '../../package-info.js';
import { toSingleLine } from '../../render/text.js';
import { withRun } from '../kept-run.js';
import { printBody, saveBody, STDOUT } from './download.js';

export class RunsRecordingCommand extends RunIdCommand {
  static override paths = [['runs', 'recording']];
  static override usage = RunIdCommand.Usage({
    description: 'downloads what the actors of a run have done, for wavetrain inspect and bug reports',
    details: `${RUN_ID_DETAILS}${HISTORY_DETAILS}
      The recording of a run that is at work ends with what it has done so far. Secrets are masked; the result and the
      failures of the run are in the file.`,
    examples: [['to look at it on another machine', '$0 runs recording 3f9c1a --output out.wtrec']],
  });

  output = textOption`-o,--output <FILE> write it to this file, which may exist; - prints it; default RUN_ID.wtrec`;

  /** Downloads what the actors of a run of a server have done so far. A file is replaced only by a whole recording. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    return withRun(this, context, async ({ client, runId }) => {
      const name = this.output ?? `${runId}.wtrec`;
      const response = await client.recording(runId);
      if (name === STDOUT) {
        await printBody(response, context);
        return EXIT.done;
      }
      const path = resolve(context.cwd, name);
      await saveBody(response, path, { partial: `${path}.part` }).catch((cause: unknown) => {
        throw new WavetrainError('unreadable_file', `cannot write ${path}: ${errorMessage(cause)}`, {
          cause,
        });
      });
      context.stderr.write(
        `recorded in ${toSingleLine(name)}: ${PROGRAM} inspect ${toSingleLine(name)} shows it\n`,
      );
      return EXIT.done;
    });
  }
}
