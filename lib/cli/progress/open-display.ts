import type { LiveEvent } from '../../execution/event.js';
import type { CliContext } from '../context.js';
import { styleFor } from '../style.js';
import { terminalOf } from '../terminal.js';
import type { Display } from './display.js';
import { eventLine } from './event-line.js';
import { LiveDisplay } from './live-display.js';
import type { Picture } from './picture.js';

export interface DisplayFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** A live display on a terminal, lines with `--verbose`, otherwise nothing (D41). */
export function openDisplay(flags: DisplayFlags, picture: () => Picture, context: CliContext): Display {
  const { redraws } = terminalOf(context.stderr, context.env);
  if (!redraws || flags.json || flags.quiet) return lineDisplay(flags, context);
  return new LiveDisplay(picture(), flags.verbose, context);
}

function lineDisplay({ verbose }: DisplayFlags, { stderr, env }: CliContext): Display {
  const style = styleFor(stderr, env);
  const say = (line: string): void => {
    stderr.write(`${line}\n`);
  };
  const tell = (event: LiveEvent): void => say(eventLine(event, style));
  return { listens: verbose, event: verbose ? tell : () => undefined, say, close: () => undefined };
}
