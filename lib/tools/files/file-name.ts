import { ToolError } from '../../common/errors.js';
import { describeKind, type Json } from '../../common/json/json.js';
import { MAX_FILE_NAME_BYTES } from '../../common/limits.js';
import { ellipsize } from '../../common/text.js';
import type { FormatProblem } from '../tool.js';

/** Windows has these devices in every folder, whatever the ending. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\:*?"<>|\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** @throws ToolError, not retryable, unless a file can have this name on every system */
export function assertFileName(name: unknown): asserts name is string {
  if (typeof name !== 'string') throw refuse(describeKind(name), 'it must be a text, such as "report.csv"');
  const shown = JSON.stringify(ellipsize(name, 60));
  const problem = findProblem(name);
  if (problem !== undefined) throw refuse(shown, problem);
}

function findProblem(name: string): string | undefined {
  // Before all letters are looked at: they may be megabytes.
  if (name.length > MAX_FILE_NAME_BYTES)
    return `it has ${name.length} characters, and ${MAX_FILE_NAME_BYTES} bytes are allowed`;
  if (name.trim() === '') return 'it is empty';
  if (/[/\\]/.test(name)) return 'it must be the name of a file, without folders';
  if (FORBIDDEN.test(name)) return 'it must not contain control characters or any of : * ? " < > |';
  if (/\p{Surrogate}/u.test(name)) return 'it contains half of a character';
  if (name.startsWith('.')) return 'it must not begin with a dot';
  if (/[. ]$/.test(name) || name.startsWith(' '))
    return 'it must not begin or end with a space, or end with a dot';
  if (DEVICE.test(name)) return 'Windows reserves it for a device';
  const length = Buffer.byteLength(name);
  if (length > MAX_FILE_NAME_BYTES) return `it has ${length} bytes, and ${MAX_FILE_NAME_BYTES} are allowed`;
  return undefined;
}

/** Finds why a file of a run cannot have a name as it is written. Objects of a store and names from templates are not looked at. */
export function* findFileNameProblems(value: Json): Generator<FormatProblem> {
  if (typeof value !== 'string' || value === '' || value.includes('{{') || value.includes('://')) return;
  const problem = findProblem(value);
  if (problem !== undefined)
    yield {
      path: [],
      message: `cannot name a file: ${problem}`,
      hint: 'write a name such as "report.csv"; write_file takes a path with folders',
    };
}

function refuse(name: string, problem: string): ToolError {
  return ToolError.nonRetryable(`a file cannot be called ${name}: ${problem}`);
}

/** Makes names equal that are the same one to some file systems. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** `report.xlsx` and 2 make `report-2.xlsx`. */
export function addNumber(name: string, number: number): string {
  const dot = name.lastIndexOf('.');
  const end = dot > 0 ? dot : name.length;
  return `${name.slice(0, end)}-${number}${name.slice(end)}`;
}
