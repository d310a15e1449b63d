import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import type { Environment } from '../common/config.js';
import { type Terminal, terminalOf } from './terminal.js';

export type Paint = (text: string) => string;

/** How words are made to stand out; every paint leaves the text alone where there are no colours. */
export interface Style {
  readonly plain: Paint;
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  readonly marks: Marks;
}

export interface Marks {
  readonly done: string;
  readonly failed: string;
  readonly warning: string;
  readonly spinner: readonly string[];
}

const UNICODE: Marks = {
  done: '✓',
  failed: '✗',
  warning: '!',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
};

const ASCII: Marks = { done: '+', failed: 'x', warning: '!', spinner: ['-', '\\', '|', '/'] };

export function styleOf(terminal: Terminal): Style {
  const colours = picocolors.createColors(terminal.colours);
  return {
    plain: (text) => text,
    bold: colours.bold,
    dim: colours.dim,
    red: colours.red,
    green: colours.green,
    yellow: colours.yellow,
    cyan: colours.cyan,
    marks: terminal.unicode ? UNICODE : ASCII,
  };
}

/** The style that suits a stream. */
export function styleFor(stream: Writable, env: Environment): Style {
  return styleOf(terminalOf(stream, env));
}
