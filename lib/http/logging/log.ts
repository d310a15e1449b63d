import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import { pino } from 'pino';
import type { Clock } from '../../common/clock.js';
import type { Log } from '../services.js';

export interface LogOptions {
  /** Every line is written at once: what the stream has not taken when the process ends is its own affair. */
  readonly stream: Writable;
  /** People read it as it comes. */
  readonly interactive: boolean;
  readonly colours: boolean;
  /** The least that is told: `debug`, `info`, `warn`, `error` or `silent`. */
  readonly level: string;
  readonly clock: Clock;
}

/**
 * Opens the log of a server: lines for people on a terminal, elsewhere one JSON object for each (`time` in ISO 8601,
 * `level` as a word, `msg`, and the facts). Keys of callers and cookies are never told (D37).
 */
export function openLog(options: LogOptions): Log {
  return options.interactive ? new LogLines(options) : jsonLog(options);
}

function jsonLog({ stream, level, clock }: LogOptions): Log {
  return pino(
    {
      level,
      // The host's own log knows the machine and the process.
      base: null,
      timestamp: timestamps(clock),
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      // Errors were told by withoutSecrets; the usual serializer would add whatever hangs on them.
      serializers: { err: (told: unknown) => told },
    },
    stream,
  );
}

/** Many lines are of the same millisecond. */
function timestamps(clock: Clock): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = clock.now();
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`;
    last = now;
    return text;
  };
}

type Colours = ReturnType<typeof picocolors.createColors>;
type Facts = Readonly<Record<string, unknown>>;

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** A log for people who watch a server on their terminal: a line for each thing, coloured by how it went. */
class LogLines implements Log {
  readonly #stream: Writable;
  readonly #clock: Clock;
  readonly #least: number;
  readonly #colours: Colours;

  constructor(options: { stream: Writable; clock: Clock; level: string; colours: boolean }) {
    this.#stream = options.stream;
    this.#clock = options.clock;
    this.#least = LEVELS.indexOf(options.level);
    this.#colours = picocolors.createColors(options.colours);
  }

  info(facts: object, message: string): void {
    this.#write('info', facts, message);
  }

  warn(facts: object, message: string): void {
    this.#write('warn', facts, message);
  }

  error(facts: object, message: string): void {
    this.#write('error', facts, message);
  }

  #write(level: 'info' | 'warn' | 'error', given: object, message: string): void {
    if (LEVELS.indexOf(level) < this.#least) return;
    const { err, ...facts } = withoutSecrets(given);
    const isRequest = message === 'request' && level === 'info';
    const words = isRequest ? this.#request(facts) : this.#sentence(level, message, facts);
    this.#stream.write(`${this.#colours.dim(this.#time())} ${words}\n${this.#trace(err)}`);
  }

  /** As in `POST /pipelines/run 200 14 ms run 0198…`. */
  #request({ method, path, status, duration_ms, run_id, key, left, ...rest }: Facts): string {
    const words = [
      visible(method),
      visible(path),
      this.#status(Number(status)),
      `${visible(duration_ms)} ms`,
      ...(run_id === undefined || visible(path).includes(visible(run_id)) ? [] : [`run ${visible(run_id)}`]),
      ...(key === undefined ? [] : [`by ${visible(key)}`]),
      ...(left === true ? [this.#colours.yellow('(the caller left)')] : []),
    ];
    return words.join(' ') + this.#rest(rest);
  }

  #sentence(level: 'info' | 'warn' | 'error', message: string, facts: Facts): string {
    const paint = { info: (text: string) => text, warn: this.#colours.yellow, error: this.#colours.red }[
      level
    ];
    return paint(level === 'info' ? visible(message) : `${level}: ${visible(message)}`) + this.#rest(facts);
  }

  #status(status: number): string {
    const { green, cyan, yellow, red } = this.#colours;
    const paint = status >= 500 ? red : status >= 400 ? yellow : status >= 300 ? cyan : green;
    return paint(String(status));
  }

  #rest(facts: Facts): string {
    const known = Object.entries(facts).filter(([, value]) => value !== undefined);
    return known.map(([name, value]) => ` ${this.#colours.dim(`${name}=`)}${visible(value)}`).join('');
  }

  /** An error beneath its line, with where it happened and what caused it. */
  #trace(err: unknown): string {
    if (typeof err !== 'object' || err === null) return err === undefined ? '' : `  ${visible(err)}\n`;
    const { type, message, stack, cause } = err as ToldError;
    const lines = (stack ?? `${type}: ${message}`).split('\n').map((line) => `  ${visible(line)}\n`);
    return this.#colours.dim(lines.join('')) + this.#trace(cause);
  }

  /** Of the clock on the wall. */
  #time(): string {
    return new Date(this.#clock.now()).toTimeString().slice(0, 8);
  }
}

/** Text that callers chose must neither move the cursor nor begin a line of its own. */
function visible(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** Headers that say who somebody is, by their names in lower case. */
const SECRETS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie']);
const REDACTED = '[redacted]';

/** Deeper facts are not told. */
const DEEPEST = 6;

/** An error as the log tells it: what it says and where it was, and nothing else that may hang on it. */
interface ToldError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

/** The facts of a line without the secrets among them, at whatever depth, and with errors put into words. */
function withoutSecrets(facts: object): Record<string, unknown> {
  return told(facts, 0) as Record<string, unknown>;
}

function told(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return '[deeper]';
  if (value instanceof Error) return toldError(value, depth);
  if (Array.isArray(value)) return value.map((entry) => told(entry, depth + 1));
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  const own: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(value)) {
    own[name] = SECRETS.has(name.toLowerCase()) ? REDACTED : told(entry, depth + 1);
  }
  return own;
}

function toldError(error: Error, depth: number): ToldError {
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    type: name,
    message,
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && { cause: told(cause, depth + 1) }),
  };
}
