import { addNumber, foldName } from '../../../tools/files/file-name.js';
import type { PreparedRun } from '../../prepare/prepare-run.js';

/** The task or the item that writes a file, as far as the name of the file depends on it. */
export interface NameOwner {
  /** Undefined for a task that calls its tool once. */
  readonly item: number | undefined;
  /** From 1. The number of the first file of this name; without items, 1 adds no number. */
  readonly number: number;
}

/** The names of a run's files (D63). The number of a taken name follows from the task and the item, and not from who is first. */
export class ArtifactNames {
  /** The names in lower case: some file systems do not distinguish case. */
  readonly #taken = new Set<string>();
  /** The next number to try, by name: counting from the first one would take longer with every file. */
  readonly #next = new Map<string, number>();
  readonly #ordinals = new Map<object, ReadonlyMap<string, TaskName>>();

  /** Takes a name for a file, with the number that makes it unique. @param isNumbered adds the number also to the first */
  claim(name: string, { item, number }: NameOwner, isNumbered = number > 1): string {
    const first = isNumbered ? addNumber(name, number) : name;
    if (this.#take(first)) return first;
    const base = item === undefined ? name : addNumber(name, number);
    for (let next = this.#next.get(base) ?? (item === undefined ? number + 1 : 2); ; next++) {
      const numbered = addNumber(base, next);
      if (!this.#take(numbered)) continue;
      this.#next.set(base, next + 1);
      return numbered;
    }
  }

  /** How the tasks of a pipeline name files. */
  namesOf({ pipeline }: Pick<PreparedRun, 'pipeline'>): ReadonlyMap<string, TaskName> {
    let names = this.#ordinals.get(pipeline);
    if (names === undefined) {
      names = listTaskNames(pipeline);
      this.#ordinals.set(pipeline, names);
    }
    return names;
  }

  /** Takes exactly this name, which an earlier run has given. */
  takeExactly(name: string): void {
    this.#take(name);
  }

  /** Call when the file was not kept: another attempt gets the same name. */
  release(name: string): void {
    this.#taken.delete(foldName(name));
    this.#next.clear();
  }

  #take(name: string): boolean {
    const key = foldName(name);
    if (this.#taken.has(key)) return false;
    this.#taken.add(key);
    return true;
  }
}

/**
 * Finds the number of the files that a task or an item writes. Item N of a fan-out has number N + 1, unless its input
 * `filename` comes from the item. Without items it is 1, or more for one of several tasks of a wave that call the same
 * tool with the same `filename` and `format`: they count in declared order.
 *
 * @param within the tasks whose nested runs contain the task, outermost first: `task`, or `task[item]`
 */
export function findNameOwner(
  names: ReadonlyMap<string, TaskName>,
  taskId: string,
  item: number | undefined,
  within: readonly string[] = [],
): NameOwner {
  const { text, number } = names.get(taskId) ?? { text: '', number: 1 };
  if (item !== undefined) return { item, number: /\{\{\s*item\b/.test(text) ? 1 : item + 1 };
  const outerItem = Number(/\[(\d+)\]$/.exec(within[0] ?? '')?.[1]);
  if (Number.isInteger(outerItem) && !text.includes('{{')) return { item: outerItem, number: outerItem + 1 };
  return { item, number };
}

/** The part of a definition that decides how the files of a task are named. */
interface TaskName {
  /** The task's input `filename` as it is written; empty when there is none. */
  readonly text: string;
  /** From 1, among the tasks of its wave with the same tool, `filename` and `format`. */
  readonly number: number;
}

function listTaskNames({ definition, tasks, waves }: PreparedRun['pipeline']): Map<string, TaskName> {
  const inputs = new Map(definition.tasks.map((task) => [task.id, task.inputs ?? {}]));
  const names = new Map<string, TaskName>();
  for (const wave of waves) {
    const counts = new Map<string, number>();
    for (const taskId of wave) {
      const { filename, format } = inputs.get(taskId) ?? {};
      const key = JSON.stringify([tasks.get(taskId)?.tool.name, filename, format]);
      const number = (counts.get(key) ?? 0) + 1;
      counts.set(key, number);
      names.set(taskId, { text: typeof filename === 'string' ? filename : '', number });
    }
  }
  return names;
}
