import { describeKind } from '../../common/json.js';
import { ToolError } from '../../common/errors.js';
import { MAX_FILE_NAME_BYTES } from '../../common/limits.js';
import { ellipsize } from '../../common/text.js';
import type { PreparedRun } from '../prepare/prepare-run.js';

/** Who writes a file, as far as its name depends on it. */
export interface NameOwner {
  /** Undefined for a task that calls its tool once. */
  readonly item: number | undefined;
  /** From 1. The number of the first file of this name; without items, 1 adds no number. */
  readonly number: number;
}

/**
 * The names of the files of one run (D63). A name that is taken gets a number before its ending, which follows from the
 * task and the item that write the file and not from who is first.
 */
export class ArtifactNames {
  /** In lower case: some file systems do not distinguish it. */
  readonly #taken = new Set<string>();

  /**
   * Takes a name for a file, with the number that makes it unique.
   *
   * @param isNumbered adds the number also to the first
   */
  claim(name: string, { item, number }: NameOwner, isNumbered = number > 1): string {
    const first = isNumbered ? addNumber(name, number) : name;
    if (this.#take(first)) return first;
    const base = item === undefined ? name : addNumber(name, number);
    for (let next = item === undefined ? number + 1 : 2; ; next++) {
      const numbered = addNumber(base, next);
      if (this.#take(numbered)) return numbered;
    }
  }

  /** Takes exactly this name, which an earlier run has given. */
  keep(name: string): void {
    this.#take(name);
  }

  /** Call when the file was not kept: another attempt gets the same name. */
  release(name: string): void {
    this.#taken.delete(toKey(name));
  }

  #take(name: string): boolean {
    const key = toKey(name);
    if (this.#taken.has(key)) return false;
    this.#taken.add(key);
    return true;
  }
}

function toKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** `report.xlsx` and 2 make `report-2.xlsx`. */
function addNumber(name: string, number: number): string {
  const dot = name.lastIndexOf('.');
  const end = dot > 0 ? dot : name.length;
  return `${name.slice(0, end)}-${number}${name.slice(end)}`;
}

/**
 * Finds the number of the files that a task or an item writes. Item N of a fan-out has number N + 1, unless its input
 * `filename` comes from the item. Without items it is 1, or more for one of several tasks of a wave that call the same
 * tool with the same `filename` and `format`: they count in declared order.
 *
 * @param within the tasks whose nested runs contain the task, outermost first: `task`, or `task[item]`
 */
export function findNameOwner(
  { pipeline }: Pick<PreparedRun, 'pipeline'>,
  taskId: string,
  item: number | undefined,
  within: readonly string[] = [],
): NameOwner {
  const { tasks } = pipeline.definition;
  const inputs = tasks.find(({ id }) => id === taskId)?.inputs;
  const fileName = inputs?.['filename'];
  const text = typeof fileName === 'string' ? fileName : '';
  if (item !== undefined) return { item, number: /\{\{\s*item\b/.test(text) ? 1 : item + 1 };
  const outerItem = Number(/\[(\d+)\]$/.exec(within[0] ?? '')?.[1]);
  if (Number.isInteger(outerItem) && !text.includes('{{')) return { item: outerItem, number: outerItem + 1 };
  const task = pipeline.tasks.get(taskId);
  const wave = pipeline.waves[task?.wave ?? 0] ?? [];
  const before = wave.slice(0, wave.indexOf(taskId)).filter((id) => {
    const other = pipeline.tasks.get(id);
    const others = tasks.find((definition) => definition.id === id)?.inputs;
    const isSameName = others?.['filename'] === fileName && others?.['format'] === inputs?.['format'];
    return other?.tool === task?.tool && isSameName;
  });
  return { item, number: before.length + 1 };
}

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

function refuse(name: string, problem: string): ToolError {
  return ToolError.nonRetryable(`a file cannot be called ${name}: ${problem}`);
}
