import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorMessage, WavetrainError } from '../../../common/errors.js';
import type { CliContext } from '../../context.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { PROGRAM } from '../../package-info.js';
import { toSingleLine } from '../../render/text.js';
import { withRun } from '../kept-run.js';
import type { RunIdFlags } from '../server-client.js';

/** As a file, `-` is standard output. */
const STDOUT = '-';

/** Downloads what the actors of a run of a server have done so far. A file is replaced only by a whole recording. */
export async function downloadRecording(
  flags: RunIdFlags & { readonly output: string | undefined },
  context: CliContext,
): Promise<ExitStatus> {
  return withRun(flags, context, async ({ client, runId }) => {
    const name = flags.output ?? `${runId}.wtrec`;
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
