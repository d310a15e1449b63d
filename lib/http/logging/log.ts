import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import { pino } from 'pino';
import type { Clock } from '../../common/clock.js';
import { errorCode } from '../../common/errors.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunRecord } from '../../runs/record.js';
import type { RunIdentity } from '../../runs/registry.js';

/** The log of a server, for its operators. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface LogOptions {
  /** Each line is one write; the log does not wait for the stream to flush it. */
  readonly stream: Writable;
  /** Writes lines for people instead of JSON. */
  readonly interactive: boolean;
  readonly colours: boolean;
  /** The lowest level to write: `debug`, `info`, `warn`, `error` or `silent`. */
  readonly level: string;
  readonly clock: Clock;
}

type Level = 'info' | 'warn' | 'error';
type Facts = Readonly<Record<string, unknown>>;
type Colours = ReturnType<typeof picocolors.createColors>;

/**
 * Creates the log of a server: lines for people on a terminal, elsewhere one JSON object per line (`time` in ISO 8601,
 * `level` as a word, `msg`, and the facts). Redacts API keys and cookies (D37).
 */
export function createLog(options: LogOptions): Log {
  return options.interactive ? new TerminalLog(options) : createJsonLog(options);
}

/**
 * Logs that a run failed, because nobody may be waiting for its result: the first error, the number of failures, and
 * of a plan the sub-pipelines that failed.
 *
 * @param getRecord returns the current record of the run
 */
export function logFailedRun(
  event: LiveEvent,
  { run_id, pipeline_id, tenant_id }: RunIdentity,
  log: Log,
  getRecord: (runId: string) => RunRecord,
): void {
  if (event.kind !== 'run' || event.error === undefined) return;
  const { failures, sub_pipelines: statuses } = getRecord(run_id);
  const failed = Object.entries(statuses ?? {}).flatMap(([id, status]) => (status === 'failed' ? [id] : []));
  const facts = { run_id, pipeline_id, tenant_id, error: event.error, failures: failures.length };
  log.warn(statuses === null ? facts : { ...facts, sub_pipelines_failed: failed }, 'run failed');
}

function createJsonLog({ stream, level, clock }: LogOptions): Log {
  return pino(
    {
      level,
      // Omits pid and hostname: the host's own log has them.
      base: null,
      timestamp: createTimestamp(clock),
      formatters: { level: (label) => ({ level: label }), log: redactFacts },
      // redactFacts has serialized errors already; pino's serializer would add all their properties.
      serializers: { err: (serialized: unknown) => serialized },
    },
    stream,
  );
}

/** Caches the text, because many lines are written within one millisecond. */
function createTimestamp(clock: Clock): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = clock.now();
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`;
    last = now;
    return text;
  };
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** A log for people who watch a server on their terminal: one line per entry, coloured by level or status. */
class TerminalLog implements Log {
  readonly #stream: Writable;
  readonly #clock: Clock;
  readonly #minLevel: number;
  readonly #colours: Colours;

  constructor(options: LogOptions) {
    this.#stream = options.stream;
    this.#clock = options.clock;
    this.#minLevel = LEVELS.indexOf(options.level);
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

  #write(level: Level, entry: object, message: string): void {
    if (LEVELS.indexOf(level) < this.#minLevel) return;
    const { err, ...facts } = redactFacts(entry);
    const isRequest = message === 'request' && level === 'info';
    const text = isRequest ? this.#formatRequest(facts) : this.#formatEntry(level, message, facts);
    const localTime = new Date(this.#clock.now()).toTimeString().slice(0, 8);
    this.#stream.write(`${this.#colours.dim(localTime)} ${text}\n${this.#formatError(err)}`);
  }

  /** As in `POST /pipelines/run 200 14 ms run 0198…`. */
  #formatRequest({ method, path, status, duration_ms, run_id, key, left, ...rest }: Facts): string {
    const parts = [
      escapeControls(method),
      escapeControls(path),
      this.#formatStatus(Number(status)),
      `${escapeControls(duration_ms)} ms`,
      ...(run_id === undefined || escapeControls(path).includes(escapeControls(run_id))
        ? []
        : [`run ${escapeControls(run_id)}`]),
      ...(key === undefined ? [] : [`by ${escapeControls(key)}`]),
      ...(left === true ? [this.#colours.yellow('(client disconnected)')] : []),
    ];
    return parts.join(' ') + this.#formatFacts(rest);
  }

  #formatEntry(level: Level, message: string, facts: Facts): string {
    const { yellow, red } = this.#colours;
    const text = escapeControls(message);
    if (level === 'info') return text + this.#formatFacts(facts);
    return (level === 'warn' ? yellow : red)(`${level}: ${text}`) + this.#formatFacts(facts);
  }

  #formatStatus(status: number): string {
    const { green, cyan, yellow, red } = this.#colours;
    const paint = status >= 500 ? red : status >= 400 ? yellow : status >= 300 ? cyan : green;
    return paint(String(status));
  }

  #formatFacts(facts: Facts): string {
    const defined = Object.entries(facts).filter(([, value]) => value !== undefined);
    return defined
      .map(([name, value]) => ` ${this.#colours.dim(`${name}=`)}${escapeControls(value)}`)
      .join('');
  }

  /** Puts the stack of an error below its line, then the stacks of its causes. */
  #formatError(err: unknown): string {
    if (typeof err !== 'object' || err === null) return err === undefined ? '' : `  ${escapeControls(err)}\n`;
    const { type, message, stack, cause } = err as SerializedError;
    const lines = (stack ?? `${type}: ${message}`).split('\n').map((line) => `  ${escapeControls(line)}\n`);
    return this.#colours.dim(lines.join('')) + this.#formatError(cause);
  }
}

/** Escapes control characters: text from callers must not move the cursor or start a new line. */
function escapeControls(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** Headers that carry credentials, in lower case. */
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie']);

const MAX_DEPTH = 6;

/** An error in the log, without the other properties of the error object. */
interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

/**
 * Copies the facts of a line, redacts secret headers at every depth and serializes errors. Pino's own `redact` takes
 * exact paths and cannot find a header by name at any depth and in any case.
 */
function redactFacts(facts: object): Record<string, unknown> {
  return redactFields(facts, 0);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    copy[name] = SECRET_HEADERS.has(name.toLowerCase()) ? '[redacted]' : redactValue(value, depth + 1);
  }
  return copy;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return serializeError(value, depth);
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, depth + 1));
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  return redactFields(value, depth);
}

function serializeError(error: Error, depth: number): SerializedError {
  const { name, message, stack, cause } = error;
  const code = errorCode(error);
  return {
    type: name,
    message,
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && { cause: redactValue(cause, depth + 1) }),
  };
}
