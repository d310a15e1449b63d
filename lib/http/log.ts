import type { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Clock } from '../common/clock.js';
import { LogLines } from './log-lines.js';
import { withoutSecrets } from './log-facts.js';
import type { Log } from './services.js';

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
