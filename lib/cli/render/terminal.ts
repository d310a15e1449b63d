import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import type { Environment } from '../../common/config/environment.js';

/** The abilities of a stream that text is printed on. */
export interface Terminal {
  /** False for files and pipes. */
  readonly interactive: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly colours: boolean;
  /** Can display check marks and arrows. */
  readonly unicode: boolean;
  /** Lines can be drawn again in place. */
  readonly canRedraw: boolean;
  /** Formats text as far as colours and unicode allow. */
  readonly style: Style;
}

type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export function detectTerminal(
  stream: Writable,
  env: Environment,
  platform: string = process.platform,
): Terminal {
  const screen: Screen = stream;
  const interactive = screen.isTTY === true;
  const colours = hasColours(interactive, env);
  const unicode = hasUnicode(env, platform);
  return {
    interactive,
    // A pseudo-terminal without a size reports zero.
    columns: screen.columns || DEFAULT_COLUMNS,
    rows: screen.rows || DEFAULT_ROWS,
    colours,
    unicode,
    canRedraw: interactive && env['TERM'] !== 'dumb' && !isContinuousIntegration(env),
    style: createStyle({ colours, unicode }),
  };
}

/** NO_COLOR overrides FORCE_COLOR, which overrides the kind of the stream (D41). */
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

function isContinuousIntegration(env: Environment): boolean {
  return isSet(env['CI']) && env['CI'] !== 'false' && env['CI'] !== '0';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

export type Formatter = (text: string) => string;

/** Formats text; without colours every formatter returns it unchanged. */
export interface Style {
  readonly plain: Formatter;
  readonly bold: Formatter;
  readonly dim: Formatter;
  readonly red: Formatter;
  readonly green: Formatter;
  readonly yellow: Formatter;
  readonly cyan: Formatter;
  readonly marks: Marks;
}

interface Marks {
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

export function createStyle({ colours, unicode }: Pick<Terminal, 'colours' | 'unicode'>): Style {
  const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(colours);
  const marks = unicode ? UNICODE : ASCII;
  return { plain: (text) => text, bold, dim, red, green, yellow, cyan, marks };
}
