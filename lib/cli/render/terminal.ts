import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import type { Environment } from '../../common/config.js';

/** What a stream can show. */
export interface Terminal {
  /** People read it as it comes; false for files and pipes. */
  readonly interactive: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
  /** Check marks and arrows can be shown. */
  readonly unicode: boolean;
  /** Lines can be redrawn in place. */
  readonly redraws: boolean;
}

type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** Where nothing says how wide a line may be. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export function terminalOf(
  stream: Writable,
  env: Environment,
  platform: string = process.platform,
): Terminal {
  const screen: Screen = stream;
  const interactive = screen.isTTY === true;
  return {
    interactive,
    // A pseudo-terminal nobody sized reports zero.
    columns: screen.columns || DEFAULT_COLUMNS,
    rows: screen.rows || DEFAULT_ROWS,
    colours: hasColours(interactive, env),
    unicode: hasUnicode(env, platform),
    redraws: interactive && env['TERM'] !== 'dumb' && !inContinuousIntegration(env),
  };
}

/** NO_COLOR wins over FORCE_COLOR, which wins over what the stream is (D41). */
function hasColours(interactive: boolean, env: Environment): boolean {
  if (isSet(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return interactive && env['TERM'] !== 'dumb';
}

function hasUnicode(env: Environment, platform: string): boolean {
  if (platform !== 'win32') return env['TERM'] !== 'linux' && env['TERM'] !== 'dumb';
  return isSet(env['WT_SESSION']) || isSet(env['TERM_PROGRAM']) || isSet(env['ConEmuTask']);
}

function inContinuousIntegration(env: Environment): boolean {
  return isSet(env['CI']) && env['CI'] !== 'false' && env['CI'] !== '0';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

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
