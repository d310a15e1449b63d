import type { TaskRecord } from '../../../../lib/runs/tasks/task-record.js';

/** A task in a run and in the run that it repeats; undefined where it is not. */
export interface ComparedTask {
  readonly key: string;
  readonly before: TaskRecord | undefined;
  readonly after: TaskRecord | undefined;
  /** Names of what differs. */
  readonly differs: readonly string[];
}

/** Compares the tasks of two runs by name: those of the later run first, then those that it does not have. */
export function compareTasks(
  before: ReadonlyMap<string, TaskRecord>,
  after: ReadonlyMap<string, TaskRecord>,
): ComparedTask[] {
  return [...new Set([...after.keys(), ...before.keys()])].map((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    return { key, before: old, after: now, differs: listDifferences(old, now) };
  });
}

function listDifferences(before: TaskRecord | undefined, after: TaskRecord | undefined): string[] {
  if (before === undefined) return ['it is new'];
  if (after === undefined) return ['it is gone'];
  const differences: string[] = [];
  if (before.status !== after.status) differences.push('state');
  if (before.tool !== after.tool) differences.push('tool');
  if (!isSame(before.inputs, after.inputs)) differences.push('inputs');
  if (!isSame(before.output, after.output)) differences.push('output');
  if (before.error?.message !== after.error?.message) differences.push('error');
  return differences;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
