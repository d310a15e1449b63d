import type { Writable } from 'node:stream';
import picocolors from 'picocolors';
import { pino } from 'pino';
import { type Clock, toIsoTime } from '../../common/clock.js';
import { errorCode } from '../../common/errors.js';
import { LineBuffer, LineOutput } from '../../common/scheduling/line-output.js';
import type { LiveEvent } from '../../execution/events/event.js';
import type { RunIdentity, SettledRun } from '../../runs/run-entry.js';
import type { RunQueries } from '../../runs/views/run-queries.js';

/** The message of the lines that are written for each request. */
export const REQUEST_MESSAGE = 'request';

/** The messages of lines that may be very many. */
const FREQUENT_MESSAGES = new Set([REQUEST_MESSAGE, 'run succeeded', 'run cancelled']);

/** The log of a server, for its operators. */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** A log that writes to a stream. */
export interface StreamLog extends Log {
  /** Writes the lines that wait to be written together. Call it before the process ends. */
  flush(): void;
  /** Writes lines of this level and above from now on. */
  setLevel(level: string): void;
}

export interface LogOptions {
  /** The lines of requests and of runs that end in one turn of the event loop are one write, other lines one each. */
  readonly stream: Writable;
  /** Writes lines for people instead of JSON. */
  readonly interactive: boolean;
  readonly colours: boolean;
  /** The lowest level to write: `debug`, `info`, `warn`, `error` or `silent`. */
  readonly level: string;
  readonly clock: Clock;
  /** Replaces the secrets that runs have used (D61). */
  readonly mask?: ((text: string) => string) | undefined;
}

type Level = 'debug' | 'info' | 'warn' | 'error';
type Facts = Readonly<Record<string, unknown>>;
type Colours = ReturnType<typeof picocolors.createColors>;

/**
 * Creates the log of a server: lines for people on a terminal, elsewhere one JSON object per line (`time` in ISO 8601,
 * `level` as a word, `msg`, and the facts). Redacts API keys and cookies (D37).
 */
export function createLog(options: LogOptions): StreamLog {
  return options.interactive ? createTerminalLog(options) : createJsonLog(options);
}

/**
 * Logs what the line of a settled run does not say: that a handler has failed (D80), and at `debug` where a tool threw the error
 * that failed the run (D59).
 *
 * @param runs returns the error that failed a run
 */
export function logFailure(
  event: LiveEvent,
  { run_id, pipeline_id, tenant_id }: RunIdentity,
  log: Log,
  runs: Pick<RunQueries, 'failure'>,
): void {
  const of = { run_id, pipeline_id, tenant_id };
  if (event.kind === 'fail' && event.handler !== undefined && event.within === undefined) {
    const { handler, task_id, sub_pipeline, error } = event;
    log.warn({ ...of, ...(sub_pipeline && { sub_pipeline }), handler, task_id, error }, 'handler failed');
  }
  if (event.kind !== 'run' || event.error === undefined) return;
  const { type, message, stack } = runs.failure(run_id) ?? {};
  if (stack === undefined) return;
  log.debug({ ...of, ...event.failed_task, err: { type, message, stack } }, 'a tool has thrown');
}

/**
 * Logs how a run has ended, in one line: nobody may be waiting for its result. Of a failed one, a warning has the first error
 * and its task, the number of failures, and of a plan the sub-pipelines that failed.
 */
export function logSettledRun(run: SettledRun, log: Log): void {
  const { id, definitionId, tenantId, status, trigger, startedAt, finishedAt, error, errorCode } = run;
  const facts = {
    run_id: id,
    pipeline_id: definitionId,
    tenant_id: tenantId,
    status,
    trigger: trigger ?? 'none',
    // Of a run that was cancelled while it was queued, no time has passed at work.
    duration_ms: startedAt === null || finishedAt === null ? 0 : finishedAt - startedAt,
    ...(errorCode !== null && { error_code: errorCode }),
    ...(error !== null && { error: toFirstLine(error) }),
  };
  const message = `run ${status}`;
  if (status !== 'failed') return log.info(facts, message);
  const { failures, subPipelines, failedTask } = run;
  const failed = Object.entries(subPipelines ?? {}).flatMap(([name, each]) =>
    each === 'failed' ? [name] : [],
  );
  const ofPlan = subPipelines === null ? {} : { sub_pipelines_failed: failed };
  log.warn({ ...facts, ...failedTask, failures: failures.length, ...ofPlan }, message);
}

/** Errors of tools may be whole documents; the record of the run has all of it. */
const MOST_CHARACTERS = 500;

function toFirstLine(text: string): string {
  const [line = ''] = text
    .trimStart()
    .slice(0, MOST_CHARACTERS + 1)
    .split(/[\r\n]/, 1);
  return line === text ? line : `${line.slice(0, MOST_CHARACTERS)} …`;
}

function createJsonLog({ stream, level, clock, mask }: LogOptions): StreamLog {
  const buffer = new LineBuffer(
    new LineOutput(stream, (count) =>
      warn({}, `${count} lines of the log are missing: standard output is read too slowly`),
    ),
  );
  const logger = pino(
    {
      level,
      // Omits pid and hostname: the host's own log has them.
      base: null,
      timestamp: () => `,"time":"${toIsoTime(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }), log: (facts) => redactFacts(facts, mask) },
      // redactFacts has serialized errors already; pino's serializer would add all their properties.
      serializers: { err: (serialized: unknown) => serialized },
    },
    buffer,
  );
  // The facts of a request hold neither headers nor errors; its path may name a secret.
  const requestLogger = mask ? logger : logger.child({}, { formatters: { log: (facts) => facts } });
  const createWriter =
    (severity: Level) =>
    (facts: object, message: string): void => {
      logger[severity](facts, mask === undefined ? message : mask(message));
      if (!FREQUENT_MESSAGES.has(message)) buffer.flush();
    };
  const info = createWriter('info');
  const warn = createWriter('warn');
  return {
    debug: createWriter('debug'),
    info: (facts, message) =>
      message === REQUEST_MESSAGE ? requestLogger.info(facts, message) : info(facts, message),
    warn,
    error: createWriter('error'),
    flush: () => buffer.flush(),
    setLevel: (changed) => {
      for (const each of [logger, requestLogger]) each.level = changed;
    },
  };
}

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** Creates a log for people who watch a server on their terminal: one line per entry, coloured by level or status. */
function createTerminalLog(options: LogOptions): StreamLog {
  const { stream, clock, mask = String } = options;
  const colours = picocolors.createColors(options.colours);
  let minLevel = LEVELS.indexOf(options.level);
  const createWriter =
    (level: Level) =>
    (entry: object, message: string): void => {
      if (LEVELS.indexOf(level) < minLevel) return;
      const { err, ...facts } = redactFacts(entry, options.mask);
      const isRequest = message === REQUEST_MESSAGE && level === 'info';
      const text = isRequest
        ? formatRequest(facts, colours)
        : formatEntry(level, mask(message), facts, colours);
      const localTime = new Date(clock.now()).toTimeString().slice(0, 8);
      stream.write(`${colours.dim(localTime)} ${text}\n${formatError(err, colours)}`);
    };
  return {
    debug: createWriter('debug'),
    info: createWriter('info'),
    warn: createWriter('warn'),
    error: createWriter('error'),
    flush: () => undefined,
    setLevel: (changed) => {
      minLevel = LEVELS.indexOf(changed);
    },
  };
}

/** As in `POST /pipelines/run 200 14 ms run 0198…`. */
function formatRequest(facts: Facts, colours: Colours): string {
  const { method, path, status, duration_ms, run_id, key, left, ...rest } = facts;
  const parts = [
    escapeControls(method),
    escapeControls(path),
    formatStatus(Number(status), colours),
    `${escapeControls(duration_ms)} ms`,
    ...(run_id === undefined || escapeControls(path).includes(escapeControls(run_id))
      ? []
      : [`run ${escapeControls(run_id)}`]),
    ...(key === undefined ? [] : [`by ${escapeControls(key)}`]),
    ...(left === true ? [colours.yellow('(client disconnected)')] : []),
  ];
  return parts.join(' ') + formatFacts(rest, colours);
}

function formatEntry(level: Level, message: string, facts: Facts, colours: Colours): string {
  const text = level === 'info' ? escapeControls(message) : `${level}: ${escapeControls(message)}`;
  const paint = { debug: colours.dim, info: String, warn: colours.yellow, error: colours.red }[level];
  return paint(text) + formatFacts(facts, colours);
}

function formatStatus(status: number, { green, cyan, yellow, red }: Colours): string {
  const paint = status >= 500 ? red : status >= 400 ? yellow : status >= 300 ? cyan : green;
  return paint(String(status));
}

function formatFacts(facts: Facts, { dim }: Colours): string {
  const defined = Object.entries(facts).filter(([, value]) => value !== undefined);
  return defined.map(([name, value]) => ` ${dim(`${name}=`)}${escapeControls(value)}`).join('');
}

/** Puts the stack of an error below its line, then the stacks of its causes. */
function formatError(err: unknown, colours: Colours): string {
  if (typeof err !== 'object' || err === null) return err === undefined ? '' : `  ${escapeControls(err)}\n`;
  const { type, message, stack, cause } = err as SerializedError;
  const lines = (stack ?? `${type}: ${message}`).split('\n').map((line) => `  ${escapeControls(line)}\n`);
  return colours.dim(lines.join('')) + formatError(cause, colours);
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
function redactFacts(facts: object, mask: LogOptions['mask'], depth = 0): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) {
    copy[name] = SECRET_HEADERS.has(name.toLowerCase()) ? '[redacted]' : redactValue(value, mask, depth + 1);
  }
  return copy;
}

function redactValue(value: unknown, mask: LogOptions['mask'], depth: number): unknown {
  if (typeof value === 'string') return mask === undefined ? value : mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return serializeError(value, mask, depth);
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, mask, depth + 1));
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  return redactFacts(value, mask, depth);
}

function serializeError(error: Error, mask: LogOptions['mask'], depth: number): SerializedError {
  const { name, stack, cause } = error;
  const show = mask ?? String;
  const code = errorCode(error);
  return {
    type: show(name),
    message: show(error.message),
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack: show(stack) }),
    ...(cause !== undefined && { cause: redactValue(cause, mask, depth + 1) }),
  };
}
