import { fileURLToPath } from 'node:url';
import { errorCode, errorMessage } from '../../common/errors.js';
import { copyText } from '../../common/text.js';
import type { Shape } from '../../common/wire/shape.js';
import type { ErrorCauseSchema, ErrorRecordSchema } from '../../common/wire/task.js';

/** One of the errors that led to a failure. */
export interface ErrorCause extends Shape<typeof ErrorCauseSchema> {}

/** Why a task or an item failed (D59). */
export interface ErrorRecord extends Shape<typeof ErrorRecordSchema> {}

/** An error may be its own cause. */
const MAX_CAUSES = 8;

/** Parts that are described of an error that stands for several, such as one for each address of a host. */
const MAX_PARTS = 3;

const MAX_STACK_LENGTH = 4000;

/** Replaces the secrets of a run; undefined when it has none (D61). */
type Mask = ((text: string) => string) | undefined;

/** Returns the message of anything thrown, with those of its causes. Never throws. @param mask is called before a text is cut */
export function messageWithCauses(thrown: unknown, mask?: Mask): string {
  const message = errorMessage(thrown, mask);
  const causes = causesOf(thrown);
  if (causes.length === 0) return message;
  let whole = message;
  for (const cause of causes.map((thrownCause) => describeOne(thrownCause, mask))) {
    if (!whole.includes(cause.message)) whole += `: ${cause.message}`;
  }
  return errorMessage(whole);
}

/** Stands for an error that another process has described. */
export class RecordedError extends Error {
  readonly #record: ErrorRecord;

  constructor(record: ErrorRecord) {
    super(record.message);
    this.#record = record;
  }

  /** Returns the description of such an error; undefined for anything else. Asks a proxy nothing: it might throw. */
  static read(thrown: unknown): ErrorRecord | undefined {
    return typeof thrown === 'object' && thrown !== null && #record in thrown ? thrown.#record : undefined;
  }
}

/** The code of an error, or of the first of its causes that has one; null when none has. */
export function findCode({ code, causes }: ErrorRecord): string | null {
  return code ?? causes.find((cause) => cause.code !== undefined)?.code ?? null;
}

/** Describes anything thrown. Never throws. @param message as the run keeps it @param withStack false saves much time */
export function describeThrown(
  thrown: unknown,
  message: string,
  withStack: boolean,
  mask?: Mask,
): ErrorRecord {
  const recorded = RecordedError.read(thrown);
  if (recorded !== undefined) return recorded;
  const causes = causesOf(thrown);
  const stack = withStack ? joinStacks([thrown, ...causes], mask) : undefined;
  const described = causes.map((cause) => describeOne(cause, mask));
  const record = { ...describeOne(thrown, mask), message, causes: described };
  return stack === undefined ? record : { ...record, stack };
}

function describeOne(thrown: unknown, mask: Mask = String): ErrorCause {
  const type = typeOf(thrown, mask);
  const code = read(thrown, 'code') === undefined ? undefined : errorCode(thrown);
  const message = messageOfParts(thrown, mask) ?? errorMessage(thrown, mask);
  return code === undefined ? { type, message } : { type, message, code: copyText(mask(code).slice(0, 100)) };
}

function typeOf(thrown: unknown, mask: (text: string) => string): string {
  const name = read(thrown, 'name');
  if (typeof name === 'string' && name !== '') return copyText(mask(name).slice(0, 100));
  if (thrown === undefined) return 'Error';
  return thrown === null ? 'null' : typeof thrown;
}

/** An AggregateError of Node.js has no message of its own. */
function messageOfParts(thrown: unknown, mask: Mask): string | undefined {
  const parts = read(thrown, 'errors');
  if (!Array.isArray(parts) || parts.length === 0 || read(thrown, 'message') !== '') return undefined;
  return errorMessage(
    parts
      .slice(0, MAX_PARTS)
      .map((part) => errorMessage(part, mask))
      .join('; '),
  );
}

function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let next = read(thrown, 'cause'); next !== undefined && next !== null; next = read(next, 'cause')) {
    if (causes.length === MAX_CAUSES || causes.includes(next)) break;
    causes.push(next);
  }
  return causes;
}

/** Reads a property of anything: what was thrown may be a proxy that throws, too. */
function read(thrown: unknown, name: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  try {
    return (thrown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** The folders of this package's code, whose calls say nothing about a tool of one's own; one folder when it is built. */
const CODE_FOLDERS = import.meta.url.endsWith('.ts') ? ['../../', '../../../machines/'] : ['./'];
const CODE_URLS = CODE_FOLDERS.map((folder) => new URL(folder, import.meta.url).href);
const PACKAGE_PATHS = [...CODE_URLS, ...CODE_URLS.map((url) => fileURLToPath(url)), '/node_modules/xstate/'];

/** The packages that this one depends on: when it calls one itself, as a built-in tool does, the calls in it help nobody. */
export const DEPENDENCIES: readonly string[] =
  `@koa/router ajv aws4fetch clipanion croner csv-parse eventsource-parser fastest-levenshtein get-east-asian-width
  htmlparser2 ipaddr.js jiti jsonata koa koa-bodyparser koa2-swagger-ui log-update mammoth
  mime-types pg picocolors pino prom-client re2js read-excel-file typanion typebox undici unpdf write-excel-file ws
  xstate yaml`.split(/\s+/);
const CALL_IN_DEPENDENCY = new RegExp(`[\\\\/]node_modules[\\\\/](${DEPENDENCIES.join('|')})[\\\\/]`);

/** Joins the stacks of errors; undefined when no call in them is in code of one's own. */
function joinStacks(errors: readonly unknown[], mask: Mask): string | undefined {
  const stacks = errors.map((error) => ownStack(error, mask)).filter((stack) => stack !== undefined);
  if (stacks.length === 0) return undefined;
  return copyText(stacks.join('\ncaused by ').slice(0, MAX_STACK_LENGTH));
}

/** The stack of one error down to where this package called the tool, without the calls in this package. */
function ownStack(thrown: unknown, mask: Mask = String): string | undefined {
  const stack = read(thrown, 'stack');
  if (typeof stack !== 'string') return undefined;
  const lines = mask(stack).split('\n');
  const last = lines.findLastIndex((line) => isCall(line) && isForeign(line));
  if (last === -1 || CALL_IN_DEPENDENCY.test(lines[last] ?? '')) return undefined;
  return lines
    .slice(0, last + 1)
    .filter((line) => !isCall(line) || !isInPackage(line))
    .join('\n');
}

function isCall(line: string): boolean {
  return /^\s+at /.test(line);
}

/** A call without a file is one of Node.js. */
function isForeign(line: string): boolean {
  return /[\\/]/.test(line) && !line.includes('node:') && !isInPackage(line);
}

function isInPackage(line: string): boolean {
  return PACKAGE_PATHS.some((path) => line.includes(path));
}
