import type { RunRecord } from '../../runs/record.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus, statusOfRun } from '../exit-status.js';
import { drained } from '../output.js';
import { PROGRAM } from '../program.js';
import { openDisplay } from '../progress/open-display.js';
import type { Picture } from '../progress/picture.js';
import type { Style } from '../style.js';
import type { Terminal } from '../terminal.js';
import { conduct, type Conducted } from './conduct.js';
import { EventFile } from './event-file.js';
import type { RunFlags } from './flags.js';
import { tellEnd } from './outcome.js';
import { tellStrays } from './strays.js';

/** One run, of a pipeline or of a plan, and how it is shown. */
export interface ShownRun extends Conducted {
  readonly definitionFiles: readonly string[];
  readonly picture: () => Picture;
  /** What there is to say about a run that did not succeed. */
  readonly failures: (record: RunRecord, style: Style, terminal: Terminal) => string[];
}

/** Runs it, shows how it goes, and tells how it ended. */
export async function perform(
  shown: ShownRun,
  flags: RunFlags,
  fileRoots: readonly string[],
  context: CliContext,
): Promise<ExitStatus> {
  const { picture, failures } = shown;
  const eventFile =
    flags.events === undefined
      ? undefined
      : await EventFile.open(flags.events, shown.definitionFiles, context);
  const registry = await context.services.registry(fileRoots, context.clock);
  const display = openDisplay(flags, picture, context);
  // Until everything is printed: what a tool left behind must not cut the outputs off.
  const silence = tellStrays(context.processEvents, (line) => display.say(line));
  try {
    const record = await conduct(registry, shown, { display, eventFile }, context);
    tellEnd(record, failures, flags, context);
    await drained(context.stdout);
    return worse(statusOfRun(record.status), await closeEvents(eventFile, context));
  } finally {
    silence();
    await eventFile?.close();
  }
}

async function closeEvents(eventFile: EventFile | undefined, { stderr }: CliContext): Promise<ExitStatus> {
  const failure = await eventFile?.close();
  if (failure === undefined) return EXIT.done;
  stderr.write(`${PROGRAM}: ${failure}\n`);
  return EXIT.failed;
}

function worse(run: ExitStatus, events: ExitStatus): ExitStatus {
  return run === EXIT.done ? events : run;
}
