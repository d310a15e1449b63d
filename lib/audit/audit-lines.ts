import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { invalidVariable } from '../common/errors.js';
import { describeErrno } from '../common/files.js';
import { LineOutput, MAX_WAITING_OUTPUT } from '../common/scheduling/line-output.js';
import { inNextTurn } from '../common/scheduling/turns.js';
import type { AuditEntry } from './audit-entry.js';

/** The entries of an audit as lines of JSON, for collectors. */
export interface AuditLines {
  write(entry: AuditEntry): void;
  /** Resolves when every line is written, or cannot be. */
  close(): Promise<void>;
}

function toLine(entry: AuditEntry): string {
  return `${JSON.stringify({ type: 'audit', ...entry })}\n`;
}

/**
 * Writes the lines to the standard output of the server, between those of its log.
 *
 * @param warn receives a message about entries that were left out because nobody has read the earlier ones
 */
export function auditLinesTo(stdout: Writable, warn: (message: string) => void): AuditLines {
  const output = new LineOutput(stdout, (count) =>
    warn(`${count} audit entries are missing on standard output, which is read too slowly`),
  );
  return { write: (entry) => output.write(toLine(entry)), close: async () => output.reportMissing() };
}

/**
 * Appends the lines to a file. Opens it for each batch of lines, so that log rotation gets a new file.
 * Rejects with `bad_usage` when nothing can be appended.
 *
 * @param warn receives a message when lines cannot be written, and when they can be written again
 */
export async function openAuditFile(path: string, warn: (message: string) => void): Promise<AuditLines> {
  try {
    await appendTo(path, '');
  } catch (cause) {
    throw invalidVariable(
      'SERVICE_AUDIT_LOG',
      `names ${path}, which cannot be written: ${describeErrno(cause)}`,
      cause,
    );
  }
  return new AuditFile(path, warn);
}

class AuditFile implements AuditLines {
  readonly #path: string;
  readonly #warn: (message: string) => void;
  #waiting = '';
  #missing = 0;
  #hasFailed = false;
  #writing: Promise<void> | undefined;

  constructor(path: string, warn: (message: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  write(entry: AuditEntry): void {
    const line = toLine(entry);
    if (this.#waiting.length + line.length > MAX_WAITING_OUTPUT) this.#missing++;
    else this.#waiting += line;
    this.#writing ??= new Promise((resolve) => inNextTurn(() => void this.#writeAll().finally(resolve)));
  }

  /** Tries once more to write what could not be written. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#waiting !== '') await this.#writeAll();
    if (this.#waiting === '') return;
    const lost = this.#missing + this.#waiting.split('\n').length - 1;
    this.#warn(`${lost} audit entries were not written to ${this.#path}`);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== '') {
      const lines = this.#waiting;
      this.#waiting = '';
      try {
        await appendTo(this.#path, lines);
      } catch (error) {
        // The next entry tries again.
        this.#waiting = lines + this.#waiting;
        if (!this.#hasFailed)
          this.#warn(`audit entries cannot be written to ${this.#path}: ${describeErrno(error)}`);
        this.#hasFailed = true;
        break;
      }
      if (this.#hasFailed)
        this.#warn(`audit entries are written to ${this.#path} again; ${this.#missing} are missing`);
      else if (this.#missing > 0)
        this.#warn(
          `${this.#missing} audit entries are missing in ${this.#path}, which is written too slowly`,
        );
      this.#hasFailed = false;
      this.#missing = 0;
    }
    this.#writing = undefined;
  }
}

/** Only the user of the server may read a new file. */
async function appendTo(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    await file.appendFile(text);
  } finally {
    await file.close();
  }
}
